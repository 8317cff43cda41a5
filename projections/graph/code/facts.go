package code

import (
	"container/list"
	"fmt"
	"path"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// maxFacts bounds what stored facts decompress to: source.MaxContent with room for
	// what is said about it.
	maxFacts = 64 << 20
	// cachedFacts is how many bytes of facts, as protobuf, one repository keeps decoded.
	cachedFacts = 48 << 20
)

// factsID names a file's facts.
type factsID struct{ blob, language string }

// candidate is one reading of a blob: facts differ by the language that the path
// they were made for gave it.
type candidate struct{ language, path string }

// choose picks the reading of a blob that fits a path: the one made for it; else
// for a name alike; else none.
func choose(all []candidate, at string) (candidate, bool) {
	var best candidate
	score := 0
	for _, c := range all {
		s := 0
		switch {
		case c.path == at:
			s = 4
		case path.Base(c.path) == path.Base(at) && path.Dir(c.path) == path.Dir(at):
			s = 3
		case path.Base(c.path) == path.Base(at):
			s = 2
		case path.Ext(c.path) == path.Ext(at):
			s = 1
		}
		if s > score {
			best, score = c, s
		}
	}
	return best, score > 0
}

// factsCache keeps decoded facts, the least recently used of them dropped. It is
// safe for concurrent use; what it hands out is not changed.
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

// readings are the languages and paths that a blob has facts for. They stand in
// one value, so that finding them is one read: for each the language and the
// path, each with its length before it.
func appendReading(b []byte, c candidate) []byte {
	b = appendText(b, c.language)
	return appendText(b, c.path)
}

func appendText(b []byte, s string) []byte {
	b = append(b, byte(len(s)>>8), byte(len(s)))
	return append(b, s...)
}

func decodeReadings(b []byte) ([]candidate, error) {
	var all []candidate
	for len(b) > 0 {
		var c candidate
		for _, s := range []*string{&c.language, &c.path} {
			if len(b) < 2 || len(b) < 2+(int(b[0])<<8|int(b[1])) {
				return nil, fmt.Errorf("readings of a blob: cut off")
			}
			n := int(b[0])<<8 | int(b[1])
			*s, b = string(b[2:2+n]), b[2+n:]
		}
		all = append(all, c)
	}
	return all, nil
}
