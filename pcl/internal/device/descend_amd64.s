#include "textflag.h"

// FLUSH makes the processor take numbers below 2⁻¹²⁶ for 0, as XLA does; RESTORE ends that.
#define FLUSH \
	STMXCSR saved-4(SP) \
	MOVL    saved-4(SP), AX \
	ORL     $0x8040, AX \
	MOVL    AX, flush-8(SP) \
	LDMXCSR flush-8(SP)
#define RESTORE \
	VZEROUPPER \
	LDMXCSR saved-4(SP)

// func combine8(n, k int, out, squares *float32, rows **float32, w *float32)
TEXT ·combine8(SB), NOSPLIT, $8-48
	FLUSH
	MOVQ n+0(FP), CX
	MOVQ k+8(FP), BX
	MOVQ out+16(FP), DI
	MOVQ squares+24(FP), R10
	MOVQ rows+32(FP), SI
	MOVQ w+40(FP), DX
	MOVL $0x80000000, AX
	MOVL AX, flush-8(SP)
	VBROADCASTSS flush-8(SP), Y15 // −0, to which anything can be added without a change
	XORQ AX, AX

next:
	VMOVAPS Y15, Y0
	XORQ R8, R8

row:
	MOVQ (SI)(R8*8), R9
	VBROADCASTSS (DX)(R8*4), Y1
	VFMADD231PS (R9)(AX*4), Y1, Y0
	INCQ R8
	CMPQ R8, BX
	JLT  row
	VMOVUPS Y0, (DI)(AX*4)
	VMULPS Y0, Y0, Y1
	VMOVUPS Y1, (R10)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  next
	RESTORE
	RET

// func adam8(n int, d, theta, m, v *float32, by *adamScalars)
TEXT ·adam8(SB), NOSPLIT, $8-48
	FLUSH
	MOVQ n+0(FP), CX
	MOVQ d+8(FP), DI
	MOVQ theta+16(FP), SI
	MOVQ m+24(FP), R8
	MOVQ v+32(FP), R9
	MOVQ by+40(FP), DX
	VBROADCASTSS 0(DX), Y7   // γ
	VBROADCASTSS 4(DX), Y8   // 1/(1−β₁ᵗ)
	VBROADCASTSS 8(DX), Y9   // 1/(1−β₂ᵗ)
	VBROADCASTSS 12(DX), Y10 // β₁
	VBROADCASTSS 16(DX), Y11 // 1−β₁
	VBROADCASTSS 20(DX), Y12 // β₂
	VBROADCASTSS 24(DX), Y13 // 1−β₂
	VBROADCASTSS 28(DX), Y14 // ε
	VBROADCASTSS 32(DX), Y15 // γλ
	MOVL 32(DX), BX
	XORQ AX, AX

again:
	VMOVUPS (DI)(AX*4), Y0
	VMOVUPS (SI)(AX*4), Y1
	VMULPS Y0, Y11, Y2
	VFMADD231PS (R8)(AX*4), Y10, Y2 // m
	VMULPS Y0, Y0, Y0
	VMULPS Y0, Y13, Y3
	VFMADD231PS (R9)(AX*4), Y12, Y3 // v
	VMOVUPS Y2, (R8)(AX*4)
	VMOVUPS Y3, (R9)(AX*4)
	VMULPS Y3, Y9, Y3
	VSQRTPS Y3, Y3
	VADDPS Y14, Y3, Y3
	VMULPS Y2, Y8, Y2
	VDIVPS Y3, Y2, Y2
	VMOVAPS Y1, Y4
	VFNMADD231PS Y2, Y7, Y1
	TESTL BX, BX
	JZ   done
	VFNMADD231PS Y4, Y15, Y1

done:
	VMOVUPS Y1, (SI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  again
	RESTORE
	RET
