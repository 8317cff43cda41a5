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

// In both of the columns functions:
//   SI codes, AX stride, R9 next pair, R10 pairs left, R8 rows, DX out,
//   R11 and R12 next codes of the pair's columns, DI next out, CX rows left.
// Sums are kept in out as codes are unpacked, and ordered in the end. Columns are too
// short for the CPU to foresee, so those of the next 1,024 rows are fetched ahead, where
// they are if codes have 384 elements; to fetch what is not there does no harm.

// COLUMNS begins the pair at R9.
#define COLUMNS \
	MOVL  0(R9), R11 \
	MOVL  4(R9), R12 \
	IMULQ AX, R11    \
	IMULQ AX, R12    \
	ADDQ  SI, R11    \
	ADDQ  SI, R12    \
	MOVQ  DX, DI     \
	MOVQ  R8, CX

// func columnsAVX2(codes *int8, stride int, pairs *Pair, n, rows int, out *int32)
TEXT ·columnsAVX2(SB), NOSPLIT, $0-48
	MOVQ codes+0(FP), SI
	MOVQ stride+8(FP), AX
	MOVQ pairs+16(FP), R9
	MOVQ n+24(FP), R10
	MOVQ rows+32(FP), R8
	MOVQ out+40(FP), DX

pair:
	COLUMNS
	VPBROADCASTD 8(R9), Y4

rows32:
	PREFETCHT1 393216(R11)
	PREFETCHT1 393216(R12)
	VPMOVSXBW  (R11), Y5
	VPMOVSXBW  (R12), Y6
	VPMOVSXBW  16(R11), Y7
	VPMOVSXBW  16(R12), Y8
	VPUNPCKLWD Y6, Y5, Y9
	VPUNPCKHWD Y6, Y5, Y10
	VPUNPCKLWD Y8, Y7, Y11
	VPUNPCKHWD Y8, Y7, Y12
	VPMADDWD   Y4, Y9, Y9
	VPMADDWD   Y4, Y10, Y10
	VPMADDWD   Y4, Y11, Y11
	VPMADDWD   Y4, Y12, Y12
	VPADDD     0(DI), Y9, Y9
	VPADDD     32(DI), Y10, Y10
	VPADDD     64(DI), Y11, Y11
	VPADDD     96(DI), Y12, Y12
	VMOVDQU    Y9, 0(DI)
	VMOVDQU    Y10, 32(DI)
	VMOVDQU    Y11, 64(DI)
	VMOVDQU    Y12, 96(DI)
	ADDQ       $32, R11
	ADDQ       $32, R12
	ADDQ       $128, DI
	SUBQ       $32, CX
	JNZ        rows32
	ADDQ       $12, R9
	DECQ       R10
	JNZ        pair

	MOVQ DX, DI

order:
	// The first has rows 0 to 3 and 8 to 11, the second those between and behind.
	VMOVDQU    0(DI), Y0
	VMOVDQU    32(DI), Y1
	VPERM2I128 $0x20, Y1, Y0, Y2
	VPERM2I128 $0x31, Y1, Y0, Y3
	VMOVDQU    Y2, 0(DI)
	VMOVDQU    Y3, 32(DI)
	ADDQ       $64, DI
	SUBQ       $16, R8
	JNZ        order
	VZEROUPPER
	RET

// LANES stores 32 rows: those of lo are in fours, with those of hi between.
#define LANES(lo, hi, at) \
	VEXTRACTI32X4 $0, lo, at+0(DI)   \
	VEXTRACTI32X4 $0, hi, at+16(DI)  \
	VEXTRACTI32X4 $1, lo, at+32(DI)  \
	VEXTRACTI32X4 $1, hi, at+48(DI)  \
	VEXTRACTI32X4 $2, lo, at+64(DI)  \
	VEXTRACTI32X4 $2, hi, at+80(DI)  \
	VEXTRACTI32X4 $3, lo, at+96(DI)  \
	VEXTRACTI32X4 $3, hi, at+112(DI)

// func columnsAVX512(codes *int8, stride int, pairs *Pair, n, rows int, out *int32)
TEXT ·columnsAVX512(SB), NOSPLIT, $0-48
	MOVQ codes+0(FP), SI
	MOVQ stride+8(FP), AX
	MOVQ pairs+16(FP), R9
	MOVQ n+24(FP), R10
	MOVQ rows+32(FP), R8
	MOVQ out+40(FP), DX

pair:
	COLUMNS
	VPBROADCASTD 8(R9), Z4

rows64:
	PREFETCHT1 393216(R11)
	PREFETCHT1 393216(R12)
	VPMOVSXBW  (R11), Z5
	VPMOVSXBW  (R12), Z6
	VPMOVSXBW  32(R11), Z7
	VPMOVSXBW  32(R12), Z8
	VPUNPCKLWD Z6, Z5, Z9
	VPUNPCKHWD Z6, Z5, Z10
	VPUNPCKLWD Z8, Z7, Z11
	VPUNPCKHWD Z8, Z7, Z12
	VPMADDWD   Z4, Z9, Z9
	VPMADDWD   Z4, Z10, Z10
	VPMADDWD   Z4, Z11, Z11
	VPMADDWD   Z4, Z12, Z12
	VPADDD     0(DI), Z9, Z9
	VPADDD     64(DI), Z10, Z10
	VPADDD     128(DI), Z11, Z11
	VPADDD     192(DI), Z12, Z12
	VMOVDQU64  Z9, 0(DI)
	VMOVDQU64  Z10, 64(DI)
	VMOVDQU64  Z11, 128(DI)
	VMOVDQU64  Z12, 192(DI)
	ADDQ       $64, R11
	ADDQ       $64, R12
	ADDQ       $256, DI
	SUBQ       $64, CX
	JNZ        rows64
	ADDQ       $12, R9
	DECQ       R10
	JNZ        pair

	MOVQ DX, DI

order:
	VMOVDQU64 0(DI), Z0
	VMOVDQU64 64(DI), Z1
	LANES(Z0, Z1, 0)
	ADDQ $128, DI
	SUBQ $32, R8
	JNZ  order
	VZEROUPPER
	RET
