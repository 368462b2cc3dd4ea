#include "textflag.h"

// func dots2(n int, x0, x1, y0, y1 *float32, sums *[4]lanes)
//
// Products are in Y8 to Y11 and sums in Y0 to Y3. A conversion takes as long as two products, and each serves two.
TEXT ·dots2(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ x0+8(FP), SI
	MOVQ x1+16(FP), DI
	MOVQ y0+24(FP), R8
	MOVQ y1+32(FP), R9
	MOVQ sums+40(FP), DX
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD 64(DX), Y2
	VMOVUPD 96(DX), Y3
	XORQ AX, AX

loop:
	VCVTPS2PD (SI)(AX*4), Y4
	VCVTPS2PD (DI)(AX*4), Y5
	VCVTPS2PD (R8)(AX*4), Y6
	VCVTPS2PD (R9)(AX*4), Y7
	VMULPD Y4, Y6, Y8
	VMULPD Y4, Y7, Y9
	VMULPD Y5, Y6, Y10
	VMULPD Y5, Y7, Y11
	VADDPD Y8, Y0, Y0
	VADDPD Y9, Y1, Y1
	VADDPD Y10, Y2, Y2
	VADDPD Y11, Y3, Y3
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  loop

	VMOVUPD Y0, (DX)
	VMOVUPD Y1, 32(DX)
	VMOVUPD Y2, 64(DX)
	VMOVUPD Y3, 96(DX)
	VZEROUPPER
	RET
