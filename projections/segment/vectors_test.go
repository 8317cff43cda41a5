package segment

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// TestPackedEmbeddings checks that packed embeddings are restored bit for bit, one by one and as
// the bytes of a file, over many chunks.
func TestPackedEmbeddings(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	every := func(n int, x float32) []float32 {
		e := make([]float32, schemas.EmbeddingDim)
		for i := 0; i < len(e); i += n {
			e[i] = x
		}
		return e
	}
	all := [][]float32{
		make([]float32, schemas.EmbeddingDim),
		every(1, 0.05),
		every(7, negativeZero),
		every(383, math.SmallestNonzeroFloat32),
		every(31, float32(math.NaN())),
		every(32, -1),
	}
	for i := range 500 {
		e := every(1+i%5, float32(i))
		e[i%len(e)] = 1
		all = append(all, e)
	}
	var v vectors
	for _, e := range all {
		v.append(sealed.Pack(nil, e))
	}
	if len(v.chunks) < 2 {
		t.Fatalf("%d chunks", len(v.chunks))
	}
	room := dense(every(1, 9))
	for i, e := range all {
		if !bytes.Equal(sealed.BytesOf(v.at(i, &room)), sealed.BytesOf(e)) {
			t.Errorf("%d: got %v, want %v", i, room, e)
		}
	}
	var got []byte
	for piece := range v.bytes() {
		got = append(got, piece...)
	}
	if !bytes.Equal(got, sealed.BytesOf(slices.Concat(all...))) {
		t.Error("the bytes of a file are others")
	}

	// A checkpoint of the first has the same content, and so has one of a restored buffer that grew.
	first := vectors{}
	for _, e := range all[:90] {
		first.append(sealed.Pack(nil, e))
	}
	restored := reopened(t, &first)
	if len(restored.chunks[0]) == vectorChunk {
		t.Fatal("the first chunk is full: nothing is tested")
	}
	for _, e := range all[90:] {
		restored.append(sealed.Pack(nil, e))
	}
	restored = reopened(t, &restored)
	for i, e := range all {
		if !bytes.Equal(sealed.BytesOf(restored.at(i, &room)), sealed.BytesOf(e)) {
			t.Errorf("%d: got %v, want %v", i, room, e)
		}
	}
	if restored.where[3] = uint32(vectorChunk - 1); restored.checkPacked() == nil {
		t.Error("an embedding beyond its chunk is accepted")
	}
}

// reopened returns embeddings as a checkpoint of them has them.
func reopened(t *testing.T, v *vectors) vectors {
	t.Helper()
	b := sealed.Bytes(0)
	for piece := range v.packedBytes() {
		b = append(b, piece...)
	}
	again := vectors{where: slices.Clip(slices.Clone(v.where))}
	if !again.setPacked(slices.Clip(b)) || again.n != v.n {
		t.Fatalf("%d embeddings, want %d", again.n, v.n)
	}
	if err := again.checkPacked(); err != nil {
		t.Fatal(err)
	}
	return again
}
