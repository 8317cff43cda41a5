package rows

import (
	"encoding/binary"
	"math"
	"testing"

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
	if len(chunk) != 1024*(stride+4) || len(chunk) != ChunkSize(dim) {
		t.Fatalf("a chunk has %d bytes, ChunkSize says %d", len(chunk), ChunkSize(dim))
	}
	float := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(chunk[at:])) }
	for row, v := range vectors {
		scale := float(1024*stride + 4*row)
		for i, x := range v {
			if got, want := int8(chunk[row*stride+i]), int8(math.RoundToEven(float64(x/scale))); got != want {
				t.Fatalf("row %d, code %d is %d, want %d", row, i, got, want)
			}
		}
	}
	if r.Chunk(1) != nil || r.Chunk(-1) != nil {
		t.Error("chunks that are not there")
	}
}
