package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query"
)

const (
	mediaArrow   = "application/vnd.apache.arrow.stream"
	mediaProblem = "application/problem+json"
)

func (s *server) routes(api huma.API, mux *http.ServeMux) {
	huma.Register(api, huma.Operation{
		OperationID: "find", Method: http.MethodPost, Path: "/v1/find", Tags: []string{"questions"},
		Summary:      "Find commands",
		Description:  "Looks for commands by words, concepts and meaning, under filters, and says in proof how it came to the answer. It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: []int{400, 401, 413, 504},
	}, func(ctx context.Context, in *struct{ Body query.FindRequest }) (*struct{ Body query.FindResponse }, error) {
		r, err := s.b.Find(ctx, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body query.FindResponse }{r}, nil
	})
	huma.Register(api, huma.Operation{
		OperationID: "show", Method: http.MethodGet, Path: "/v1/intents/{id}", Tags: []string{"questions"},
		Summary:     "Show one command",
		Description: "Everything known of one command: the event as it stands in the log, what was understood of it, its outcome, and the proof. By id, by an unambiguous prefix of it, or by position with slashes as %2F.",
		Errors:      []int{401, 404, 409},
	}, func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"300" example:"018f3c2a" doc:"The event's id, the start of it, or TOPIC/PARTITION/OFFSET."`
	},
	) (*struct{ Body query.ShowResponse }, error) {
		r, err := s.b.Show(ctx, in.ID)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body query.ShowResponse }{r}, nil
	})
	huma.Register(api, huma.Operation{
		OperationID: "status", Method: http.MethodGet, Path: "/v1/status", Tags: []string{"operation"},
		Summary:     "How the node stands",
		Description: "The log's ends, each projection's watermark and lag, and counts of the commands.",
		Errors:      []int{401, 503},
	}, func(ctx context.Context, in *struct {
		Roots bool `query:"roots" doc:"Compute each projection's root too; this reads the whole state."`
	},
	) (*struct{ Body Status }, error) {
		r, err := s.b.Status(ctx, StatusRequest{Roots: in.Roots})
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body Status }{r}, nil
	})
	s.registerScan(api)
	registerWork(s, api, "rebuild", "Make projections anew",
		"Replays the log from offset zero into new generations beside the live ones and switches to them. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r RebuildRequest, p func(Progress)) (RebuildReport, error) {
			return s.b.Rebuild(ctx, r, p)
		})
	registerWork(s, api, "verify", "Compare live and replayed state",
		"Replays the log into a scratch directory up to the live watermark and compares roots, keys and files. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r VerifyRequest, p func(Progress)) (VerifyReport, error) {
			return s.b.Verify(ctx, r, p)
		})
	s.registerHealth(api)
	mux.HandleFunc("POST /v1/events", s.postEvents)
	api.OpenAPI().AddOperation(eventsOperation(api.OpenAPI()))
}

type scanInput struct {
	Since  time.Time `query:"since" example:"2026-11-01T00:00:00Z" doc:"Started at this time or later."`
	Until  time.Time `query:"until" example:"2026-12-01T00:00:00Z" doc:"Started before this time."`
	Limit  int       `query:"limit" minimum:"0" example:"1000" doc:"How many at most; 0 for all. Not with Arrow."`
	Accept string    `header:"Accept" example:"application/vnd.apache.arrow.stream" doc:"application/x-ndjson (default) or application/vnd.apache.arrow.stream."`
}

func (s *server) registerScan(api huma.API) {
	op := huma.Operation{
		OperationID: "scan", Method: http.MethodGet, Path: "/v1/intents", Tags: []string{"questions"},
		Summary:     "Scan commands",
		Description: "All commands, oldest first, as lines of JSON or as an Arrow IPC stream for DuckDB, pandas or Polars. Arrow has what the commands' own events said, by partition and offset: outcomes that came as events of their own are in the NDJSON only. An answer that ends without its closing chunk was cut short.",
		Errors:      []int{401, 406},
		Responses: map[string]*huma.Response{"200": {
			Description: "The commands.",
			Content: map[string]*huma.MediaType{
				mediaNDJSON: {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[query.Scanned](), true, "Scanned")},
				mediaArrow:  {Schema: &huma.Schema{Type: "string", Format: "binary", Description: "An Arrow IPC stream; its schema stands in schemas/tbf.md."}},
			},
		}},
	}
	huma.Register(api, op, func(ctx context.Context, in *scanInput) (*huma.StreamResponse, error) {
		r := ScanRequest{Since: in.Since, Until: in.Until, Limit: in.Limit}
		media := ""
		for part := range strings.SplitSeq(in.Accept, ",") {
			m, _, _ := strings.Cut(part, ";")
			switch strings.TrimSpace(m) {
			case mediaArrow:
				media, r.Format = mediaArrow, FormatArrow
			case mediaNDJSON, mediaJSON, "*/*", "application/*", "":
				media, r.Format = mediaNDJSON, FormatNDJSON
			}
			if media != "" {
				break
			}
		}
		if media == "" {
			return nil, huma.Error406NotAcceptable(fmt.Sprintf("accept %q: want %s or %s", in.Accept, mediaNDJSON, mediaArrow))
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
			lw := &lazyWriter{w: w, media: media}
			err := s.b.Scan(ctx, r, lw)
			switch {
			case err == nil:
				lw.start()
			case !lw.started:
				p := s.fail(ctx, err)
				var m *huma.ErrorModel
				if !errors.As(p, &m) {
					m = &huma.ErrorModel{Detail: p.Error()}
				}
				problem(w, p.GetStatus(), m.Detail, m.Errors...)
			case ctx.Err() == nil:
				s.o.Log.Error("scan cut short", "request", RequestID(ctx), "err", err)
				panic(http.ErrAbortHandler)
			}
		}}, nil
	})
}

// lazyWriter sends the header with the first byte, so that an error before it
// can still be answered as a problem.
type lazyWriter struct {
	w       http.ResponseWriter
	media   string
	started bool
}

func (l *lazyWriter) start() {
	if !l.started {
		l.started = true
		l.w.Header().Set("Content-Type", l.media)
		l.w.WriteHeader(http.StatusOK)
	}
}

func (l *lazyWriter) Write(b []byte) (int, error) {
	l.start()
	return l.w.Write(b)
}

// WorkLine is one line of the answer of a long work: exactly one field is set.
type WorkLine[R any] struct {
	Progress *Progress        `json:"progress,omitempty" doc:"How far it is."`
	Report   *R               `json:"report,omitempty" doc:"What was done; the last line."`
	Problem  *huma.ErrorModel `json:"problem,omitempty" doc:"Why it stopped; the last line."`
}

// registerWork adds an operation that streams its progress.
func registerWork[Q, R any](s *server, api huma.API, name, summary, description string, do func(context.Context, Q, func(Progress)) (R, error)) {
	title := strings.ToUpper(name[:1]) + name[1:]
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[WorkLine[R]](), true, title+"Line")
	huma.Register(api, huma.Operation{
		OperationID: name, Method: http.MethodPost, Path: "/v1/" + name, Tags: []string{"operation"},
		Summary: summary, Description: description, MaxBodyBytes: maxQuestion, Errors: []int{400, 401},
		Responses: map[string]*huma.Response{"200": {
			Description: "Lines of JSON.",
			Content:     map[string]*huma.MediaType{mediaNDJSON: {Schema: schema}},
		}},
	}, func(ctx context.Context, in *struct{ Body Q }) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			rc := http.NewResponseController(w)
			_ = rc.SetWriteDeadline(time.Time{})
			w.Header().Set("Content-Type", mediaNDJSON)
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			send := func(l WorkLine[R]) {
				// A client that went away ends ctx, and so the work.
				if enc.Encode(l) == nil {
					_ = rc.Flush()
				}
			}
			report, err := do(ctx, in.Body, func(p Progress) { send(WorkLine[R]{Progress: &p}) })
			if err == nil {
				send(WorkLine[R]{Report: &report})
				return
			}
			p := s.fail(ctx, err)
			var m *huma.ErrorModel
			if !errors.As(p, &m) {
				m = &huma.ErrorModel{Status: p.GetStatus(), Title: http.StatusText(p.GetStatus()), Detail: p.Error()}
			}
			send(WorkLine[R]{Problem: m})
		}}, nil
	})
}

// Health is the answer of the probes.
type Health struct {
	Status string `json:"status" enum:"ok" example:"ok" doc:"ok."`
}

func (s *server) registerHealth(api huma.API) {
	ok := &struct{ Body Health }{Health{"ok"}}
	huma.Register(api, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: []string{"operation"},
		Summary: "Whether the process lives", Description: "Answers 200 as long as the process serves HTTP. Needs no token.",
		Security: []map[string][]string{}, Errors: []int{421},
	}, func(context.Context, *struct{}) (*struct{ Body Health }, error) { return ok, nil })
	huma.Register(api, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{"operation"},
		Summary: "Whether the node is ready", Description: "Answers 200 once the projections have applied what the log held when the node started, 503 with the reason before. Needs no token.",
		Security: []map[string][]string{}, Errors: []int{421, 503},
	}, func(ctx context.Context, _ *struct{}) (*struct{ Body Health }, error) {
		if err := s.o.Ready(ctx); err != nil {
			return nil, huma.Error503ServiceUnavailable(err.Error())
		}
		return ok, nil
	})
}

// readLines calls each with every line of a stream of JSON values.
func readLines(r io.Reader, each func(json.RawMessage) error) error {
	dec := json.NewDecoder(r)
	for {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(bytes.TrimSpace(raw)); err != nil {
			return err
		}
	}
}
