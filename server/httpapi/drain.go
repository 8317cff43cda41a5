package httpapi

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// The limits for reading and discarding the body of a refused request. Most HTTP/1 clients do not
// read an answer before they have sent the whole body. If the server closed the connection
// meanwhile, they would see a reset instead of the answer, and would retry the same request.
const (
	drainBytes = 80 << 20
	drainWait  = 10 * time.Second
	drainers   = 16
)

// Drained wraps a handler so that an answer with an error status first reads the rest of the
// request's body: at most drainBytes, for at most drainWait, and for at most drainers requests at
// once. Beyond these limits the connection is closed, as net/http does.
func Drained(next http.Handler) http.Handler {
	var under atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r) // HTTP/2 ends the stream, not the connection
			return
		}
		body := &countedBody{ReadCloser: r.Body}
		r = r.WithContext(r.Context()) // net/http checks its own body for Expect
		r.Body = body
		d := &drainingWriter{ResponseWriter: w}
		d.drain = func() {
			waits := strings.EqualFold(r.Header.Get("Expect"), "100-continue") && body.n.Load() == 0
			if waits || r.ContentLength > drainBytes {
				return // the client waits for permission to send, or the body exceeds the limit
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

// countedBody counts the bytes read from a body.
type countedBody struct {
	io.ReadCloser
	n atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

// Close does nothing, so that the body can still be drained; net/http closes it later.
func (b *countedBody) Close() error { return nil }

// drainingWriter drains the request's body before an answer with an error status.
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

// Unwrap lets http.ResponseController reach Flush and the deadlines.
func (d *drainingWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }
