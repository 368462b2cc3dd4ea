#include "textflag.h"

// func units8(n int, x *float32, bytes *uint8)
TEXT ·units8(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), CX
	MOVQ x+8(FP), DI
	MOVQ bytes+16(FP), SI
	MOVL $0x437f0000, AX // 255
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	XORQ BX, BX

loop:
	VPMOVZXBD (SI)(BX*1), Y1
	VCVTDQ2PS Y1, Y1
	VDIVPS Y0, Y1, Y1
	VMOVUPS Y1, (DI)(BX*4)
	ADDQ $8, BX
	CMPQ BX, CX
	JLT  loop

	VZEROUPPER
	RET
