package main

import (
	"math/rand/v2"
	"slices"
)

// variant is a possible distortion of the data in transit. Partitions are interleaved at
// random in all of them. The calls must be equal in each; all answers too, if clocks did
// not change; and also the root, if each partition has the same log, since it covers
// positions.
type variant struct {
	name string
	// size is the number of spans in an export.
	size            int
	skewed, sameLog bool
	make            func(r *rand.Rand, all []span) []span
}

var variants = []variant{
	{name: "partitions interleaved", size: perExport, sameLog: true, make: same},
	{name: "spans shuffled", size: perExport, make: shuffled},
	{name: "a span an export", size: 1, make: same},
	{name: "children first", size: perExport, make: func(_ *rand.Rand, all []span) []span {
		all = slices.Clone(all)
		slices.Reverse(all)
		return all
	}},
	{name: "a third sent twice, shuffled", size: 7, make: func(r *rand.Rand, all []span) []span {
		all = slices.Clone(all)
		for _, s := range all {
			if r.IntN(3) == 0 {
				all = append(all, s)
			}
		}
		return shuffled(r, all)
	}},
	{name: "clocks up to ten minutes apart, shuffled", size: perExport, skewed: true, make: func(r *rand.Rand, all []span) []span {
		skew := map[string]uint64{}
		all = slices.Clone(all)
		for i := range all {
			s := &all[i]
			if _, known := skew[s.pod]; !known {
				skew[s.pod] = r.Uint64N(600e9)
			}
			s.start, s.end = s.start+skew[s.pod], s.end+skew[s.pod]
		}
		return shuffled(r, all)
	}},
}

func same(_ *rand.Rand, all []span) []span { return all }

func shuffled(r *rand.Rand, all []span) []span {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
