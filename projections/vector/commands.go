package vector

import (
	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// commands is the source whose events have intents. An intent is one passage. A row is a content
// (Intent.content_hash) with its vector: a content that was embedded with two stated intents has two
// rows, so that it can be found by each of them.
var commands = &source{
	linked: true,
	passages: func(all []passage, at schemas.Position, r *recountv1.Record) ([]passage, error) {
		in := r.GetIntent()
		if in == nil || len(in.Embedding) == 0 {
			return all, nil
		}
		if err := check(in.Embedding); err != nil {
			return nil, projections.Poison(at, "%w", err)
		}
		return append(all, passage{
			offset: at.Offset, embedder: in.Embedder, content: in.ContentHash, vec: in.Embedding,
			key: keyOf(in.Embedding, in.ContentHash),
		}), nil
	},
}

// keyOf returns the key of a row of commands.
func keyOf(vec []float32, content uint64) uint64 { return xxh3.HashSeed(sealed.BytesOf(vec), content) }

const (
	// SimilarK is how many similar earlier rows are stored with a row.
	SimilarK = 4
	// nearby is how many neighbours of a new row are requested, since some may be of its own
	// content.
	nearby = 2 * SimilarK
)

// linkRow links the next row of a space and returns the most similar earlier ones of other contents.
// An error comes from the index; nothing has changed then.
func (s *shard) linkRow(sp *space, p *passage) (like [SimilarK]index.Neighbour, err error) {
	before := sp.hold(p.vec) // searches of the index read it as soon as it is linked
	near, err := sp.index.AddNear(p.vec, nearby)
	if err != nil {
		sp.places.Store(before)
		return like, err
	}
	n := 0
	for _, x := range near {
		if n < SimilarK && s.contentOf(sp, x.Row) != p.content {
			like[n] = x
			n++
		}
	}
	for ; n < SimilarK; n++ {
		like[n].Row = none
	}
	return like, nil
}

// contentOf returns the content of row i of a space.
func (s *shard) contentOf(sp *space, i uint32) uint64 {
	if i >= sp.n {
		return s.tail.content[sp.tail[i-sp.n]]
	}
	st, at := sp.locate(i)
	return st.content[at]
}

// similar has, for each row of a space, the chain of entries that name it as similar, the newest
// first. Row r has the entries r×SimilarK and following.
type similar struct {
	named heads // of each row
	prev  *list[uint32]
}

// add adds the entries of the next row. An entry that names no earlier row is in no chain.
func (x *similar) add(row uint32, like [SimilarK]index.Neighbour) {
	x.named.grow(row)
	for _, l := range like {
		entry, prev := uint32(x.prev.n), none
		if l.Row < row {
			prev = x.named.at(l.Row).Load()
		}
		x.prev.append(prev) // before a head refers to it
		if l.Row < row {
			x.named.at(l.Row).Store(entry)
		}
	}
}
