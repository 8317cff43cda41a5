package runtime

import (
	"cmp"
	"context"
	"slices"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// Callers returns the function that adds to `callers` and `impact` the callers seen at run time:
// those that called the operations whose handlers were reached, by spans.
func Callers(s Sources) code.Running {
	return func(ctx context.Context, w code.RuntimeWindow, of map[code.Place]code.Reached, limit int) (code.RuntimeUse, schemas.Watermark, []query.Step, error) {
		use := code.RuntimeUse{Callers: []code.RuntimeCaller{}}
		window := Window{From: w.From, To: w.To, At: w.At}
		a, err := s.open(ctx, window)
		if err != nil {
			return use, nil, nil, err
		}
		defer a.Close()
		if err := a.callers(&use, of); err != nil {
			return use, nil, nil, err
		}
		use.Total = len(use.Callers)
		use.Truncated = cut(&use.Callers, limit)
		if use.Total == 0 {
			use.Hint = "no span shows an operation that this symbol handles, or a call of it"
			if _, last := a.view.Bounds(); last == 0 {
				use.Hint = a.nothing()
			}
		}
		return use, a.Visible, a.Proof, nil
	}
}

// callers adds the callers of the operations whose handlers were reached.
func (a *session) callers(use *code.RuntimeUse, of map[code.Place]code.Reached) error {
	operations, err := served(a.Ctx, a.view, a.within, "")
	if err != nil {
		return err
	}
	sureServed, err := confident(a.Ctx, a, served, "", keyOfServed, sumOfServed)
	if err != nil {
		return err
	}
	rows, err := calls(a.Ctx, a.view, a.within, "")
	if err != nil {
		return err
	}
	sureRow, err := confident(a.Ctx, a, calls, "", keyOfRow, sumOfRow)
	if err != nil {
		return err
	}
	j, err := a.joiner()
	if err != nil {
		return err
	}
	into := map[servedKey][]*row{}
	for i := range rows {
		if x := &rows[i]; !x.outside {
			k := servedKey{x.callee, x.kind, x.operation, x.templated, x.system}
			into[k] = append(into[k], x)
		}
	}
	for i := range operations {
		if err := a.Ctx.Err(); err != nil {
			return err
		}
		x := &operations[i]
		join := j.joinOf(operation{x.Service, x.Kind, x.Operation, x.Templated})
		if join.handled == nil {
			continue
		}
		reached, ok := of[code.Place{Repo: join.handled.Repo, Key: join.handled.Key}]
		if !ok {
			continue
		}
		caller := func(name string, count, errors uint64, s *observed.Sum, confidence float64) code.RuntimeCaller {
			m := measure(s, confidence)
			c := code.RuntimeCaller{
				Caller: name, Service: x.Service, Kind: kindName(x.Kind), Operation: x.Operation, Handler: *join.Symbol, Distance: reached.Distance,
				Count: count, Errors: errors, Last: m.Last, Confidence: confidence, Rule: join.Rule, Sure: min(join.Confidence, reached.Confidence),
			}
			for _, e := range m.Examples {
				if c.Trace = e.Trace; c.Trace != "" {
					break
				}
			}
			return c
		}
		count, errors := x.Count, x.Errors
		for _, r := range into[keyOfServed(x)] {
			use.Callers = append(use.Callers, caller(r.caller, r.Count, r.Errors, &r.Sum, sureRow(r)))
			count, errors = count-min(count, r.Count), errors-min(errors, r.Errors)
		}
		if count > 0 { // requests from clients that send no spans
			use.Callers = append(use.Callers, caller("", count, min(count, errors), &x.Sum, sureServed(x)))
		}
	}
	j.prove()
	slices.SortStableFunc(use.Callers, func(x, y code.RuntimeCaller) int {
		return cmp.Or(cmp.Compare(x.Distance, y.Distance), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.Caller, y.Caller))
	})
	return nil
}
