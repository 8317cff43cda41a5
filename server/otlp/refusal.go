package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

// refusal is the reason why an export is refused, and whether a retry may succeed.
type refusal struct {
	kind  refusalKind
	why   string
	after time.Duration // delay before a retry, 0 if a retry cannot succeed
}

func (r *refusal) Error() string { return r.why }

// refusalKind is the status of a refusal in both protocols.
type refusalKind struct {
	code codes.Code
	http int
}

var (
	badData     = refusalKind{codes.InvalidArgument, http.StatusBadRequest}
	badToken    = refusalKind{codes.Unauthenticated, http.StatusUnauthorized}
	notYours    = refusalKind{codes.PermissionDenied, http.StatusForbidden}
	tooLarge    = refusalKind{codes.ResourceExhausted, http.StatusRequestEntityTooLarge} // without RetryInfo: clients must not retry
	overloaded  = refusalKind{codes.Unavailable, http.StatusServiceUnavailable}
	unavailable = refusalKind{codes.Unavailable, http.StatusServiceUnavailable}
	gone        = refusalKind{codes.Canceled, 499}
	late        = refusalKind{codes.DeadlineExceeded, http.StatusGatewayTimeout}
	onlyTraces  = refusalKind{codes.Unimplemented, http.StatusNotFound}
	bug         = refusalKind{codes.Internal, http.StatusInternalServerError}
)

// The delays before a retry.
const (
	afterOverload = time.Second
	afterOutage   = 5 * time.Second
)

// tooSlow refuses a request that stalled while others waited for its memory.
func tooSlow() *refusal {
	return &refusal{kind: overloaded, why: "overloaded: the request did not arrive while others waited; send it again", after: afterOverload}
}

// arrivedLate refuses a request that did not arrive within limit.
func arrivedLate(limit time.Duration) *refusal {
	return &refusal{kind: late, why: "the request did not arrive within " + limit.String() + "; send it again", after: afterOverload}
}

// notAdmitted converts a refusal of the gate.
func notAdmitted(no *access.AuthError) *refusal {
	code := badToken.code
	switch no.Status {
	case http.StatusForbidden:
		code = notYours.code
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		code = unavailable.code
	}
	r := &refusal{kind: refusalKind{code, no.Status}, why: no.Why}
	if no.Status == http.StatusTooManyRequests {
		r.after = afterOutage
	}
	return r
}

// notStored converts an error of Append. Only events that can never be stored are refused for good:
// if the log has failed, a restart can recover it.
func (r *Receiver) notStored(ctx context.Context, err error) *refusal {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &refusal{kind: gone, why: "the client disconnected"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &refusal{kind: late, why: "not durable within the client's deadline", after: afterOverload}
	case errors.Is(err, schemas.ErrPoison):
		return &refusal{kind: badData, why: "the spans cannot be stored: " + err.Error()}
	}
	r.o.Log.Warn("spans were not stored: asked the sender to send them again", "err", err)
	return &refusal{kind: unavailable, why: "the spans were not stored: send them again: " + err.Error(), after: afterOutage}
}

func tooLargeFor(limit int) *refusal {
	return &refusal{kind: tooLarge, why: fmt.Sprintf("the decompressed request is larger than %d bytes; nothing was stored; send fewer spans at once (OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector)", limit)}
}

// notTraces returns the refusal of another signal, which names the setting that switches it off.
func notTraces(what, signal string) *refusal {
	return &refusal{kind: onlyTraces, why: fmt.Sprintf("%s: only traces are accepted here; switch the exporter for %s off (OTEL_%s_EXPORTER=none) or send it elsewhere", what, signal, envName[signal])}
}

var envName = map[string]string{"metrics": "METRICS", "logs": "LOGS", "profiles": "PROFILES"}

// status returns the refusal as a gRPC status, which OTLP over HTTP uses too.
func (r *refusal) status() *status.Status {
	s := status.New(r.kind.code, r.why)
	if r.after > 0 {
		if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.after)}); err == nil {
			return with
		}
	}
	return s
}

// refused returns err as a refusal; any other error is an internal one.
func refused(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return &refusal{kind: bug, why: err.Error()}
}
