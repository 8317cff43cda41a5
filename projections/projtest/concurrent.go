package projtest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
)

// dumpSeesOneState takes roots while one goroutine applies batch after batch: each root must be
// that of a state between two records.
func (s *suite) dumpSeesOneState(t *testing.T) {
	records := s.Records / 2
	if racing.On {
		records /= 3
	}
	shards := s.Generate(2, partitions, records)
	batches := s.batches(shards, 9)
	known := map[schemas.Hash]bool{}
	p := s.fresh(t)
	known[root(t, p)] = true
	for _, b := range batches {
		for i, r := range b.Records {
			one := b
			one.Records, one.Next = b.Records[i:i+1], r.Origin.Offset+1
			apply(t, p, one)
			known[root(t, p)] = true
		}
		apply(t, p, b)
		known[root(t, p)] = true
	}

	p = s.fresh(t)
	taken := s.whileReading(t, p, func() {
		for _, b := range batches {
			if err := p.Apply(t.Context(), b); err != nil {
				t.Errorf("apply: %v", err)
				return
			}
		}
	})
	for _, h := range taken {
		if !known[h] {
			t.Fatalf("a dump taken while batches were applied is of none of the %d states (%d dumps taken)", len(known), len(taken))
		}
	}

	stop := errors.New("stop")
	seen := 0
	if err := p.Dump(t.Context(), func(_, _ []byte) error { seen++; return stop }); !errors.Is(err, stop) {
		t.Errorf("dump whose yield fails: got %v, want what yield returned", err)
	}
	if seen != 1 {
		t.Errorf("dump went on for %d pairs after yield failed", seen-1)
	}
	var last []byte
	first := true
	err := p.Dump(t.Context(), func(k, _ []byte) error {
		if !first && bytes.Compare(last, k) >= 0 {
			t.Errorf("dump: key %q after %q", k, last)
		}
		first, last = false, append(last[:0], k...)
		return nil
	})
	if err != nil {
		t.Errorf("dump: %v", err)
	}
}

// whileReading takes roots, and reads as queries do, until work is done, and returns the roots.
func (s *suite) whileReading(t *testing.T, p projections.Projection, work func()) []schemas.Hash {
	var taken []schemas.Hash
	done := make(chan struct{})
	var wg sync.WaitGroup
	until := func(f func()) {
		wg.Go(func() {
			for {
				f()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	until(func() {
		h, err := projections.Root(t.Context(), p)
		if err != nil {
			t.Errorf("root: %v", err)
		}
		taken = append(taken, h)
	})
	until(func() {
		for _, tp := range p.Watermark().Partitions() {
			p.Next(tp)
		}
	})
	if s.Read != nil {
		until(func() { s.Read(t, p) })
	}
	work()
	close(done)
	wg.Wait()
	return taken
}

// partitionsAtOnce applies each partition from a goroutine of its own while others read.
func (s *suite) partitionsAtOnce(t *testing.T) {
	for seed := range uint64(s.factor) {
		shards := s.Generate(10+seed, partitions, s.Records)
		p := s.fresh(t)
		s.whileReading(t, p, func() {
			var wg sync.WaitGroup
			for _, sh := range shards {
				wg.Go(func() { applyPieces(t, p, sh, rand.New(rand.NewPCG(seed, uint64(sh.TP.Partition)))) })
			}
			wg.Wait()
		})
		equal(t, p, s.folded(t, shards, ends(shards)))
	}
}

// applyPieces applies a shard in batches of up to 30 offsets, and flushes now and then.
func applyPieces(t *testing.T, p projections.Projection, sh Shard, rng *rand.Rand) {
	for at := int64(0); at < sh.Next; {
		to := min(sh.Next, at+1+rng.Int64N(30))
		if err := p.Apply(t.Context(), sh.Batch(at, to)); err != nil {
			t.Errorf("apply: %v", err)
			return
		}
		at = to
		if rng.IntN(8) == 0 {
			if err := p.Flush(); err != nil {
				t.Errorf("flush: %v", err)
			}
		}
	}
}

// batches cuts the shards into batches of the given size, one of each shard after the other.
func (s *suite) batches(shards []Shard, size int64) []schemas.Batch {
	var out []schemas.Batch
	for at := int64(0); ; at += size {
		n := len(out)
		for _, sh := range shards {
			if at < sh.Next {
				out = append(out, sh.Batch(at, min(at+size, sh.Next)))
			}
		}
		if len(out) == n {
			return out
		}
	}
}
