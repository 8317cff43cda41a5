package rows

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
)

func TestEncodeRoundsToTheNearest(t *testing.T) {
	vectors := indextest.Vectors(indextest.Uniform, 50, 100, 1, 0)
	vectors = append(vectors, []float32{127, -127, 2.5, 3.5, -2.5, -3.5, 0.5, -0.5, 0}) // scale 1: ties
	vectors = append(vectors, []float32{math.SmallestNonzeroFloat32 * 1000, 1}, []float32{-1})
	for _, v := range vectors {
		code := make([]int8, 128)
		for i := range code {
			code[i] = 99
		}
		scale := Encode(code, v)
		for i, x := range v {
			if want := int8(math.RoundToEven(float64(x / scale))); code[i] != want {
				t.Errorf("%v / %v is %d, want %d", x, scale, code[i], want)
			}
			if math.Abs(float64(x-float32(code[i])*scale)) > float64(scale)*0.5001 {
				t.Errorf("%v came back as %v", x, float32(code[i])*scale)
			}
		}
		for _, c := range code[len(v):] {
			if c != 0 {
				t.Fatal("the code is not filled with zeros")
			}
		}
	}
}

// TestChunkLayout reads a chunk as the package comment describes it.
func TestChunkLayout(t *testing.T) {
	const dim, stride = 70, 128
	r := New(dim)
	vectors := indextest.Vectors(indextest.Uniform, 3, dim, 1, 0)
	for _, v := range vectors {
		r.Write(v)
		r.Publish()
	}
	chunk := r.Chunk(0)
	if len(chunk) != 1024*(stride+4*dim+4) || len(chunk) != ChunkSize(dim) {
		t.Fatalf("a chunk has %d bytes, ChunkSize says %d", len(chunk), ChunkSize(dim))
	}
	float := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(chunk[at:])) }
	for row, v := range vectors {
		scale := float(1024*(stride+4*dim) + 4*row)
		for i, x := range v {
			if got := float(1024*stride + 4*(row*dim+i)); got != x {
				t.Fatalf("row %d, element %d is %v, want %v", row, i, got, x)
			}
			if got, want := int8(chunk[row*stride+i]), int8(math.RoundToEven(float64(x/scale))); got != want {
				t.Fatalf("row %d, code %d is %d, want %d", row, i, got, want)
			}
		}
	}
	if r.Chunk(1) != nil || r.Chunk(-1) != nil {
		t.Error("chunks that are not there")
	}
}

func TestDeletedRowsComeBack(t *testing.T) {
	r := New(8)
	for _, v := range indextest.Vectors(indextest.Uniform, 1100, 8, 1, 0) {
		r.Write(v)
		r.Publish()
	}
	for _, row := range []uint32{1025, 0, 31, 32, 1099} {
		if err := r.Delete(row); err != nil {
			t.Fatal(err)
		}
	}
	b := r.AppendDeleted(nil)
	for cut := range len(b) {
		if _, err := New(8).LoadDeleted(b[:cut]); !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", cut, len(b), err)
		}
	}
	again, err := Load(8, 1100, [][]byte{r.Chunk(0), r.Chunk(1)})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := again.LoadDeleted(append(b, 7))
	if err != nil || len(rest) != 1 {
		t.Fatalf("%d bytes behind, %v", len(rest), err)
	}
	for row := range uint32(1100) {
		if again.Deleted(row) != r.Deleted(row) {
			t.Errorf("row %d deleted: %v, want %v", row, again.Deleted(row), r.Deleted(row))
		}
	}
	if _, err := again.LoadDeleted([]byte{2, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0}); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("a row deleted twice: %v", err)
	}
}
