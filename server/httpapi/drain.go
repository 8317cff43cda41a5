package httpapi

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// What is read of a body that is refused, to be thrown away. Most clients read no answer
// before they have sent all; one whose connection is closed meanwhile is told of a reset,
// and sends the same again.
const (
	drainBytes = 80 << 20
	drainWait  = 10 * time.Second
	drainers   = 16
)

// Drained has a handler's refusals wait until the client has sent its body, within bounds:
// of a larger one, or with many under way, the connection is closed as net/http does.
func Drained(next http.Handler) http.Handler {
	var under atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r) // HTTP/2 ends a stream, not the connection
			return
		}
		body := &countedBody{ReadCloser: r.Body}
		r = r.WithContext(r.Context()) // net/http looks at its own for Expect
		r.Body = body
		d := &drainingWriter{ResponseWriter: w}
		d.drain = func() {
			waits := strings.EqualFold(r.Header.Get("Expect"), "100-continue") && body.n.Load() == 0
			if waits || r.ContentLength > drainBytes {
				return // it asks before it sends, or is beyond the bound
			}
			if under.Add(1) <= drainers {
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainWait))
				_, _ = io.CopyN(io.Discard, body.ReadCloser, drainBytes)
			}
			under.Add(-1)
		}
		next.ServeHTTP(d, r)
	})
}

// countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	n atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

// Close leaves the body to be drained; net/http closes its own.
func (b *countedBody) Close() error { return nil }

// drainingWriter drains the body before an answer that refuses it.
type drainingWriter struct {
	http.ResponseWriter
	drain func()
	wrote bool
}

func (d *drainingWriter) WriteHeader(code int) {
	if !d.wrote && code >= 400 {
		d.drain()
	}
	d.wrote = d.wrote || code >= 200
	d.ResponseWriter.WriteHeader(code)
}

func (d *drainingWriter) Write(b []byte) (int, error) {
	d.wrote = true
	return d.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach flush and deadlines.
func (d *drainingWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }
