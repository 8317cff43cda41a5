package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// All returns the implementations that this CPU can run, fastest last.
func All() []*Set {
	all := []*Set{&generic}
	if cpu.X86.HasAVX2 {
		all = append(all, &Set{name: "avx2", scores: scoresWith(scoresAVX2), dot: dotWith(dotAVX2), columns: columnsWith(columnsAVX2)})
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI {
			all = append(all, &Set{name: "avx512vnni", scores: scoresVNNI, dot: dotWith(dotAVX512), columns: columnsWith(columnsAVX512)})
		}
	}
	return all
}

func scoresWith(f func(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)) func([]int8, []Block, []uint32, []float32) {
	return func(query []int8, blocks []Block, rows []uint32, out []float32) {
		f(unsafe.SliceData(query), len(query), unsafe.SliceData(blocks), unsafe.SliceData(rows), len(rows), unsafe.SliceData(out))
	}
}

func scoresVNNI(query []int8, blocks []Block, rows []uint32, out []float32) {
	f := scoresVNNIAny
	if len(query) == 384 {
		f = scoresVNNI384
	}
	f(unsafe.SliceData(query), len(query), unsafe.SliceData(blocks), unsafe.SliceData(rows), len(rows), unsafe.SliceData(out))
}

// dotWith uses plain Go for lengths that are not a multiple of the number of lanes.
func dotWith(f func(a, b *float32, n int) float32) func(a, b []float32) float32 {
	return func(a, b []float32) float32 {
		if len(a)%lanes != 0 {
			return dotGeneric(a, b)
		}
		return f(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
	}
}

func columnsWith(f func(codes *int8, stride int, pairs *Pair, n, rows int, out *int32)) func([]int8, int, []Pair, []int32) {
	return func(codes []int8, stride int, pairs []Pair, out []int32) {
		f(unsafe.SliceData(codes), stride, unsafe.SliceData(pairs), len(pairs), len(out), unsafe.SliceData(out))
	}
}

// All three sum the products of two codes as 32-bit integers. VNNI multiplies unsigned by signed
// bytes: adding 128 to each code of the row (flipping the top bit) makes it unsigned, and 128 times
// the sum of the query is subtracted.

//go:noescape
func scoresAVX2(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)

//go:noescape
func scoresVNNIAny(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)

// scoresVNNI384 is scoresVNNIAny for a stride of 384, with the query in registers.
//
//go:noescape
func scoresVNNI384(query *int8, stride int, blocks *Block, rows *uint32, n int, out *float32)

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func dotAVX512(a, b *float32, n int) float32

// Two columns are processed at a time, as adjacent 16-bit integers, so that one instruction
// multiplies and adds both.

//go:noescape
func columnsAVX2(codes *int8, stride int, pairs *Pair, n, rows int, out *int32)

//go:noescape
func columnsAVX512(codes *int8, stride int, pairs *Pair, n, rows int, out *int32)
