#include "textflag.h"

// In all of the scores functions:
//   SI query, AX stride, BX blocks, DI next row number, CX rows left, DX next out,
//   R10 codes of the row, R11 scales of its block, R8 its number in the block.

// ROW loads the number at DI and finds the row.
#define ROW(number, codes, scales, temp) \
	MOVL (number), R8   \
	MOVL R8, temp       \
	SHRL $10, temp      \
	SHLQ $4, temp       \
	ANDL $1023, R8      \
	MOVQ 8(BX)(temp*1), scales \
	MOVQ (BX)(temp*1), codes   \
	MOVQ R8, temp       \
	IMULQ AX, temp      \
	ADDQ temp, codes

// SUM4 adds the four 32-bit integers of x into its first.
#define SUM4(x, temp) \
	VPSHUFD $0x4E, x, temp \
	VPADDD  temp, x, x     \
	VPSHUFD $0xB1, x, temp \
	VPADDD  temp, x, x

// STORE writes the sum in the first integer of x, times the row's scale.
#define STORE(x) \
	VCVTDQ2PS x, x            \
	VMULSS (R11)(R8*4), x, x  \
	VMOVSS x, (DX)            \
	ADDQ $4, DI               \
	ADDQ $4, DX

// func scoresVNNI384(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)
TEXT ·scoresVNNI384(SB), NOSPLIT, $0-48
	MOVQ query+0(FP), SI
	MOVQ stride+8(FP), AX
	MOVQ blocks+16(FP), BX
	MOVQ rows+24(FP), DI
	MOVQ n+32(FP), CX
	MOVQ out+40(FP), DX

	VMOVDQU64 0(SI), Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VMOVDQU64 256(SI), Z4
	VMOVDQU64 320(SI), Z5

	MOVL         $0x80808080, R8
	VPBROADCASTD R8, Z6
	VPXORD       Z7, Z7, Z7
	VPXORD       Z8, Z8, Z8
	VPDPBUSD     Z0, Z6, Z7
	VPDPBUSD     Z1, Z6, Z8
	VPDPBUSD     Z2, Z6, Z7
	VPDPBUSD     Z3, Z6, Z8
	VPDPBUSD     Z4, Z6, Z7
	VPDPBUSD     Z5, Z6, Z8
	VPADDD       Z8, Z7, Z7
	VPXORD       Z8, Z8, Z8
	VPSUBD       Z7, Z8, Z7 // Z7 = -128 × sum of the query, by lane

	// Prefetch runs 8 rows ahead; R14 is how many rows it has left.
	MOVQ DI, R13
	MOVQ CX, R14
	MOVQ $8, R15
	CMPQ R14, R15
	CMOVQLT R14, R15
	SUBQ R15, R14

ahead:
	ROW(R13, R10, R11, R9)
	PREFETCHT0 (R10)
	PREFETCHT0 64(R10)
	PREFETCHT0 128(R10)
	PREFETCHT0 192(R10)
	PREFETCHT0 256(R10)
	PREFETCHT0 320(R10)
	ADDQ $4, R13
	DECQ R15
	JNZ  ahead

row:
	TESTQ R14, R14
	JZ   fetched
	ROW(R13, R10, R11, R9)
	PREFETCHT0 (R10)
	PREFETCHT0 64(R10)
	PREFETCHT0 128(R10)
	PREFETCHT0 192(R10)
	PREFETCHT0 256(R10)
	PREFETCHT0 320(R10)
	ADDQ $4, R13
	DECQ R14

fetched:
	ROW(DI, R10, R11, R9)
	VPXORD    0(R10), Z6, Z10
	VPXORD    64(R10), Z6, Z11
	VPXORD    128(R10), Z6, Z12
	VPXORD    192(R10), Z6, Z13
	VPXORD    256(R10), Z6, Z14
	VPXORD    320(R10), Z6, Z15
	VMOVDQA64 Z7, Z8
	VPXORD    Z9, Z9, Z9
	VPDPBUSD  Z0, Z10, Z8
	VPDPBUSD  Z1, Z11, Z9
	VPDPBUSD  Z2, Z12, Z8
	VPDPBUSD  Z3, Z13, Z9
	VPDPBUSD  Z4, Z14, Z8
	VPDPBUSD  Z5, Z15, Z9
	VPADDD    Z9, Z8, Z8

	VEXTRACTI64X4 $1, Z8, Y9
	VPADDD        Y9, Y8, Y8
	VEXTRACTI128  $1, Y8, X9
	VPADDD        X9, X8, X8
	SUM4(X8, X9)
	STORE(X8)
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func scoresVNNIAny(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)
TEXT ·scoresVNNIAny(SB), NOSPLIT, $0-48
	MOVQ query+0(FP), SI
	MOVQ stride+8(FP), AX
	MOVQ blocks+16(FP), BX
	MOVQ rows+24(FP), DI
	MOVQ n+32(FP), CX
	MOVQ out+40(FP), DX

	MOVL         $0x80808080, R8
	VPBROADCASTD R8, Z6
	VPXORD       Z7, Z7, Z7
	XORQ         R12, R12

