package context

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxSymbols is the number of symbols that are ranked for packing.
const maxSymbols = 600

// rankSymbols runs the channels of symbols and fuses them, given the ranked files.
func (e *engine) rankSymbols(files []fused) ([]fused, error) {
	described, named, changed := map[int32]float64{}, map[int32]float64{}, map[int32]float64{}
	for _, s := range e.described[:min(len(e.described), maxSymbols)] {
		described[s.N] = s.Score
		if s.Behind && e.r.Tests != TestsOnly {
			described[s.N] *= 0.3
		}
	}
	maps.Copy(named, e.pointed.symbols)
	for i, n := range e.changed {
		changed[n] = 1 / (1 + 0.02*float64(i))
	}
	var all []ranking
	add := func(channel string, score map[int32]float64) {
		for n := range score {
			f := e.c.ofNode[n]
			if f < 0 || !e.c.declared[n] || channel != chChanged && e.r.Tests == TestsOnly != e.c.files[f].test && e.r.Tests != TestsAlso {
				delete(score, n)
			}
		}
		if r := rankingOf(channel, score); len(r.keys) > 0 {
			all = append(all, r)
		}
	}
	add(chDescribed, described)
	add(chNamed, named)
	add(chUsed, e.used)
	add(chChanged, changed)
	seeds := map[int32]float64{}
	for i, f := range fuse(all, symbolBlend, symbolWeights) {
		if i == 30 {
			break
		}
		seeds[f.key] = f.score / float64(1+i)
	}
	if len(seeds) == 0 || len(e.given) > 0 && len(e.changed) == 0 {
		for _, g := range e.given[:min(len(e.given), 10)] {
			f := &e.c.files[g]
			for n := f.from; n < f.to; n++ {
				if e.c.declared[n] {
					seeds[n] += 0.3
				}
			}
		}
	}
	add(chNear, e.nearSymbols(seeds))
	// The symbols of the first files, by the file and by how much is made of them.
	byFile := map[int32]float64{}
	for i, f := range files[:min(len(files), 15)] {
		x := &e.c.files[f.key]
		for n := x.from; n < x.to; n++ {
			if !e.c.declared[n] {
				continue
			}
			s := files[0].score
			byFile[n] = f.score / s / (1 + 0.1*float64(i)) * (0.5 + 0.1*math.Log1p(float64(e.c.users[n]))) * kindFactor(e.st.Kind(n))
		}
	}
	add(chFile, byFile)
	ranked := fuse(all, symbolBlend, symbolWeights)
	e.weigh(ranked, files)
	slices.SortStableFunc(ranked, func(a, b fused) int { return cmp.Compare(b.score, a.score) })
	return ranked[:min(len(ranked), maxSymbols)], nil
}

// weigh multiplies the scores of symbols by what they are and by the score of their file, and lets
// types and their members share what they got.
func (e *engine) weigh(ranked, files []fused) {
	ofFile := map[int32]float64{}
	for _, f := range files {
		ofFile[f.key] = f.score / files[0].score
	}
	for _, g := range e.given {
		ofFile[g] = 1
	}
	for i := range ranked {
		n := ranked[i].key
		f := e.c.ofNode[n]
		if e.st.Test(n) && !e.task.asksTests && e.r.Tests != TestsOnly && !(e.pointed.symbols[n] >= tierExact && strings.HasPrefix(strings.ToLower(e.st.Name(n)), "test")) {
			ranked[i].score *= testFactor
		}
		switch k := e.st.Kind(n); {
		case isType(k):
			ranked[i].score *= typeFactor
		case kindFactor(k) < 1:
			ranked[i].score *= partFactor
		}
		if !e.st.Exported(n) {
			ranked[i].score *= privateFactor
		}
		ranked[i].score *= 1 + ofFile[f]
	}
	types := map[string]int{}
	for i := range ranked {
		if n := ranked[i].key; isType(e.st.Kind(n)) {
			types[e.st.Path(n)+"\x00"+e.st.Chain(n)] = i
		}
	}
	was := make([]float64, len(ranked))
	for i := range ranked {
		was[i] = ranked[i].score
	}
	gain := map[int]float64{}
	for i := range ranked {
		n := ranked[i].key
		chain, name := e.st.Chain(n), e.st.Name(n)
		if len(chain) <= len(name) {
			continue
		}
		if t, ok := types[e.st.Path(n)+"\x00"+chain[:len(chain)-len(name)-1]]; ok {
			gain[t] = max(gain[t], toType*was[i])
			gain[i] = max(gain[i], toMember*was[t])
		}
	}
	for i := range ranked {
		ranked[i].score += gain[i]
	}
}

// isType reports whether symbols of a kind have members.
func isType(k recountv1.SymbolKind) bool {
	switch k {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
		recountv1.SymbolKind_SYMBOL_KIND_TRAIT, recountv1.SymbolKind_SYMBOL_KIND_TYPE, recountv1.SymbolKind_SYMBOL_KIND_ENUM:
		return true
	}
	return false
}

// kindFactor is how often a person means a symbol of a kind.
func kindFactor(k recountv1.SymbolKind) float64 {
	switch k {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_CLASS,
		recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, recountv1.SymbolKind_SYMBOL_KIND_TRAIT,
		recountv1.SymbolKind_SYMBOL_KIND_TYPE, recountv1.SymbolKind_SYMBOL_KIND_ENUM:
		return 1
	}
	return 0.4
}

// maxSteps is the number of edges of a symbol that a walk looks at.
const maxSteps = 200

// nearSymbols is a random walk from the seeds along the edges of the graph, in both directions, of
// three steps. Symbols with many users are passed by: they belong to everything.
func (e *engine) nearSymbols(seeds map[int32]float64) map[int32]float64 {
	type step struct {
		to int32
		w  float64
	}
	var steps []step
	total := 0.0
	// take reports whether the walk looks at further edges.
	take := func(l code.Link) bool {
		w := weightOf(l.Kind) * l.Confidence
		if l.Kind == recountv1.EdgeKind_EDGE_KIND_CONTAINS {
			w = 0.5
		}
		if w > 0 && e.c.declared[l.To] {
			w /= popularity(e.c.users[l.To])
			steps = append(steps, step{l.To, w})
			total += w
		}
		return len(steps) <= maxSteps
	}
	now, next := make([]float64, e.st.Len()), make([]float64, e.st.Len())
	at := slices.Sorted(maps.Keys(seeds))
	for _, n := range at {
		now[n] = seeds[n]
	}
	score := map[int32]float64{}
	for range 3 {
		var reached []int32
		for _, n := range at {
			mass := now[n]
			now[n] = 0
			if mass < 1e-4 {
				continue
			}
			steps, total = steps[:0], 0
			for l := range e.st.Out(n) {
				if !take(l) {
					break
				}
			}
			for l := range e.st.Into(n) {
				if len(steps) > maxSteps || !take(l) {
					break
				}
			}
			for _, s := range steps {
				if next[s.to] == 0 {
					reached = append(reached, s.to)
				}
				next[s.to] += 0.6 * mass * s.w / total
			}
		}
		slices.Sort(reached)
		at = slices.Compact(reached)
		for _, n := range at {
			score[n] += next[n]
		}
		now, next = next, now
	}
	return score
}

// popularity is the number by which the weight of an edge to a symbol with so many users is divided.
func popularity(users int32) float64 {
	if int(users) < len(popularities) {
		return popularities[users]
	}
	return math.Log2(2 + float64(users))
}

var popularities = func() (all [256]float64) {
	for i := range all {
		all[i] = math.Log2(2 + float64(i))
	}
	return all
}()
