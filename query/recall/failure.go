package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
)

const (
	// failureMinimum is the minimum score of a failure that is recalled.
	failureMinimum = 0.6
	// failureWeight is the weight of marks that a failure must have in common with another so that
	// this is not by chance.
	failureWeight = 3
	// failureDepth is how many results are compared, failureRead how many of the most alike are
	// looked up in their sessions, failureItems how many are returned.
	failureDepth = 40
	failureRead  = 6
	failureItems = 2
)

// met is an earlier failure like the one asked about.
type met struct {
	result *objects.Stored
	marks  []mark
	common []mark
	score  float64
	run    run
	mend   *Mend
}

// Recall answers a request. An error is a *query.RequestError, a *query.NotVisibleError, that of
// ctx, or that of a projection.
func Recall(ctx context.Context, asked Asked, r Request) (Response, error) {
	r, err := r.normal()
	if err != nil {
		return Response{}, err
	}
	a, err := open(ctx, asked, r.Moment, r.Workspace, r.Without, r.Now)
	if err != nil {
		return Response{}, err
	}
	defer a.Close()
	var items []Item
	var hint string
	if r.On == OnFailure {
		items, hint, err = a.failure(r)
	} else {
		var named []Item
		if named, err = a.named(r); err == nil {
			items, hint, err = a.prompt(r)
		}
		items = append(named, slices.DeleteFunc(items, func(x Item) bool {
			return slices.ContainsFunc(named, func(y Item) bool { return y.ID == x.ID })
		})...)
	}
	if err != nil {
		return Response{}, err
	}
	items = slices.DeleteFunc(items, func(x Item) bool { return a.without[x.ID] })
	resp := Response{}
	resp.Text, resp.Tokens, resp.Items = a.pack(items, r.Tokens)
	if len(resp.Items) > 0 {
		hint = ""
	}
	a.Step(query.Step{Operator: "pack", Counts: map[string]int64{"items": int64(len(resp.Items)), "tokens": int64(resp.Tokens)}})
	a.RecordTime("pack")
	resp.Basis = query.BasisOf(&a.Session, len(resp.Items) == 0, hint, []query.AppliedFilter{})
	return resp, nil
}

// failure returns earlier failures like the one of a request, and why there are none.
func (a *session) failure(r Request) ([]Item, string, error) {
	marks := marksOf(r.Output)
	if len(marks) == 0 {
		return nil, "the output has no line that reports an error", nil
	}
	all, err := a.metBefore(r, marks)
	if err != nil {
		return nil, "", err
	}
	a.RecordTime("compare")
	if len(all) == 0 {
		return nil, "no earlier failure is like this one", nil
	}
	// Those with a mend come first, then the more alike, then the newer.
	slices.SortStableFunc(all, func(x, y *met) int {
		return cmp.Or(cmp.Compare(y.worth(), x.worth()), cmp.Compare(y.result.TimeUnixNano, x.result.TimeUnixNano), y.result.Ref.Compare(x.result.Ref))
	})
	var items []Item
	for _, m := range all {
		// That it failed before, or that it went away by itself, helps nobody.
		if m.mend == nil || m.mend.Same || len(items) > 0 && sameMend(items[0].Mend, m.mend) {
			continue
		}
		x := a.itemOf(m)
		x.Times = len(all)
		if items = append(items, x); len(items) == failureItems {
			break
		}
	}
	return items, "an earlier failure is like this one, but nothing is known to have mended it", nil
}

func sameMend(a, b *Mend) bool {
	return a.Command == b.Command && slices.Equal(a.Steps, b.Steps)
}

// worth orders failures: how alike, and half as much again for a mend.
func (m *met) worth() float64 {
	w := m.score
	if m.mend != nil {
		w += 0.5
		if m.mend.Same {
			w -= 0.25
		}
	}
	return w
}

