package code

import (
	"context"
	"strconv"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// RuntimeWindow asks also for the callers seen at run time, by spans.
type RuntimeWindow struct {
	From time.Time `json:"from,omitzero" example:"2026-11-20T12:00:00Z" doc:"Only calls at this time or later, by the spans' own time."`
	To   time.Time `json:"to,omitzero" example:"2026-11-21T12:00:00Z" doc:"Only calls before this time."`
	At   time.Time `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now: confidence counts the seven days before it. Default: the time of the newest span."`
}

func (r *RuntimeWindow) check() error {
	if r != nil && !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return &query.RequestError{Field: "runtime.from", Value: r.From.Format(time.RFC3339), Reason: "not before to, so nothing can match"}
	}
	return nil
}

// RuntimeUse has the callers seen at run time.
type RuntimeUse struct {
	Callers   []RuntimeCaller `json:"callers" nullable:"false" doc:"The callers, by distance, then by number of calls."`
	Total     int             `json:"total" example:"2" doc:"Total number of callers."`
	Truncated int             `json:"truncated" example:"0" doc:"The number of them left out of the list."`
	Hint      string          `json:"hint,omitempty" doc:"Why there are no callers."`
}

// RuntimeCaller is a service that calls an operation whose handler reaches the queried symbol.
type RuntimeCaller struct {
	Caller    string    `json:"caller,omitempty" example:"web" doc:"The calling service; empty if it sends no spans."`
	Service   string    `json:"service" example:"carts" doc:"The called service."`
	Kind      string    `json:"kind" example:"rpc" doc:"The kind of call."`
	Operation string    `json:"operation" example:"shop.v1.Carts/GetCart" doc:"The called operation."`
	Handler   Symbol    `json:"handler" doc:"The code that handles it."`
	Distance  int       `json:"distance" example:"2" doc:"The distance in code edges from the handler to the queried symbol; 0 if the handler is that symbol."`
	Count     uint64    `json:"count" example:"1402" doc:"The number of calls."`
	Errors    uint64    `json:"errors" example:"14" doc:"The number of calls that failed."`
	Last      time.Time `json:"last" doc:"The time of the last call."`
	Trace     string    `json:"trace,omitempty" example:"5b8efff798038103d269b633813fc60c" doc:"The id of one of the traces."`
	// Confidence is whether it is called now; Sure is whether this code handles the operation.
	Confidence float64 `json:"confidence" example:"0.95" doc:"Confidence that the call still happens, from how often and how recently it was seen in the seven days before at."`
	Rule       string  `json:"rule" example:"rpc" doc:"The rule that joined the operation to the code."`
	Sure       float64 `json:"code_confidence" example:"0.9" doc:"Confidence of that rule, multiplied with the confidence of the path from the handler."`
}

// Place identifies a node in every snapshot that has it.
type Place struct {
	Repo string
	Key  schemas.NodeKey
}

// Reached describes how a walk reached a node.
type Reached struct {
	Distance   int
	Confidence float64
}

// Running returns the run-time callers of reached nodes. visible and steps are added to the
// answer's watermark and proof.
type Running func(ctx context.Context, w RuntimeWindow, of map[Place]Reached, limit int) (use RuntimeUse, visible schemas.Watermark, steps []query.Step, err error)

// running returns the run-time callers of what a walk reached, or nil if they were not requested.
func (a *session) running(r *RuntimeWindow, w *world, all []reached, limit int) (*RuntimeUse, error) {
	if r == nil {
		return nil, nil
	}
	if a.s.Running == nil {
		return &RuntimeUse{Callers: []RuntimeCaller{}, Hint: "this process keeps no spans"}, nil
	}
	of := make(map[Place]Reached, len(all))
	for _, x := range all {
		g := w.graphs[x.g]
		of[Place{g.repo, g.keys[x.n]}] = Reached{int(x.depth), confidence(x.confidence)}
	}
	use, visible, steps, err := a.s.Running(a.Ctx, *r, of, limit)
	if err != nil {
		return nil, err
	}
	both := schemas.Watermark{}
	for _, w := range []schemas.Watermark{visible, a.Visible} {
		for tp, next := range w {
			both[tp] = next
		}
	}
	a.Visible = both
	a.Proof = append(a.Proof, steps...)
	a.RecordTime("runtime")
	return &use, nil
}

// runtimeFilters describes which spans were counted.
func runtimeFilters(r *RuntimeWindow) []query.AppliedFilter {
	if r == nil {
		return nil
	}
	all := []query.AppliedFilter{{Field: "runtime", Op: "eq", Value: strconv.FormatBool(true)}}
	for _, f := range []struct {
		field, op string
		t         time.Time
	}{{"runtime.from", "ge", r.From}, {"runtime.to", "lt", r.To}, {"runtime.at", "eq", r.At}} {
		if !f.t.IsZero() {
			all = append(all, query.AppliedFilter{Field: f.field, Op: f.op, Value: f.t.UTC().Format(time.RFC3339Nano)})
		}
	}
	return all
}
