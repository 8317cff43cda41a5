package projtest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recountdb/recount/schemas"
)

// Summaries is the partition with the records that replace removed ones.
var Summaries = schemas.TopicPartition{Topic: "recount.facts"}

// retention removes the records before random cuts, twice. The state after each cut is built from
// zero, in any batching, with restarts and a crash on each disk.
func (s *suite) retention(t *testing.T) {
	names := slices.Sorted(maps.Keys(s.Disks))
	for seed := range s.logs(2) {
		rng := rand.New(rand.NewPCG(seed, 8))
		shards := Redeliver(rng, s.Generate(seed, partitions, s.Records))
		sums := Shard{TP: Summaries}
		upTo, cuts := schemas.Watermark{}, schemas.Watermark{}
		for range 2 {
			for _, sh := range shards {
				upTo[sh.TP] += rng.Int64N(sh.Next - upTo[sh.TP] + 1)
			}
			before := s.folded(t, append(behind(shards, cuts), sums), with(upTo, sums))
			for _, sh := range shards {
				cuts[sh.TP] += rng.Int64N(upTo[sh.TP] - cuts[sh.TP] + 1)
			}
			left := behind(shards, cuts)
			if s.Summarise != nil {
				rest := s.folded(t, append(left, sums), with(upTo, sums))
				for _, r := range s.Summarise(t, before, rest) {
					sums.Records = append(sums.Records, move(r, sums.Next))
					sums.Next++
				}
				for _, r := range sums.Records {
					r.Origin.Topic, r.Origin.Partition = sums.TP.Topic, sums.TP.Partition
				}
			}
			left = append(left, sums)
			after := s.folded(t, left, with(upTo, sums))
			if s.Kept != nil {
				s.Kept(t, before, after)
			}

			// The live state, begun at zero, crashes while it is built and then continues.
			disk := s.Disks[names[rng.IntN(len(names))]](t)
			p := s.open(t, disk)
			stop := 1 + rng.IntN(8)
			crashed := disk.Crash(rng, func() {
				s.feed(t, p, left, rng, func() bool { stop--; return stop > 0 })
			})
			closeOf(t, p)
			p = s.open(t, crashed)
			equal(t, p, s.folded(t, left, p.Watermark()))
			s.feed(t, p, left, rng, nil)
			equal(t, p, s.folded(t, left, ends(left)))
			closeOf(t, p)
		}
	}
}

// behind returns the log without the records before cuts.
func behind(shards []Shard, cuts schemas.Watermark) []Shard {
	out := make([]Shard, len(shards))
	for i, sh := range shards {
		out[i] = Shard{TP: sh.TP, Records: sh.Batch(cuts[sh.TP], sh.Next).Records, Next: sh.Next}
	}
	return out
}

// with returns the watermark with the end of a shard added.
func with(w schemas.Watermark, sh Shard) schemas.Watermark {
	w = maps.Clone(w)
	w[sh.TP] = sh.Next
	return w
}
