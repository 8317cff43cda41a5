package run

import (
	"context"
	"errors"

	"github.com/recountdb/recount/replay"
)

// wait says that a step must not begin before another one has ended.
type wait struct {
	on int
	// needed says that the other one has to be done as well; otherwise only the order matters.
	needed bool
	what   string
}

// waitsOf returns for each step what it waits for: its needs, and within a shell session the steps
// that change the shell, which must see and leave it as they did when they were recorded.
func waitsOf(p *replay.Plan) [][]wait {
	out := make([][]wait, len(p.Steps))
	setter, since := map[string]int{}, map[string][]int{} // by session: the last that set, and those after it
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, n := range s.Needs {
			out[i] = append(out[i], wait{n.On, n.Kind != replay.NeedOrder, n.What})
		}
		if s.Session == "" {
			continue
		}
		if last, ok := setter[s.Session]; ok {
			out[i] = append(out[i], wait{on: last})
		}
		if len(s.Sets) > 0 {
			for _, before := range since[s.Session] {
				out[i] = append(out[i], wait{on: before})
			}
			setter[s.Session], since[s.Session] = i, nil
		} else {
			since[s.Session] = append(since[s.Session], i)
		}
	}
	return out
}

// schedule runs all steps, at most Jobs at once, each when what it waits for has ended; of those
// that may begin the first in the plan does. It returns when nothing runs any more.
func (r *runner) schedule(ctx context.Context) error {
	type end struct {
		step int
		err  error
	}
	ended := make([]bool, len(r.plan.Steps))
	begun := make([]bool, len(r.plan.Steps))
	ends := make(chan end)
	running := 0
	var failed error
	for {
		for i := range r.plan.Steps {
			if running >= r.Jobs || failed != nil || ctx.Err() != nil {
				break
			}
			if begun[i] || !all(r.waits[i], ended) {
				continue
			}
			begun[i] = true
			running++
			go func() { ends <- end{i, r.step(ctx, i)} }()
		}
		if running == 0 {
			return failed
		}
		e := <-ends
		running--
		ended[e.step] = true
		// An error of the journal says more than that a step failed.
		if e.err != nil && (failed == nil || errors.Is(failed, errAborted)) {
			failed = e.err
		}
	}
}

func all(waits []wait, ended []bool) bool {
	for _, w := range waits {
		if !ended[w.on] {
			return false
		}
	}
	return true
}
