package runtime

import (
	"fmt"

	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// memory caches between batches what Apply would otherwise read from the store. It affects only
// speed. The lock of Apply guards it. It is dropped if a batch fails, because it may contain what
// was not stored.
type memory struct {
	shards shards

	traces    *cache.Map[[16]byte, *trace]
	known     *store.IDFilter // traces; nil if the store was not empty at the start
	sites     *cache.Map[uint64, *site]
	sums      *cache.Map[sumKey, *sum]
	observers *cache.Map[uint64, *observer]
	// ends maps the sites of two spans to the two sites under which calls between them are summed.
	ends *cache.Map[[2]uint64, *[2]uint64]
	// summed maps the sites that partitions report to those they count under: themselves, or with the
	// operation Other.
	summed     *cache.Map[siteKey, *site]
	operations *cache.Map[operationKey, *uint64]
	// maxOperations is the constant of that name, unless a test changes it.
	maxOperations uint64

	times     times
	timesRead bool

	// free are sums to reuse.
	free []*sum
}

// maxFree is the maximum number of sums kept for reuse.
const maxFree = 1 << 14

// These are the sizes of the caches in bytes.
const (
	traceBytes    = 64 << 20
	sumBytes      = 48 << 20
	siteBytes     = 8 << 20
	observerBytes = 2 << 20
)

func newMemory() *memory {
	return &memory{
		traces:    cache.New[[16]byte, *trace](traceBytes),
		sites:     cache.New[uint64, *site](siteBytes),
		sums:      cache.New[sumKey, *sum](sumBytes),
		observers: cache.New[uint64, *observer](observerBytes),
		ends:      cache.New[[2]uint64, *[2]uint64](siteBytes),

		summed:        cache.New[siteKey, *site](siteBytes),
		operations:    cache.New[operationKey, *uint64](siteBytes),
		maxOperations: maxOperations,
	}
}

// trim drops entries that were not used recently. It runs between batches, so that a batch finds
// what it changed.
func (m *memory) trim() {
	m.traces.Trim()
	m.sites.Trim()
	m.sums.Trim()
	m.observers.Trim()
	m.ends.Trim()
	m.summed.Trim()
	m.operations.Trim()
}

// before reports whether x comes before another span in order of partition and log, given that x
// arrived later.
func (m *memory) before(x, other *span) bool {
	return x.shard != other.shard && m.shards[x.shard].Compare(m.shards[other.shard]) < 0
}

// shards are the known partitions. Other structures refer to one by its index here.
type shards []schemas.TopicPartition

func (s *shards) number(tp schemas.TopicPartition) uint16 {
	for i, known := range *s {
		if known.Partition == tp.Partition && known.Topic == tp.Topic {
			return uint16(i)
		}
	}
	*s = append(*s, tp)
	return uint16(len(*s) - 1)
}

// site returns the site with a hash.
func (m *memory) site(t *store.Txn, hash uint64) (*site, error) {
	if s, ok := m.sites.Get(hash); ok {
		return s, nil
	}
	value, ok, err := t.Get(hashKey(nil, kindSite, hash))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, damage{fmt.Errorf("no site %016x", hash)}
	}
	s, err := decodeSite(value)
	if err != nil {
		return nil, damage{fmt.Errorf("site %016x: %w", hash, err)}
	}
	m.sites.Put(hash, s, s.size())
	return s, nil
}

// damage is an error that means that the store is damaged.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }
