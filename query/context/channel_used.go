package context

import (
	"math"

	"github.com/recountdb/recount/query"
)

// Used is a file, or a symbol in a file, that was judged for past tasks like the one asked about.
type Used struct {
	Path string
	// Symbol is empty for a file.
	Symbol string
	// Score is above 0 if it was useful for them, and below if it was not.
	Score float64
}

// usedMinimum is the score below which the tasks are not alike enough to tell anything: a channel's
// best counts in full, however little it is.
const usedMinimum = 0.1

// byUsed ranks files and symbols by what was useful for past tasks with similar words, and lowers
// what was not. Without such feedback both are empty.
func (e *engine) byUsed() (files, symbols map[int32]float64, err error) {
	if e.s.Memory == nil || e.task.text == "" {
		return nil, nil, nil
	}
	all, err := e.s.Memory(e.ctx, e.task.text, e.st.Revision().Repo)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	files, symbols, e.unused = map[int32]float64{}, map[int32]float64{}, map[int32]float64{}
	for _, u := range all {
		f, known := e.c.byPath[u.Path]
		if !known {
			continue // it was renamed or removed
		}
		if u.Score < 0 {
			if u.Symbol == "" {
				e.unused[f] = math.Max(1+u.Score, 0.5)
			}
			continue
		}
		if u.Score < usedMinimum {
			continue
		}
		files[f] = math.Max(files[f], u.Score)
		for n := e.c.files[f].from; u.Symbol != "" && n < e.c.files[f].to; n++ {
			if e.st.Chain(n) != "" && e.st.Symbol(n).Name == u.Symbol {
				symbols[n] = u.Score
			}
		}
	}
	e.a.Step(query.Step{Operator: "memory", Counts: map[string]int64{"judged": int64(len(all)), "files": int64(len(files)), "symbols": int64(len(symbols))}})
	return files, symbols, nil
}
