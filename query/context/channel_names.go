package context

import (
	"path"
	"strings"
)

// pointed is what a task's text points at: symbols, and files.
type pointed struct {
	symbols map[int32]float64
	files   map[int32]float64
	// traced are the files and symbols of stack traces and of other places with a line.
	traced map[int32]float64
}

// byNames finds the symbols that a task names, by tiers, and the places that it says.
func (e *engine) byNames() pointed {
	p := pointed{map[int32]float64{}, map[int32]float64{}, map[int32]float64{}}
	symbol := func(n int32, s float64) {
		if s <= p.symbols[n] {
			return
		}
		p.symbols[n] = s
	}
	for _, n := range e.task.names {
		times := 1.0
		if n.title {
			times = 1.3
		}
		last := n.name
		if i := strings.LastIndexAny(last, ".:#>"); i >= 0 {
			for _, m := range e.st.Named(strings.ReplaceAll(strings.ReplaceAll(n.name, "::", "."), "#", ".")) {
				if e.st.Chain(m) != "" {
					symbol(m, 1.2*times)
				}
			}
			owner := last[:i]
			last = last[i+1:]
			if j := strings.LastIndexAny(strings.TrimRight(owner, ".:#->"), ".:#>"); j >= 0 {
				owner = owner[j+1:]
			}
			e.c.names.find(e.st, strings.TrimRight(owner, ".:#->"), func(m int32, s float64) { symbol(m, 0.6*s*times) })
		}
		e.c.names.find(e.st, last, func(m int32, s float64) { symbol(m, s*times) })
		// A file with the name.
		if len(last) >= 4 {
			stem := stemOf(last)
			if len(stem) >= 4 && !plainStems[stem] {
				for _, i := range e.c.byStem[stem] {
					p.files[i] = max(p.files[i], 0.7*times)
				}
			}
		}
	}
	for n, s := range p.symbols {
		if f := e.c.ofNode[n]; f >= 0 {
			p.files[f] = max(p.files[f], s)
		}
	}
	for order, at := range e.task.places {
		score := 1 / (1 + 0.1*float64(order))
		found := e.c.located(at.path)
		for _, f := range found {
			s := score / (1 + 0.5*float64(len(found)-1))
			p.traced[f] = max(p.traced[f], s)
			if at.line == 0 {
				continue
			}
			for n := e.c.files[f].from; n < e.c.files[f].to; n++ {
				if from, to := e.st.Lines(n); e.st.Chain(n) != "" && from <= at.line && at.line <= to {
					symbol(n, 1.2*s)
				}
			}
		}
	}
	return p
}

// maxLocated is the number of files with a name beyond which the name says nothing.
const maxLocated = 6

// located returns the files of the repository that a path written elsewhere means: those with the
// longest common end.
func (x *corpus) located(written string) []int32 {
	if i, ok := x.byPath[written]; ok {
		return []int32{i}
	}
	var best []int32
	longest := 0
	parts := strings.Split(written, "/")
	for _, i := range x.byBase[path.Base(written)] {
		own := strings.Split(x.files[i].Path, "/")
		n := 0
		for n < len(own) && n < len(parts) && own[len(own)-1-n] == parts[len(parts)-1-n] {
			n++
		}
		switch {
		case n > longest:
			longest, best = n, []int32{i}
		case n == longest:
			best = append(best, i)
		}
	}
	if len(best) > maxLocated {
		return nil
	}
	return best
}
