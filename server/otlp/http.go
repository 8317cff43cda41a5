package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
)

// The media types of OTLP over HTTP.
const (
	mediaProto = "application/x-protobuf"
	mediaJSON  = "application/json"
)

// jsonWeight is the memory that decoding a JSON request takes, as a multiple of the request's size.
const jsonWeight = 8

// HTTP returns the handler of OTLP over HTTP.
func (r *Receiver) HTTP() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", r.httpExport)
	mux.HandleFunc("/v1/traces", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		r.answer(w, req, nil, &refusal{kind: refusalKind{onlyTraces.code, http.StatusMethodNotAllowed}, why: req.Method + " /v1/traces: want POST"}, time.Now())
	})
	for signal := range envName {
		for _, path := range []string{"/v1/" + signal, "/v1development/" + signal} {
			mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) {
				r.answer(w, req, nil, notTraces(path, signal), time.Now())
			})
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		r.answer(w, req, nil, &refusal{kind: onlyTraces, why: fmt.Sprintf("no endpoint %s %.200q here: send spans to POST /v1/traces", req.Method, req.URL.Path)}, time.Now())
	})
	admission := httpapi.Options{Gate: r.o.Gate, Hosts: r.o.Hosts}
	return httpapi.Drained(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if _, no := admission.Admit(req, access.Spans); no != nil {
			if no.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="recount"`)
			}
			r.answer(w, req, nil, notAdmitted(no), time.Now())
			return
		}
		mux.ServeHTTP(w, req)
	}))
}

func (r *Receiver) httpExport(w http.ResponseWriter, req *http.Request) {
	start := time.Now()
	a, err := func() (accepted, error) {
		ctx := req.Context()
		s, err := r.room.take(ctx, firstGuess(req, r.o.MaxRequest))
		if err != nil {
			return accepted{}, err
		}
		defer s.leave()
		b, err := r.read(w, req, s)
		if err != nil {
			return accepted{}, err
		}
		if mediaOf(req) == mediaJSON {
			if err := s.grow(ctx, jsonWeight*int64(len(b))); err != nil {
				return accepted{}, err
			}
			if b, err = spans.FromJSON(b); err != nil {
				return accepted{}, &refusal{kind: badData, why: "the request is not an ExportTraceServiceRequest: " + err.Error()}
			}
		}
		s.shrink(int64(len(b)))
		return r.export(ctx, b)
	}()
	r.answer(w, req, &a, err, start)
}

// firstGuess returns the memory in bytes to reserve for a request before it is read.
func firstGuess(req *http.Request, limit int) int64 {
	if req.ContentLength < 0 {
		return firstShare
	}
	return min(req.ContentLength, int64(limit))
}

// read returns a request's body, decompressed.
func (r *Receiver) read(w http.ResponseWriter, req *http.Request, s *share) ([]byte, error) {
	if media := mediaOf(req); media != mediaProto && media != mediaJSON {
		return nil, &refusal{kind: refusalKind{badData.code, http.StatusUnsupportedMediaType}, why: fmt.Sprintf("Content-Type %.100q: want %s or %s", req.Header.Get("Content-Type"), mediaProto, mediaJSON)}
	}
	if req.ContentLength > int64(r.o.MaxRequest) {
		w.Header().Set("Connection", "close") // rather than read it all
		return nil, tooLargeFor(r.o.MaxRequest)
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(r.o.ReceiveTimeout))
	arriving, progress, arrived := r.room.arrives(req.Context(), r.o.Patience)
	defer arrived()
	stop := context.AfterFunc(arriving, func() { _ = rc.SetReadDeadline(time.Now()) })
	defer stop()
	var body io.Reader = &arrivingBody{http.MaxBytesReader(w, req.Body, int64(r.o.MaxRequest)), progress}
	switch encoding := strings.ToLower(req.Header.Get("Content-Encoding")); encoding {
	case "", "identity", "none":
	default:
		decompress, ok := encodings[encoding]
		if !ok {
			return nil, &refusal{kind: refusalKind{badData.code, http.StatusUnsupportedMediaType}, why: fmt.Sprintf("Content-Encoding %.100q: want gzip, deflate, zstd or none (OTEL_EXPORTER_OTLP_COMPRESSION=gzip; in a collector, compression: zstd)", encoding)}
		}
		var err error
		if body, err = decompress(body); err != nil {
			if why := r.slow(arriving, err); why != nil {
				return nil, why
			}
			return nil, &refusal{kind: badData, why: fmt.Sprintf("the body is not %s: %v", encoding, err)}
		}
	}
	b, err := readAll(req.Context(), body, s, r.o.MaxRequest, max(req.ContentLength, 0))
	stop()
	if why := r.slow(arriving, err); why != nil { // before the context of the request: the deadline ends that too
		return nil, why
	}
	var over *http.MaxBytesError
	var own *refusal
	switch {
	case req.Context().Err() != nil:
		return nil, &refusal{kind: gone, why: "the client disconnected"}
	case err == nil:
		// The server continues to read, to notice a client that disconnects, and would take an
		// expired deadline for a disconnect.
		_ = rc.SetReadDeadline(time.Time{})
		return b, nil
	case errors.As(err, &own):
		return nil, err
	case errors.As(err, &over):
		return nil, tooLargeFor(r.o.MaxRequest)
	}
	return nil, &refusal{kind: badData, why: "the body is cut short or damaged: " + err.Error()}
}

// slow returns the refusal of a request that had to give way or did not arrive in time, by the context of
// arrives and the error of reading; nil of others.
func (r *Receiver) slow(arriving context.Context, err error) *refusal {
	if why := stalled(arriving); why != nil {
		return why
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return arrivedLate(r.o.ReceiveTimeout)
	}
	return nil
}

// arrivingBody notes the progress of a body.
type arrivingBody struct {
	io.Reader
	a *arrival
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.a.progress()
	}
	return n, err
}

// readAll reads the body, growing the share with the buffer, and fails beyond limit bytes. hint is
// the expected size.
func readAll(ctx context.Context, body io.Reader, s *share, limit int, hint int64) ([]byte, error) {
	b := make([]byte, 0, min(int64(limit), max(hint, 4<<10))+1)
	for {
		n, err := body.Read(b[len(b):cap(b)])
		if b = b[:len(b)+n]; len(b) > limit {
			return nil, tooLargeFor(limit)
		}
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			if err := s.grow(ctx, int64(2*cap(b))); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, min(2*cap(b), limit+1)), b...)
		}
	}
}

// answer writes the result of a request in the request's media type: the response or a Status.
func (r *Receiver) answer(w http.ResponseWriter, req *http.Request, a *accepted, err error, start time.Time) {
	var m proto.Message
	code := http.StatusOK
	if err != nil {
		why := refused(err)
		code, m = why.kind.http, why.status().Proto()
		if why.after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(why.after.Seconds()))))
		}
		_ = r.answered("http", why, start)
	} else {
		m = a.response()
		_ = r.answered("http", nil, start)
	}
	media := mediaOf(req)
	var b []byte
	if media == mediaProto {
		b, err = proto.Marshal(m)
	} else {
		media = mediaJSON
		b, err = protojson.Marshal(m)
	}
	if err != nil { // cannot happen: invalid UTF-8 cannot get here
		code, b = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(code)
	_, _ = w.Write(b)
}

// mediaOf returns a request's media type. It treats application/protobuf as the one that OTLP
// names.
func mediaOf(req *http.Request) string {
	media, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	if media == "application/protobuf" {
		return mediaProto
	}
	return media
}
