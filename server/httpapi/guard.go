package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// requestID returns the client's request id if it is short and plain, else a random one.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	plain := id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
	if plain {
		return id
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// statusWriter records the status and size of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *statusWriter) WriteHeader(code int) {
	if w.status == 0 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach Flush and the deadlines.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// guard wraps the routes. It assigns the request id, recovers from panics, measures, and checks
// host, origin, token and the principal's permission for the operation.
func guard(next *http.ServeMux, o Options, m *metrics) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r)
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		w := &statusWriter{ResponseWriter: rw}
		w.Header().Set(requestIDHeader, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		_, route := next.Handler(r)
		if route == "" {
			route = "none"
		}
		m.inFlight.Inc()
		defer func() {
			m.inFlight.Dec()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p)
				}
				m.panics.Inc()
				o.Log.Error("http handler panicked", "request", id, "route", route, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				if w.status == 0 {
					problem(w, http.StatusInternalServerError, "a bug in the handler; for details see the server's log, request "+id)
				} else {
					// Part of the answer has been sent and cannot be corrected: cut the connection,
					// so that the client does not take the answer as complete.
					defer panic(http.ErrAbortHandler)
				}
			}
			m.observe(route, w.status, time.Since(start))
			o.Log.Debug("http request", "request", id, "route", route, "status", w.status, "bytes", w.bytes, "took", time.Since(start))
		}()
		pattern := route
		if pattern == "none" {
			pattern = "/"
		}
		p, refusal := o.Admit(r, pattern)
		if refusal != nil {
			refuse(w, refusal)
			return
		}
		r = r.WithContext(access.NewContext(r.Context(), p))
		liftDeadline(w, r)
		next.ServeHTTP(w, r)
	})
}

// refuse answers a request that is not admitted.
func refuse(w http.ResponseWriter, refusal *access.AuthError) {
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="recount"`)
	}
	if refusal.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "2")
	}
	problem(w, refusal.Status, refusal.Why)
}

var sameOrigin = http.NewCrossOriginProtection()

// Admit returns the principal of a request for an operation, or why it is refused: the Host header
// is not a name of this server, the request comes from a web page of another origin, the token is
// missing or invalid, or the principal may not use the operation (package access).
func (o Options) Admit(r *http.Request, operation string) (schemas.Principal, *access.AuthError) {
	nobody := schemas.Principal{}
	if !o.hostAllowed(r.Host) {
		return nobody, &access.AuthError{
			Status: http.StatusMisdirectedRequest,
			Why:    fmt.Sprintf("host %q: not a name of this server; use a loopback address, or list the name under http.hosts", r.Host),
		}
	}
	// A page of another origin can send a simple request without a preflight; it must not write
	// here.
	if err := sameOrigin.Check(r); err != nil {
		return nobody, &access.AuthError{Status: http.StatusForbidden, Why: "a request from a web page of another origin: " + err.Error()}
	}
	return o.admitted(r, operation)
}

// liftDeadline removes the read deadline once the request has been read. The server continues to
// read while it answers, to notice a client that disconnects, and takes an expired deadline for a
// disconnect: it would cancel the context of every answer that takes longer than the deadline.
func liftDeadline(w http.ResponseWriter, r *http.Request) {
	lift := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }
	if r.Body == nil || r.Body == http.NoBody {
		lift()
		return
	}
	r.Body = &liftingBody{r.Body, lift}
}

type liftingBody struct {
	io.ReadCloser
	lift func()
}

func (b *liftingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.lift()
	}
	return n, err
}

// hostAllowed refuses requests that a web page sends by making its own name resolve to this address
// (DNS rebinding): those carry the page's host name.
func (o Options) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(o.Hosts, host) {
		return true
	}
	// An IP address cannot be rebound, because it is not resolved.
	_, err := netip.ParseAddr(host)
	return err == nil
}

// discard is the default logger.
var discard = slog.New(slog.DiscardHandler)
