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

// Sources are the data that questions about a running system are answered from.
type Sources struct {
	// Set has the projection runtime. Required.
	Set *projections.Set
	// Code is the code that operations are joined with.
	Code code.Sources
	// Commands is where deploys and other commands are searched for.
	Commands commands.Sources
	// Event reads an event from the log, for a trace's spans.
	Event func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
	// Events calls fn with the events at some positions, those of a partition in order, and leaves out those
	// that are gone. It ends with the first error of fn.
	Events func(ctx context.Context, at []schemas.Position, fn func(schemas.LogRecord) error) error
	// Observe interprets the spans of an event as the log's processor does.
	Observe func(ctx context.Context, lr schemas.LogRecord) (*recountv1.SpanBatch, error)
	// Since is the time since which spans are kept, because retention removed earlier ones; zero if
	// it removed none.
	Since time.Time
	// SumsSince is the time since which sums of spans are kept; zero if none were removed.
	SumsSince time.Time
	// Services maps a service to its repository: REPOSITORY, or REPOSITORY:FOLDER.
	Services map[string]string
	// Now is the clock; nil means time.Now. Spans dated later do not move the moment that counts as
	// now.
	Now func() time.Time
}

func (s Sources) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Window selects the spans of a query, and the moment that counts as now.
type Window struct {
	From    time.Time         `json:"from,omitzero" example:"2026-11-20T12:00:00Z" doc:"Only what happened at this time or later, by the spans' own time. The resolution is a minute; for ranges longer than a day, and for spans removed by retention, an hour."`
	To      time.Time         `json:"to,omitzero" example:"2026-11-21T12:00:00Z" doc:"Only what happened before this time."`
	At      time.Time         `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now: confidence counts the seven days before it. Default: the time of the newest span, or the clock if that span is dated later."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.spans/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// These are the limits of requests. They are part of the API.
const (
	DefaultLimit = 50
	MaxLimit     = 10_000
)

func (w Window) check() error {
	if !w.From.IsZero() && !w.To.IsZero() && !w.From.Before(w.To) {
		return &query.RequestError{Field: "from", Value: w.From.Format(time.RFC3339), Reason: "not before to, so nothing can match"}
	}
	if t := w.At; !t.IsZero() && (t.Year() < 1678 || t.Year() > 2261) {
		return &query.RequestError{Field: "at", Value: t.Format(time.RFC3339), Reason: "want a year from 1678 to 2261"}
	}
	return query.CheckWait(w.WaitMS)
}

func checkLimit(n int) error { return query.CheckLimit(n, MaxLimit) }

// session is the state of one query.
type session struct {
	query.Session[query.Step]
	s    Sources
	view *observed.View

	w Window
	// within is the requested range; at is the moment that counts as now.
	within observed.Range
	at     time.Time

	code *code.Codebase // nil until it is needed
	// usual are the sums that were asked for last, of the called and of the calling sides.
	usual map[recountv1.Side]*usualSums
}

// windowed is what a question asks within a window.
type windowed interface {
	check() error
	window() Window
}

func (w Window) window() Window { return w }

// open checks a request and opens a view once at_least is visible. An error is a
// *query.RequestError, a *query.NotVisibleError, that of ctx, or that of the projection.
func (s Sources) open(ctx context.Context, r windowed) (*session, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	w := r.window()
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
			// A single wrong clock must not decide what is recent for all.
			a.at = time.Unix(0, min(last, s.now().UnixNano())).UTC()
		}
	}
	a.within = a.bounded(w)
	a.Step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.Visible.String()}})
	return a, nil
}

// bounded returns a window's range. Open ends are limited to what was seen.
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

// bound returns a time as the end of a range, clamped so that the range can be widened to whole
// days.
func bound(t time.Time) int64 {
	const room = int64(48 * time.Hour)
	return min(max(schemas.UnixNano(t), math.MinInt64+room), math.MaxInt64-room)
}

// codebase opens the codebase once, and adds its steps to the proof.
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

// rest adds a watermark to that of the answer.
func (a *session) rest(w schemas.Watermark) {
	both := schemas.Watermark{}
	for tp, next := range w {
		both[tp] = next
	}
	for tp, next := range a.Visible { // for a partition in both, the one read first counts
		both[tp] = next
	}
	a.Visible = both
}

// basis returns the basis of an answer.
func (a *session) basis(empty bool, hint string, filters ...query.AppliedFilter) query.Basis {
	if since := a.s.Since; !since.IsZero() && (a.w.From.IsZero() || a.w.From.Before(since)) {
		retained := "spans are known since " + since.UTC().Format(time.RFC3339) + ": retention removed earlier ones "
		switch sums := a.s.SumsSince; {
		case !sums.Before(since):
			retained += "with their sums"
		case sums.IsZero():
			retained += "and kept hourly sums"
		default:
			retained += "and kept hourly sums since " + sums.UTC().Format(time.RFC3339)
		}
		hint = strings.TrimPrefix(hint+"; "+retained, "; ")
	}
	return query.BasisOf(&a.Session, empty, hint, append(a.filters(), filters...))
}

// unknownTrace returns the reason why a trace may be unknown.
func (s Sources) unknownTrace() string {
	if s.Since.IsZero() {
		return "no span of that trace was received"
	}
	return "no span of that trace is known; retention removed those received before " + s.Since.UTC().Format(time.RFC3339)
}

// filters returns the window as it was applied.
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

// nothing returns the reason why an answer is empty.
func (a *session) nothing() string {
	first, last := a.view.Bounds()
	if last == 0 {
		return "no spans were received yet: send OTLP to recount up, or run recount import otlp FILE"
	}
	return fmt.Sprintf("no span matches; spans are known from %s to %s", moment(first), moment(last))
}

func moment(unixNano int64) string { return time.Unix(0, unixNano).UTC().Format(time.RFC3339) }

// kindName returns the name of a kind in requests and answers, such as "rpc".
func kindName(k recountv1.RuntimeKind) string {
	if k == recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED {
		return "work"
	}
	return strings.ToLower(strings.TrimPrefix(k.String(), "RUNTIME_KIND_"))
}
