package runtime

import (
	"fmt"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// memory is what Apply keeps of the store between batches, so that it need not be
// read again. It shows only in speed. It is used under the lock of Apply, and given up
// when a batch fails: it may hold what was not stored.
type memory struct {
	shards shards

	traces    cache[[16]byte, *trace]
	known     *store.Known // traces, where the store began with this
	sites     cache[uint64, *site]
	sums      cache[sumKey, *sum]
	observers cache[uint64, *observer]
	// ends are the hashes of the two sites under which the calls from one site to
	// another are summed.
	ends cache[[2]uint64, *[2]uint64]
	// told are the sites under which those that partitions tell count: themselves, or
	// with the operation Other.
	told       cache[siteKey, *site]
	operations cache[operationKey, *uint64]
	// maxOperations is the constant of that name where a test does not say otherwise.
	maxOperations uint64

	times     times
	timesRead bool

	// free are sums to use again.
	free []*sum
}

// maxFree is how many sums are kept to be used again.
const maxFree = 1 << 14

// Bounds of the caches, in bytes.
const (
	traceBytes    = 64 << 20
	sumBytes      = 48 << 20
	siteBytes     = 8 << 20
	observerBytes = 2 << 20
)

func newMemory() *memory {
	return &memory{
		traces:    newCache[[16]byte, *trace](traceBytes),
		sites:     newCache[uint64, *site](siteBytes),
		sums:      newCache[sumKey, *sum](sumBytes),
		observers: newCache[uint64, *observer](observerBytes),
		ends:      newCache[[2]uint64, *[2]uint64](siteBytes),

		told:          newCache[siteKey, *site](siteBytes),
		operations:    newCache[operationKey, *uint64](siteBytes),
		maxOperations: maxOperations,
	}
}

// trim forgets what was not used for long. It is called between batches, so that a
// batch finds what it changed.
func (m *memory) trim() {
	m.traces.trim()
	m.sites.trim()
	m.sums.trim()
	m.observers.trim()
	m.ends.trim()
	m.told.trim()
	m.operations.trim()
}

// before reports whether a span comes before another in order of partition and log,
// where it was met later.
func (m *memory) before(x, other *span) bool {
	return x.shard != other.shard && m.shards[x.shard].Compare(m.shards[other.shard]) < 0
}

// shards are the partitions met; what names one does so by its place here.
type shards []schemas.TopicPartition

func (s *shards) of(tp schemas.TopicPartition) uint16 {
	for i, known := range *s {
		if known.Partition == tp.Partition && known.Topic == tp.Topic {
			return uint16(i)
		}
	}
	*s = append(*s, tp)
	return uint16(len(*s) - 1)
}

// site is the site of a hash.
func (m *memory) site(t *store.Txn, hash uint64) (*site, error) {
	if s, ok := m.sites.get(hash, (*site).size); ok {
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
	m.sites.put(hash, s, s.size())
	return s, nil
}

// damage is an error of what the store holds.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }
