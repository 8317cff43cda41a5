package runtime

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/recountdb/recount/projections"
	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Sources are what questions about what runs are asked of.
type Sources struct {
	// Set holds the projection runtime. Required.
	Set *projections.Set
	// Code is what it is joined with.
	Code code.Sources
	// Commands are where deploys and other commands are looked for.
	Commands commands.Sources
	// Event reads an event from the log, for a trace's spans.
	Event func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
	// Observe understands the spans of an event as the log's processor does.
	Observe func(ctx context.Context, lr schemas.LogRecord) (*recountv1.SpanBatch, error)
	// Since is when spans begin to be known, as those before were given up; zero where
	// none were.
	Since time.Time
	// SumsSince is when sums of spans begin to be known; zero where none were given up.
	SumsSince time.Time
	// Services say of which repository a service is: REPOSITORY, or REPOSITORY:FOLDER.
	Services map[string]string
	// Now is the clock; nil means time.Now. Spans dated later do not move the moment that
	// is now.
	Now func() time.Time
}

func (s Sources) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Window says of which spans a question is asked, and when.
type Window struct {
	From    time.Time         `json:"from,omitzero" example:"2026-11-20T12:00:00Z" doc:"Only what happened at this time or later, by the spans' own time, to the minute; of ranges that are longer than a day, and of spans that retention removed, to the hour."`
	To      time.Time         `json:"to,omitzero" example:"2026-11-21T12:00:00Z" doc:"Only what happened before this time."`
	At      time.Time         `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The moment that is now: confidence counts the seven days before it. Without it the time of the newest span, or of the clock where that span is dated later."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.spans/0:42" doc:"Wait until everything below these offsets is visible: read your writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"How long at_least may wait, in milliseconds."`
}

// Limits of requests. They are part of the API.
const (
	DefaultLimit = 50
	MaxLimit     = 10_000
)

func (w Window) check() error {
	switch {
	case !w.From.IsZero() && !w.To.IsZero() && !w.From.Before(w.To):
		return &query.RequestError{Field: "from", Value: w.From.Format(time.RFC3339), Reason: "not before to, so that nothing can match"}
	}
	if t := w.At; !t.IsZero() && (t.Year() < 1678 || t.Year() > 2261) {
		return &query.RequestError{Field: "at", Value: t.Format(time.RFC3339), Reason: "want a year from 1678 to 2261"}
	}
	return query.CheckWait(w.WaitMS)
}

func checkLimit(n int) error { return query.CheckLimit(n, MaxLimit) }

// session is one question about what runs while it is answered.
type session struct {
	query.Session[query.Step]
	s    Sources
	view *observed.View

	w Window
	// within is the range that was asked for, at the moment that is now.
	within observed.Range
	at     time.Time

	code *code.Codebase // nil until it is asked for
}

// open opens a view, once at_least is visible. An error is a
// *query.NotVisibleError, the context's, or the projection's.
func (s Sources) open(ctx context.Context, w Window) (*session, error) {
	base, err := query.Begin[query.Step](ctx, s.Set, w.AtLeast, w.WaitMS)
	if err != nil {
		return nil, err
	}
	a := &session{Session: base, s: s, w: w}
	p, err := a.Acquire(s.Set, observed.Name)
	if err != nil {
		return nil, err
	}
	if a.view, err = p.(*observed.Runtime).View(); err != nil {
		a.Close()
		return nil, err
	}
	a.OnClose(a.view.Close)
	a.Visible = a.view.Watermark()
	a.at = w.At
	if a.at.IsZero() {
		if _, last := a.view.Bounds(); last != 0 {
			// One clock that is wrong shall not decide what is recent for all.
			a.at = time.Unix(0, min(last, s.now().UnixNano())).UTC()
		}
	}
	a.within = a.bounded(w)
	a.Step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.Visible.String()}})
	return a, nil
}

