package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// The defaults of Options.
const (
	DefaultMaxRequest     = 16 << 20
	DefaultMaxInFlight    = 64 << 20
	DefaultPatience       = 2 * time.Second
	DefaultReceiveTimeout = 30 * time.Second
)

// Options configure a Receiver.
type Options struct {
	// Append stores events and returns when they are durable. Required.
	Append func(ctx context.Context, events []schemas.Event) ([]api.Appended, error)
	// Split converts exports to events. Required.
	Split spans.Splitter
	// Gate authenticates senders by the token in Authorization: Bearer. The operator and tokens
	// with the grant ingest may send spans. If it is nil, no token is needed.
	Gate *access.Gate
	// Hosts lists the names besides localhost that the Host header of an HTTP request may have, in
	// lower case.
	Hosts []string
	// MaxRequest is the maximum size of a request in bytes, decompressed; 0 is DefaultMaxRequest.
	MaxRequest int
	// MaxInFlight is the maximum number of bytes of all requests together, each counted from when
	// it is read until it is durable; 0 is DefaultMaxInFlight. It is raised to MaxRequest.
	MaxInFlight int64
	// Patience is the maximum time that a request waits for memory; 0 is DefaultPatience.
	Patience time.Duration
	// ReceiveTimeout is the maximum time for a request to arrive once memory is reserved for it; 0 is
	// DefaultReceiveTimeout.
	ReceiveTimeout time.Duration
	// Log gets the stacks of panics, spans that cannot be stored, and at debug level refused spans;
	// nil discards them.
	Log *slog.Logger
	// Registry registers the metrics; nil registers them nowhere.
	Registry prometheus.Registerer
}

// Receiver receives exports of spans. Its gRPC server and its HTTP handler share one memory limit.
type Receiver struct {
	o       Options
	room    *room
	metrics *metrics
}

// New returns a receiver.
func New(o Options) *Receiver {
	if o.MaxRequest == 0 {
		o.MaxRequest = DefaultMaxRequest
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	o.MaxInFlight = max(o.MaxInFlight, int64(o.MaxRequest))
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.ReceiveTimeout == 0 {
		o.ReceiveTimeout = DefaultReceiveTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Receiver{o: o, room: newRoom(o.MaxInFlight, o.Patience)}
	r.metrics = newMetrics(o.Registry, r.room)
	return r
}

// accepted is the result of an export: the number of refused spans and the reason.
type accepted struct {
	refused int
	problem string // of the first refused span
}

// export stores an ExportTraceServiceRequest and returns once its spans are durable.
func (r *Receiver) export(ctx context.Context, b []byte) (a accepted, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error("receiving spans panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &refusal{kind: bug, why: "a bug in the receiver; the server's log has the stack trace"}
		}
	}()
	res, err := r.o.Split.SplitContext(ctx, b)
	if ctx.Err() != nil {
		return a, r.notStored(ctx, ctx.Err())
	}
	if err != nil {
		return a, &refusal{kind: badData, why: "the request is not an ExportTraceServiceRequest: " + err.Error()}
	}
	if len(res.Events) > 0 {
		if _, err := r.o.Append(ctx, res.Events); err != nil {
			return a, r.notStored(ctx, err)
		}
	}
	r.metrics.spans.WithLabelValues("accepted").Add(float64(res.Spans - res.Refused))
	if res.Refused == 0 {
		return a, nil
	}
	r.metrics.spans.WithLabelValues("refused").Add(float64(res.Refused))
	a = accepted{res.Refused, res.Problem}
	if res.Refused > 1 {
		a.problem = fmt.Sprintf("%d of %d spans; the first: %s", res.Refused, res.Spans, res.Problem)
	}
	r.o.Log.Debug("spans refused", "refused", res.Refused, "of", res.Spans)
	return a, nil
}
