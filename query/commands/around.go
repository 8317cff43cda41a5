package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/commands/history"
	"github.com/recountdb/recount/schemas"
)

// What a question for the circumstances of a command is asked and answers, from package ask.
type (
	AroundRequest  = ask.AroundRequest
	AroundResponse = ask.AroundResponse
)

// maxLooked is the maximum number of runs whose outcomes are counted.
const maxLooked = 500

// Around returns the circumstances of a command. An error is a *RequestError, a *NotFoundError, an
// *AmbiguousError, the context's, or one of the projections.
func Around(ctx context.Context, s Sources, r AroundRequest) (AroundResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return AroundResponse{}, err
	}
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return AroundResponse{}, err
	}
	defer a.Close()
	at, err := a.locate(r.Ref)
	if err != nil {
		return AroundResponse{}, err
	}
	t := around{session: a, r: r, resp: AroundResponse{Causes: []ask.Reason{}, Fixes: []ask.Reason{}}}
	if err := t.root(at); err != nil {
		return AroundResponse{}, err
	}
	for _, part := range []func() error{t.neighbours, t.record, t.failure} {
		if err := part(); err != nil {
			return AroundResponse{}, err
		}
	}
	t.resp.Basis = query.BasisOf(&a.Session, false, "", []query.AppliedFilter{})
	return t.resp, nil
}

// around is the state of one question.
type around struct {
	*session
	r    AroundRequest
	hash uint64
	resp AroundResponse
}

// root reads the command itself.
func (t *around) root(at located) error {
	err := t.segment.ViewAt(t.Ctx, []schemas.Position{at.pos}, func(_ int, v *segment.View) error {
		t.hash = v.ContentHash()
		t.resp.Root = intentOf(v)
		t.resp.OutputTail, t.resp.StatedIntent, t.resp.GitHead = strings.Clone(v.OutputTail()), strings.Clone(v.StatedIntent()), strings.Clone(v.GitHead())
		return t.complete(&t.resp.Root)
	})
	if err != nil || t.resp.OutputTail != "" {
		return err
	}
	o, known, err := t.outcome(at.id)
	if err == nil && known {
		t.resp.OutputTail = o.OutputTail
	}
	return err
}

// neighbours reads what ran before and after the command in its session.
func (t *around) neighbours() (err error) {
	root := &t.resp.Root
	if t.resp.Before, err = t.scan(segment.Filter{To: root.Time.Add(1)}, segment.NewestFirst); err != nil {
		return err
	}
	slices.Reverse(t.resp.Before)
	t.resp.After, err = t.scan(segment.Filter{From: root.Time}, segment.OldestFirst)
	st := query.Step{Operator: "session", Inputs: map[string]string{"session": root.Session}}
	for _, in := range slices.Concat(t.resp.Before, t.resp.After) {
		st.Hits = append(st.Hits, query.Evidence{Position: in.Position})
	}
	t.Step(st)
	t.RecordTime("session")
	return err
}

// scan reads the commands of the session that a filter selects, from the root on. Of commands with the
// root's time, those on its other side by their position are left out.
func (t *around) scan(f segment.Filter, order segment.Order) ([]Intent, error) {
	root := &t.resp.Root
	all := []Intent{}
	if root.Session == "" {
		return all, nil
	}
	f.Session, f.Host, f.Below = root.Session, root.Host, t.Visible
	var inner error
	err := t.segment.Scan(t.Ctx, f, order, func(v *segment.View) bool {
		at := v.Position()
		if at == root.Position || v.UnixNano() == schemas.UnixNano(root.Time) && (at.Offset < root.Position.Offset) != (order == segment.NewestFirst) {
			return true
		}
		in := intentOf(v)
		inner = t.complete(&in)
		all = append(all, in)
		return inner == nil && len(all) < t.r.Limit
	})
	return all, cmp.Or(inner, err)
}

// record counts how often the command worked.
func (t *around) record() error {
	if t.s.History == nil {
		t.s.History = new(history.Index)
	}
	var runs []history.Run
	for try := 0; ; try++ {
		err := t.s.History.CatchUp(t.Ctx, t.segment, t.Visible)
		if err == nil {
			runs, t.resp.Record.Runs, err = t.s.History.RunsOf(t.segment, t.hash, maxLooked)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, history.ErrReplaced) || try == maxReplaced {
			return err
		}
	}
	positions := make([]schemas.Position, len(runs))
	for i, run := range runs {
		positions[i] = run.Position()
	}
	rec := &t.resp.Record
	err := t.segment.ViewAt(t.Ctx, positions, func(_ int, v *segment.View) error {
		rec.Looked++
		code, err := t.exitCode(v)
		switch {
		case err != nil || code == nil:
		case *code == 0:
			rec.OK++
		default:
			rec.Failed++
		}
		return err
	})
	t.Step(query.Step{Operator: "runs", Counts: map[string]int64{"runs": int64(rec.Runs), "looked": int64(rec.Looked), "ok": int64(rec.OK), "failed": int64(rec.Failed)}})
	t.RecordTime("runs")
	return err
}

// failure finds, for a command that failed, what led to that and what fixed it.
func (t *around) failure() error {
	root := &t.resp.Root
	if root.ExitCode == nil || *root.ExitCode == 0 {
		return nil
	}
	why, err := Why(t.Ctx, t.s, WhyRequest{Ref: root.Position.String(), Limit: t.r.Limit})
	if err != nil {
		return err
	}
	for _, c := range why.Causes {
		t.resp.Causes = append(t.resp.Causes, ask.Reason{Intent: c.Intent, Why: c.Why})
	}
	t.resp.Fixes = why.Fixes
	t.Proof = append(t.Proof, why.Proof...)
	t.RecordTime("why")
	return nil
}
