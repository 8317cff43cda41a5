package code

import (
	"container/list"
	"sync"

	"google.golang.org/protobuf/proto"

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

// factsCache caches decoded facts and drops the least recently used. It is safe for concurrent use;
// callers must not change the facts.
type factsCache struct {
	mu    sync.Mutex
	bytes int
	byID  map[factsID]*list.Element
	order *list.List // of cachedFact, most recently used first
}

type cachedFact struct {
	id    factsID
	facts *recountv1.StoredFacts
	bytes int
}

func newFactsCache() *factsCache {
	return &factsCache{byID: map[factsID]*list.Element{}, order: list.New()}
}

func (c *factsCache) get(id factsID) *recountv1.StoredFacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedFact).facts
}

func (c *factsCache) add(id factsID, f *recountv1.StoredFacts, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byID[id]; ok {
		return
	}
	c.byID[id] = c.order.PushFront(cachedFact{id, f, size})
	for c.bytes += size; c.bytes > cachedFacts && c.order.Len() > 1; {
		last := c.order.Back()
		f := c.order.Remove(last).(cachedFact)
		delete(c.byID, f.id)
		c.bytes -= f.bytes
	}
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
