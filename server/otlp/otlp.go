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

// Defaults of Options.
const (
	DefaultMaxRequest  = 16 << 20
	DefaultMaxInFlight = 64 << 20
	DefaultPatience    = 2 * time.Second
)

// Options are how spans are received.
type Options struct {
	// Append stores events and returns when they are durable. Required.
	Append func(ctx context.Context, events []schemas.Event) ([]api.Appended, error)
	// Split makes events of exports. Required.
	Split spans.Splitter
	// Gate says who sends, by the token in Authorization: Bearer. Only the operator may
	// send spans; nil asks for no token.
	Gate *access.Gate
	// Hosts are names besides localhost that the Host header of HTTP may have, lower
	// case.
	Hosts []string
	// MaxRequest bounds a request in bytes, decompressed; 0 is DefaultMaxRequest.
	MaxRequest int
	// MaxInFlight bounds the bytes of all requests from when they are read until they
	// are durable; 0 is DefaultMaxInFlight. At least MaxRequest.
	MaxInFlight int64
	// Patience is how long a request waits for room; 0 is DefaultPatience.
	Patience time.Duration
	// Log gets the stacks of panics, what cannot be stored, and at debug level what is
	// refused; nil is silence.
	Log *slog.Logger
	// Registry is where the metrics go; nil keeps them nowhere.
	Registry prometheus.Registerer
}

// Receiver takes exports of spans. It is what both doors share.
type Receiver struct {
	o       Options
	room    *room
	metrics *metrics
}

// New makes a receiver.
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
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Receiver{o: o, room: newRoom(o.MaxInFlight, o.Patience)}
	r.metrics = newMetrics(o.Registry, r.room)
	return r
}

// accepted is what became of an export.
type accepted struct {
	refused int
	problem string // of the first
}

// export takes an ExportTraceServiceRequest and returns when its spans are durable.
func (r *Receiver) export(ctx context.Context, b []byte) (a accepted, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error("receiving spans panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &refusal{kind: bug, why: "a bug in the receiver: its log has the stack"}
		}
	}()
	res, err := r.o.Split.SplitContext(ctx, b)
	if ctx.Err() != nil {
		return a, r.notStored(ctx, ctx.Err())
	}
	if err != nil {
		return a, &refusal{kind: badData, why: "the request is no ExportTraceServiceRequest: " + err.Error()}
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