// bounded is a window's range. Where it leaves an end open, what was seen bounds it.
func (a *session) bounded(w Window) (r observed.Range) {
	if w.From.IsZero() && w.To.IsZero() {
		return r
	}
	first, last := a.view.Bounds()
	r = observed.Range{From: first, To: last + 1}
	if !w.From.IsZero() {
		r.From = bound(w.From)
	}
	if !w.To.IsZero() {
		r.To = bound(w.To)
	}
	return observed.Range{From: min(r.From, r.To), To: r.To}
}

// bound is a time as the end of a range, with room to widen the range to whole days.
func bound(t time.Time) int64 {
	const room = int64(48 * time.Hour)
	return min(max(schemas.UnixNano(t), math.MinInt64+room), math.MaxInt64-room)
}

// codebase opens the codebase, once, and says in the proof what it is.
func (a *session) codebase() (*code.Codebase, error) {
	if a.code != nil {
		return a.code, nil
	}
	c, err := code.OpenCodebase(a.Ctx, a.s.Code)
	if err != nil {
		return nil, err
	}
	a.code = c
	a.OnClose(c.Close)
	a.rest(c.Visible())
	a.Proof = append(a.Proof, c.Steps()...)
	a.RecordTime("code")
	return c, nil
}

// rest adds to what the answer rests on.
func (a *session) rest(w schemas.Watermark) {
	both := schemas.Watermark{}
	for tp, next := range w {
		both[tp] = next
	}
	for tp, next := range a.Visible { // of one partition, the one that was read first
		both[tp] = next
	}
	a.Visible = both
}

// basis returns the basis of an answer.
func (a *session) basis(empty bool, hint string, filters ...query.AppliedFilter) query.Basis {
	if since := a.s.Since; !since.IsZero() && (a.w.From.IsZero() || a.w.From.Before(since)) {
		retained := "spans are known since " + since.UTC().Format(time.RFC3339) + ": retention removed what came before, "
		switch sums := a.s.SumsSince; {
		case !sums.Before(since):
			retained += "with its sums"
		case sums.IsZero():
			retained += "of which there are sums by the hour"
		default:
			retained += "of which there are sums by the hour, since " + sums.UTC().Format(time.RFC3339)
		}
		hint = strings.TrimPrefix(hint+"; "+retained, "; ")
	}
	return query.BasisOf(&a.Session, empty, hint, append(a.filters(), filters...))
}

// unknownTrace says why a trace may be unknown.
func (s Sources) unknownTrace() string {
	if s.Since.IsZero() {
		return "no span of that trace has come in"
	}
	return "no span of that trace is known; retention removed those that came in before " + s.Since.UTC().Format(time.RFC3339)
}

// filters are the window as it was applied.
func (a *session) filters() []query.AppliedFilter {
	all := []query.AppliedFilter{}
	for _, f := range []struct {
		field, op string
		t         time.Time
	}{{"from", "ge", a.w.From}, {"to", "lt", a.w.To}, {"at", "eq", a.at}} {
		if !f.t.IsZero() {
			all = append(all, query.AppliedFilter{Field: f.field, Op: f.op, Value: f.t.UTC().Format(time.RFC3339Nano)})
		}
	}
	return all
}

// nothing says why an answer is empty.
func (a *session) nothing() string {
	first, last := a.view.Bounds()
	if last == 0 {
		return "no spans have come in: send OTLP to recount up, or recount import otlp FILE"
	}
	return fmt.Sprintf("no span matches; spans are known from %s to %s", moment(first), moment(last))
}

func moment(unixNano int64) string { return time.Unix(0, unixNano).UTC().Format(time.RFC3339) }

// kindName is a kind in requests and answers: "rpc".
func kindName(k recountv1.RuntimeKind) string {
	if k == recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED {
		return "work"
	}
	return strings.ToLower(strings.TrimPrefix(k.String(), "RUNTIME_KIND_"))
}
