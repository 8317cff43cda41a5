package lexical

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// audience is a shard's record of one audience: its number, in the order of first appearance, and
// the statistics of its documents.
type audience struct {
	number uint32
	docs   uint32
	length uint64 // sum over all documents
	last   int64  // offset of the newest document's event
}

func (a audience) encode(b []byte) []byte {
	for _, v := range [...]uint64{uint64(a.number), uint64(a.docs), a.length, uint64(a.last)} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func decodeAudience(v []byte) (audience, error) {
	r := reader{b: v}
	number, docs, length, last := r.uvarint(), r.uvarint(), r.uvarint(), r.uvarint()
	if err := r.end("an audience"); err != nil {
		return audience{}, err
	}
	if number >= tooMany || docs == 0 || docs >= tooMany || length < docs || last > math.MaxInt64 {
		return audience{}, fmt.Errorf("an audience is nonsense")
	}
	return audience{uint32(number), uint32(docs), length, int64(last)}, nil
}

// audiences holds the audiences of one shard in memory, about 100 bytes each.
//
// They are loaded from the store when first needed, and changed by the shard's one writer before
// that commits. So they are never behind a view and may be ahead of one; readers therefore use the
// view's watermark.
type audiences struct {
	mu     sync.RWMutex
	loaded bool
	byID   map[schemas.AudienceID]audience
}

func (all *audiences) load(db *store.DB, tp schemas.TopicPartition) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.loaded {
		return nil
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	prefix := store.AppendShard([]byte{kindAudience}, tp)
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	all.byID = map[schemas.AudienceID]audience{}
	sum := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return v.Explain(err)
		}
		a, err := decodeAudience(value)
		id := schemas.AudienceID{}
		if copy(id[:], it.Key()[len(prefix):]) != len(id) || len(it.Key()) != len(prefix)+len(id) {
			err = fmt.Errorf("audience: key %q", it.Key())
		}
		if err != nil {
			return v.Damaged(err)
		}
		all.byID[id] = a
		sum += uint64(a.number)
	}
	if err := it.Error(); err != nil {
		return v.Explain(err)
	}
	if n := uint64(len(all.byID)); n > 0 && sum != n*(n-1)/2 {
		return v.Damaged(fmt.Errorf("%s: the %d audiences are not numbered so", tp, n))
	}
	all.loaded = true
	return nil
}

func (all *audiences) get(id schemas.AudienceID) (audience, bool) {
	all.mu.RLock()
	defer all.mu.RUnlock()
	a, ok := all.byID[id]
	return a, ok
}

func (all *audiences) count() uint32 {
	all.mu.RLock()
	defer all.mu.RUnlock()
	return uint32(len(all.byID))
}

func (all *audiences) set(changed map[schemas.AudienceID]*changedAudience) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, a := range changed {
		all.byID[id] = a.audience
	}
}
