package context

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/code"
)

// nameTable finds symbols by parts of their names.
type nameTable struct {
	lower []string // distinct names in lower case, ordered
	nodes [][]int32
	// signs are those of the names, as signOf returns them.
	signs []uint64
}

// signOf returns a set of the runs of three bytes in a name, as 64 bits: a name can be part of another
// only if the other's sign has all bits of its own.
func signOf(name string) (sign uint64) {
	for i := 2; i < len(name); i++ {
		h := uint32(name[i-2])*0x9e3779b1 + uint32(name[i-1])*0x85ebca77 + uint32(name[i])*0xc2b2ae3d
		sign |= 1 << (h >> 26)
	}
	return sign
}

func namesOf(st *code.Study) *nameTable {
	byName := map[string][]int32{}
	for n := range int32(st.Len()) {
		if st.Chain(n) != "" {
			name := strings.ToLower(st.Name(n))
			byName[name] = append(byName[name], n)
		}
	}
	t := &nameTable{}
	for name := range byName {
		t.lower = append(t.lower, name)
	}
	slices.Sort(t.lower)
	for _, name := range t.lower {
		t.nodes = append(t.nodes, byName[name])
		t.signs = append(t.signs, signOf(name))
	}
	return t
}

// has reports whether a symbol has a name, ignoring case.
func (t *nameTable) has(name string) bool {
	_, ok := slices.BinarySearch(t.lower, strings.ToLower(name))
	return ok
}

// maxTier is the number of symbols of a tier beyond which a name says nothing.
const maxTier = 40

// These are the scores of the tiers.
const (
	tierExact, tierCase, tierPrefix, tierPart = 1, 0.9, 0.55, 0.35
)

// find calls use with the symbols whose names match a name as written, with the score of the best
// tier: exact, ignoring case, prefix, part.
func (t *nameTable) find(st *code.Study, name string, use func(n int32, score float64)) {
	lower := strings.ToLower(name)
	i, ok := slices.BinarySearch(t.lower, lower)
	if ok {
		rare := rarity(len(t.nodes[i]))
		for _, n := range t.nodes[i] {
			score := tierCase
			if st.Name(n) == name {
				score = tierExact
			}
			use(n, score*rare)
		}
	}
	if len(lower) < 4 {
		return
	}
	var longer []int32
	for j := i; j < len(t.lower) && strings.HasPrefix(t.lower[j], lower) && len(longer) <= maxTier; j++ {
		if t.lower[j] != lower {
			longer = append(longer, t.nodes[j]...)
		}
	}
	if len(longer) <= maxTier {
		for _, n := range longer {
			use(n, tierPrefix*rarity(len(longer)))
		}
	}
	if ok || len(lower) < 6 {
		return
	}
	var parts []int32
	wanted := signOf(lower)
	for j, sign := range t.signs {
		if sign&wanted != wanted {
			continue
		}
		if other := t.lower[j]; strings.Contains(other, lower) && !strings.HasPrefix(other, lower) {
			if parts = append(parts, t.nodes[j]...); len(parts) > maxTier {
				return
			}
		}
	}
	for _, n := range parts {
		use(n, tierPart*rarity(len(parts)))
	}
}

// rarity is 1 for a name that one symbol has, and less the more have it.
func rarity(count int) float64 { return 1 / (1 + 0.15*float64(count-1)) }

// byScore orders indexes by score, the highest first, then by index.
func byScore(score map[int32]float64) []int32 {
	type scored struct {
		i     int32
		score float64
	}
	all := make([]scored, 0, len(score))
	for i, s := range score {
		if s > 0 {
			all = append(all, scored{i, s})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.i, b.i)) })
	order := make([]int32, len(all))
	for i, s := range all {
		order[i] = s.i
	}
	return order
}