query:
	VMOVDQU64 (SI)(R12*1), Z0
	VPDPBUSD  Z0, Z6, Z7
	ADDQ      $64, R12
	CMPQ      R12, AX
	JLT       query
	VPXORD    Z8, Z8, Z8
	VPSUBD    Z7, Z8, Z7

row:
	ROW(DI, R10, R11, R9)
	VMOVDQA64 Z7, Z8
	XORQ      R12, R12

part:
	VPXORD    (R10)(R12*1), Z6, Z10
	VPDPBUSD  (SI)(R12*1), Z10, Z8
	ADDQ      $64, R12
	CMPQ      R12, AX
	JLT       part

	VEXTRACTI64X4 $1, Z8, Y9
	VPADDD        Y9, Y8, Y8
	VEXTRACTI128  $1, Y8, X9
	VPADDD        X9, X8, X8
	SUM4(X8, X9)
	STORE(X8)
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func scoresAVX2(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)
TEXT ·scoresAVX2(SB), NOSPLIT, $0-48
	MOVQ query+0(FP), SI
	MOVQ stride+8(FP), AX
	MOVQ blocks+16(FP), BX
	MOVQ rows+24(FP), DI
	MOVQ n+32(FP), CX
	MOVQ out+40(FP), DX

row:
	ROW(DI, R10, R11, R9)
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	XORQ  R12, R12

part:
	VPMOVSXBW (R10)(R12*1), Y0
	VPMOVSXBW 16(R10)(R12*1), Y1
	VPMOVSXBW 32(R10)(R12*1), Y2
	VPMOVSXBW 48(R10)(R12*1), Y3
	VPMOVSXBW (SI)(R12*1), Y4
	VPMOVSXBW 16(SI)(R12*1), Y5
	VPMOVSXBW 32(SI)(R12*1), Y6
	VPMOVSXBW 48(SI)(R12*1), Y7
	VPMADDWD  Y4, Y0, Y0
	VPMADDWD  Y5, Y1, Y1
	VPMADDWD  Y6, Y2, Y2
	VPMADDWD  Y7, Y3, Y3
	VPADDD    Y0, Y8, Y8
	VPADDD    Y1, Y9, Y9
	VPADDD    Y2, Y8, Y8
	VPADDD    Y3, Y9, Y9
	ADDQ      $64, R12
	CMPQ      R12, AX
	JLT       part

	VPADDD       Y9, Y8, Y8
	VEXTRACTI128 $1, Y8, X9
	VPADDD       X9, X8, X8
	SUM4(X8, X9)
	STORE(X8)
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// HALVES adds the eight floats of y, upper half onto lower half.
#define HALVES(y, x, temp) \
	VEXTRACTF128 $1, y, temp   \
	VADDPS    temp, x, x       \
	VPSHUFD   $0x4E, x, temp   \
	VADDPS    temp, x, x       \
	VPSHUFD   $0xB1, x, temp   \
	VADDSS    temp, x, x

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	TESTQ  CX, CX
	JZ     done

part:
	VMOVUPS 0(SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VMULPS  0(DI), Y4, Y4
	VMULPS  32(DI), Y5, Y5
	VMULPS  64(DI), Y6, Y6
	VMULPS  96(DI), Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     part

done:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y1, Y0, Y0
	HALVES(Y0, X0, X1)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotAVX512(a, b *float32, n int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	TESTQ  CX, CX
	JZ     done

part:
	VMOVUPS 0(SI), Z4
	VMOVUPS 64(SI), Z5
	VMULPS  0(DI), Z4, Z4
	VMULPS  64(DI), Z5, Z5
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     part

done:
	VADDPS        Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS        Y1, Y0, Y0
	HALVES(Y0, X0, X1)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET
