package vector

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// objects is the source of agents' events, whose objects have parts. A part with an embedding is a
// passage. Passages of a space with the same vector, bit by bit, are of one row.
var objects = &source{
	passages: func(all []passage, at schemas.Position, r *recountv1.Record) ([]passage, error) {
		b := r.GetObjects()
		seed := xxh3.HashString(b.GetEmbedder())
		for i, o := range b.GetObjects() {
			var of schemas.AudienceID
			for j, part := range o.Parts {
				if len(part.Embedding) == 0 {
					continue
				}
				if err := check(part.Embedding); err != nil {
					return nil, projections.Poison(at, "object %d, part %d: %w", i, j, err)
				}
				if of == (schemas.AudienceID{}) {
					of = schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility).ID()
				}
				all = append(all, passage{
					offset: at.Offset, index: uint32(i), part: uint32(j), audience: of, embedder: b.Embedder, vec: part.Embedding,
					key: xxh3.HashSeed(sealed.BytesOf(part.Embedding), seed^binary.LittleEndian.Uint64(of[:])),
				})
			}
		}
		return all, nil
	},
}