// metBefore returns the failures that are like the one of a request.
func (a *session) metBefore(r Request, marks []mark) ([]*met, error) {
	var b strings.Builder
	for _, m := range marks {
		b.WriteString(m.line + "\n")
	}
	hits, _, err := a.search(b.String(), failureDepth, a.isResult())
	if err != nil {
		return nil, err
	}
	var results []*met
	for _, h := range hits {
		o, err := a.object(h.Ref)
		if err != nil || o == nil {
			return nil, err
		}
		if t := o.Tool; t != nil && t.ExitCode != nil && *t.ExitCode == 0 && !t.Failed {
			continue
		}
		text, err := a.ending(o)
		if err != nil {
			return nil, err
		}
		results = append(results, &met{result: o, marks: marksOf(text)})
	}
	generic := genericIn(marks, results)
	marks = specificOf(marks, generic)
	var found []*met
	for _, m := range results {
		m.marks = specificOf(m.marks, generic)
		m.score, m.common = alike(marks, m.marks)
		if weigh(m.common) >= failureWeight && m.score >= failureMinimum/2 {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(x, y *met) int { return cmp.Compare(y.score, x.score) })
	keys := keysOf(r.Command)
	var all []*met
	for _, m := range found[:min(len(found), failureRead)] {
		if ok, err := a.judge(m, r.Session, keys); err != nil {
			return nil, err
		} else if ok {
			all = append(all, m)
		}
	}
	a.Step(query.Step{Operator: "compare", Counts: map[string]int64{"results": int64(len(hits)), "alike": int64(len(all)), "marks": int64(len(marks))}})
	return all, nil
}

// judge reads the session of a result, and reports whether it is a failure like the one asked about.
func (a *session) judge(m *met, session string, keys []string) (bool, error) {
	o := m.result
	runs, err := a.around(o.Session, o.TimeUnixNano)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(runs, func(x run) bool { return x.result != nil && x.result.Ref == o.Ref })
	if at < 0 {
		return false, nil
	}
	m.run = runs[at]
	if !m.run.failed(func() []mark { return m.marks }) {
		return false, nil
	}
	// The same command counts for the match, another one against it.
	switch {
	case len(keys) > 0 && shares(keys, m.run.keys):
		m.score += float64(1-m.score) * 0.2
	case len(keys) > 0 && len(m.run.keys) > 0:
		m.score *= 0.8
	}
	if m.score < failureMinimum {
		return false, nil
	}
	m.mend, err = a.mendOf(runs, at, m.marks)
	// Without a mend, a failure of the session itself is nothing new.
	return err == nil && (m.mend != nil || session == "" || o.Session != session), err
}

// itemOf returns a failure as an item.
func (a *session) itemOf(m *met) Item {
	o := m.result
	x := Item{
		ID: o.At, Kind: KindFailure, Source: o.Agent, Outside: outside(o), Session: o.Session, Position: o.At,
		Time: time.Unix(0, o.TimeUnixNano).UTC(), Score: m.score, Mend: m.mend,
	}
	if m.mend != nil {
		x.ID = m.mend.Position // a mend is told once, whichever failure it is found by
	}
	for _, c := range m.common {
		x.Matched = append(x.Matched, oneLine(c.shown, maxMarkBytes))
	}
	best := slices.MaxFunc(m.common, func(x, y mark) int { return cmp.Compare(x.weight, y.weight) })
	x.Quote = oneLine(best.shown, 200)
	if m.run.command != "" {
		x.lines = append(x.lines, "$ "+oneLine(m.run.command, 160))
	}
	x.lines = append(x.lines, x.Quote)
	switch {
	case m.mend == nil:
		x.Title = "This failure was met before; nothing is known to have mended it"
	case m.mend.Same:
		x.Title = "This failure was met before; the same command then succeeded with nothing changed"
	default:
		x.Title = "This failure was met before and mended"
		x.lines = append(x.lines, m.mend.lines()...)
	}
	return x
}

// lines tell a mend.
func (m *Mend) lines() (all []string) {
	if m.Said != "" {
		all = append(all, "said: "+m.Said)
	}
	for _, s := range m.Steps {
		all = append(all, "then "+s)
	}
	return append(all, "then it succeeded: "+m.Command)
}
