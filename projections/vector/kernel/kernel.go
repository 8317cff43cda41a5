// Package kernel implements the inner loops of vector search: dot products of 8-bit codes, by row
// for the walk over the graph and by column for scans, and dot products of float32 rows, for the
// scores of results. Each is written for several instruction sets.
//
// A caller may rely on this: every Set returns the same bits for the same input, on every CPU.
// Products of codes are summed as 32-bit integers, which is exact, and multiplied once by a
// float32. Float32 rows are summed in the order that Dot documents, each product rounded before it
// is added, without fused multiply-add.
package kernel

import "unsafe"

// BlockRows is how many rows a Block has. Row r is row r%BlockRows of block r/BlockRows.
const BlockRows = 1 << blockShift

const blockShift = 10

// Align is the alignment of the length of a code: the codes of a vector are padded with zeros. See
// Stride.
const Align = 64

// MaxDim is the largest dimension: above it the sum of products of two codes could exceed 31 bits.
const MaxDim = 1 << 16

// Stride returns the length in bytes of the codes of a vector of dim elements.
func Stride(dim int) int { return (dim + Align - 1) / Align * Align }

// Block refers to the codes of BlockRows consecutive rows: Codes points at BlockRows × Stride(dim)
// bytes, Scales at BlockRows float32.
type Block struct {
	Codes  *int8
	Scales *float32
}

// Set is one implementation of the kernels. Its methods may be called from any goroutine.
type Set struct {
	name    string
	scores  func(query []int8, blocks []Block, rows []uint32, out []float32)
	dot     func(a, b []float32) float32
	columns func(codes []int8, stride int, query []Pair, out []int32)
}

// Name returns the instruction set: "generic", "avx2" or "avx512vnni".
func (s *Set) Name() string { return s.name }

// Scores sets out[i] to float32(query · codes of row rows[i]) × the scale of that row. The length
// of the query is the stride of the rows, a multiple of Align and at most MaxDim; every row must
// have its block; out is as long as rows. Only what would write out of bounds is checked: the
// caller must ensure the rest.
func (s *Set) Scores(query []int8, blocks []Block, rows []uint32, out []float32) {
	if len(rows) == 0 {
		return
	}
	_ = out[len(rows)-1]
	s.scores(query, blocks, rows, out)
}

// Dot returns the dot product of two float32 vectors of one length. Element i is added to lane
// i%32, in the order of i; then the upper half of the lanes is added to the lower half, 16, 8, 4,
// 2, 1. Every product and every sum is rounded to float32. It panics if the lengths differ.
func (s *Set) Dot(a, b []float32) float32 {
	if len(a) != len(b) {
		panic("kernel: vectors of different lengths")
	}
	return s.dot(a, b)
}

// Generic returns the implementation in plain Go, which runs everywhere.
func Generic() *Set { return &generic }

// Best returns the fastest implementation that this CPU can run.
func Best() *Set {
	all := All()
	return all[len(all)-1]
}

var generic = Set{name: "generic", scores: scoresGeneric, dot: dotGeneric, columns: columnsGeneric}

func scoresGeneric(query []int8, blocks []Block, rows []uint32, out []float32) {
	for i, row := range rows {
		block, at := &blocks[row>>blockShift], int(row%BlockRows)
		code := unsafe.Slice((*int8)(unsafe.Add(unsafe.Pointer(block.Codes), at*len(query))), len(query))
		var a, b, c, d int32
		for j := 0; j+4 <= len(code); j += 4 {
			x, y := code[j:j+4:j+4], query[j:j+4:j+4]
			a += int32(x[0]) * int32(y[0])
			b += int32(x[1]) * int32(y[1])
			c += int32(x[2]) * int32(y[2])
			d += int32(x[3]) * int32(y[3])
		}
		out[i] = float32(a+b+c+d) * *scaleAt(*block, at)
	}
}

func scaleAt(b Block, at int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(b.Scales), at*4))
}

const lanes = 32

func dotGeneric(a, b []float32) float32 {
	var sum [lanes]float32
	for len(a) >= lanes {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		for j := range sum {
			sum[j] += float32(x[j] * y[j])
		}
		a, b = a[lanes:], b[lanes:]
	}
	for j := range a {
		sum[j] += float32(a[j] * b[j])
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for j := range half {
			sum[j] += sum[j+half]
		}
	}
	return sum[0]
}
