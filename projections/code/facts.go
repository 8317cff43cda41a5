package code

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// maxFacts is the maximum decompressed size of stored facts: source.MaxContent with room for
	// what was extracted from it.
	maxFacts = 64 << 20
	// cachedFacts limits the decoded facts cached per repository, in bytes of their protobuf
	// encoding.
	cachedFacts = 48 << 20
)

// factsID identifies the facts of a file.
type factsID struct{ blob, language string }

// factsCache caches decoded facts. It is safe for concurrent use; callers must not change the facts.
type factsCache struct {
	mu    sync.Mutex
	facts *cache.Map[factsID, *recountv1.StoredFacts]
}

func newFactsCache() *factsCache {
	return &factsCache{facts: cache.New[factsID, *recountv1.StoredFacts](cachedFacts)}
}

func (c *factsCache) get(id factsID) *recountv1.StoredFacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, _ := c.facts.Get(id)
	return f
}

func (c *factsCache) add(id factsID, f *recountv1.StoredFacts, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.facts.Put(id, f, min(size, cachedFacts)) // so that the latest facts are kept, however large
	c.facts.Trim()
}

func encodeFacts(f *recountv1.StoredFacts) (value []byte, size int, err error) {
	b, err := marshal(f)
	if err != nil {
		return nil, 0, err
	}
	return schemas.Compress(b), len(b), nil
}

func decodeFacts(value []byte) (*recountv1.StoredFacts, int, error) {
	b, err := schemas.Decompress(value, maxFacts)
	if err != nil {
		return nil, 0, err
	}
	f := &recountv1.StoredFacts{}
	if err := proto.Unmarshal(b, f); err != nil {
		return nil, 0, err
	}
	return f, len(b), nil
}
