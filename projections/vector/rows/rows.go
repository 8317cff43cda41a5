// Package rows keeps the codes of an index's rows. They are numbered from 0 in the order in which
// they were added, in chunks of kernel.BlockRows rows that never move, and never change once they
// are full. The vectors themselves are kept elsewhere.
//
// A chunk is one piece of memory, little-endian, that can be written to a file as it is and mapped
// to read it. For vectors of dim elements, with stride = kernel.Stride(dim) and 1024 rows:
//
//	offset         bytes
//	0              1024 × stride  codes: int8, zeros after dim
//	1024 × stride  1024 × 4       scales: float32
//
// Rows that do not exist yet are zero. Code j of a row is element j divided by the row's scale, to
// the nearest integer, ties to even, within -127..127; the scale is the largest absolute value of
// the row divided by 127. So code × scale is the element, with an error of at most half a scale.
// Both offsets are multiples of 64.
//
// There may be one writer and any number of readers. Write writes a row; Publish then publishes the
// new Len with an atomic store. A reader that loads Len, or learns of a row through another atomic
// word that was stored after the row was written, sees all of that row. The table of chunks is
// copied when it changes and published in the same way, before the Len that needs it.
package rows

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// PerChunk is the number of rows of a chunk.
const PerChunk = kernel.BlockRows

// Rows holds the codes of one index.
type Rows struct {
	dim   int
	n     atomic.Uint32
	table atomic.Pointer[Table] // never nil
}

// Table holds the rows at one moment: those below a Len that was loaded before it.
type Table struct {
	// Blocks are the codes, for kernel.Scores.
	Blocks []kernel.Block
	chunks [][]byte
	dim    int
}

// New returns empty Rows for vectors of dim elements.
func New(dim int) *Rows {
	r := &Rows{dim: dim}
	r.table.Store(&Table{dim: dim})
	return r
}

// ChunkSize returns the length in bytes of a chunk for vectors of dim elements.
func ChunkSize(dim int) int { return PerChunk * (kernel.Stride(dim) + 4) }

// Load returns Rows with n rows from their chunks. Full chunks are used in place; a last one that
// is not full is copied, since rows will be added to it.
func Load(dim, n int, chunks [][]byte) (*Rows, error) {
	r := New(dim)
	if n < 0 || n > index.MaxRows || len(chunks) != (n+PerChunk-1)/PerChunk {
		return nil, fmt.Errorf("%w: %d chunks for %d rows", index.ErrCorrupt, len(chunks), n)
	}
	for i, chunk := range chunks {
		if err := r.checkChunk(chunk); err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
		if n-i*PerChunk < PerChunk {
			own := newChunk(ChunkSize(r.dim))
			copy(own, chunk)
			chunk = own
		}
		r.table.Store(r.table.Load().with(i, chunk))
	}
	r.n.Store(uint32(n))
	return r, nil
}

func (r *Rows) checkChunk(chunk []byte) error {
	if !littleEndian {
		return fmt.Errorf("%w: chunks cannot be mapped on a big-endian machine", index.ErrCorrupt)
	}
	if want := ChunkSize(r.dim); len(chunk) != want {
		return fmt.Errorf("%w: %d bytes, want %d", index.ErrCorrupt, len(chunk), want)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(chunk)))%4 != 0 {
		return fmt.Errorf("%w: its memory is not aligned to 4 bytes", index.ErrCorrupt)
	}
	return nil
}

// Len returns the number of rows.
func (r *Rows) Len() int { return int(r.n.Load()) }

// Table returns the current table of rows.
func (r *Rows) Table() *Table { return r.table.Load() }

// Write stores the code of a vector, which must have passed index.Check, as row Len. No reader sees it before
// Publish.
func (r *Rows) Write(vec []float32) {
	row := r.n.Load()
	t := r.table.Load()
	if int(row/PerChunk) == len(t.chunks) {
		t = t.with(len(t.chunks), newChunk(ChunkSize(r.dim)))
		r.table.Store(t)
	}
	*t.scale(row) = Encode(t.Code(row), vec)
}

// Publish makes the row written last visible.
func (r *Rows) Publish() { r.n.Add(1) }

// Map replaces the memory of full chunk i.
func (r *Rows) Map(i int, chunk []byte) error {
	if i < 0 || i >= r.Len()/PerChunk {
		return fmt.Errorf("map chunk %d: there are %d full ones", i, r.Len()/PerChunk)
	}
	if err := r.checkChunk(chunk); err != nil {
		return fmt.Errorf("map chunk %d: %w", i, err)
	}
	r.table.Store(r.table.Load().with(i, chunk))
	return nil
}

// Chunk returns the memory of chunk i, nil if there is none.
func (r *Rows) Chunk(i int) []byte {
	if i < 0 || i*PerChunk >= r.Len() {
		return nil
	}
	return r.table.Load().chunks[i]
}

// with returns the table with chunk i replaced, or added at the end.
func (t *Table) with(i int, chunk []byte) *Table {
	n := &Table{
		dim:    t.dim,
		chunks: append([][]byte(nil), t.chunks...),
		Blocks: append([]kernel.Block(nil), t.Blocks...),
	}
	if i == len(n.chunks) {
		n.chunks, n.Blocks = append(n.chunks, nil), append(n.Blocks, kernel.Block{})
	}
	n.chunks[i] = chunk
	n.Blocks[i] = kernel.Block{
		Codes:  (*int8)(unsafe.Pointer(&chunk[0])),
		Scales: (*float32)(unsafe.Pointer(&chunk[len(chunk)-4*PerChunk])),
	}
	return n
}

// Code returns the code of a row, of length kernel.Stride(dim).
func (t *Table) Code(row uint32) []int8 {
	stride := kernel.Stride(t.dim)
	return unsafe.Slice((*int8)(unsafe.Pointer(&t.chunks[row/PerChunk][int(row%PerChunk)*stride])), stride)
}

// Scale returns the scale of a row's code.
func (t *Table) Scale(row uint32) float32 { return *t.scale(row) }

func (t *Table) scale(row uint32) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(t.Blocks[row/PerChunk].Scales), int(row%PerChunk)*4))
}

// Encode writes the code of a vector and returns its scale. A code longer than the vector is filled
// with zeros.
func Encode(code []int8, vec []float32) float32 {
	var top float32
	for _, x := range vec {
		top = max(top, x, -x)
	}
	scale := top / 127
	code, pad := code[:len(vec)], code[len(vec):]
	for i, x := range vec {
		// Adding 1.5 × 2^23 leaves no bits for a fraction, so the sum is rounded to an integer,
		// ties to even, in its lowest bits.
		code[i] = int8(math.Float32bits(float32(x/scale) + 3<<22))
	}
	clear(pad)
	return scale
}

// newChunk returns a chunk of zeros, aligned to 64 bytes.
func newChunk(size int) []byte {
	b := make([]byte, size+63)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & 63
	return b[skip : skip+size : skip+size]
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
