package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/recountdb/recount/server/api"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

const (
	mediaArrow   = "application/vnd.apache.arrow.stream"
	mediaProblem = "application/problem+json"
)

func (s *server) routes(h huma.API, mux *http.ServeMux) {
	h.UseMiddleware(negotiate, s.offered)
	s.registerQuestions(h)
	s.registerCode(h)
	s.registerRuntime(h)
	huma.Register(h, huma.Operation{
		OperationID: "show", Method: http.MethodGet, Path: "/v1/intents/{id}", Tags: []string{"questions"},
		Summary:     "Show one command",
		Description: "Everything known of one command: the event as it stands in the log, what was understood of it, its outcome, and the proof. By id, by an unambiguous prefix of it, or by position with slashes as %2F.",
		Errors:      []int{401, 404, 406, 409, 410},
	}, func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"300" example:"018f3c2a" doc:"The event's id, the start of it, or TOPIC/PARTITION/OFFSET."`
	},
	) (*struct{ Body commands.ShowResponse }, error) {
		r, err := s.b.Show(ctx, in.ID)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body commands.ShowResponse }{r}, nil
	})
	huma.Register(h, huma.Operation{
		OperationID: "status", Method: http.MethodGet, Path: "/v1/status", Tags: []string{TagOperation},
		Summary:     "How the node stands",
		Description: "The log's ends, each projection's watermark and lag, and counts of the commands.",
		Errors:      []int{401, 406, 503},
	}, func(ctx context.Context, in *struct {
		Roots bool   `query:"roots" doc:"Compute each projection's root too; this reads the whole state."`
		Mark  string `query:"mark" maxLength:"400" example:"recount.commits/1/42" doc:"A position, of whose event the mark is asked for."`
	},
	) (*struct{ Body api.Status }, error) {
		q := api.StatusRequest{Roots: in.Roots}
		if in.Mark != "" {
			at, err := schemas.ParsePosition(in.Mark)
			if err != nil {
				return nil, s.fail(ctx, schemas.Poisonf("mark: %w", err))
			}
			q.Mark = &at
		}
		r, err := s.b.Status(ctx, q)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body api.Status }{r}, nil
	})
	s.registerIntents(h)
	s.registerObjects(h)
	registerWork(s, h, "rebuild", "Make projections anew",
		"Replays the log from offset zero into new generations beside the live ones and switches to them. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.RebuildRequest, p func(api.Progress)) (api.RebuildReport, error) {
			return s.b.Rebuild(ctx, r, p)
		})
	registerWork(s, h, "verify", "Compare live and replayed state",
		"Replays the log into a scratch directory up to the live watermark and compares roots, keys and files. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.VerifyRequest, p func(api.Progress)) (api.VerifyReport, error) {
			return s.b.Verify(ctx, r, p)
		})
	registerWork(s, h, "backup", "Copy the log into a folder",
		"Copies one moment of the log into a folder of the server's machine, of which it needs no more than is not there from an earlier backup. Appends and questions go on meanwhile; erasing waits. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.BackupRequest, p func(api.Progress)) (api.BackupReport, error) {
			return s.b.Backup(ctx, r, p)
		})
	registerWork(s, h, "fsck", "Check the code graph as it is stored",
		"Reads every snapshot, map and chunk of the code graph, computes their hashes anew, and holds the edges of the newest graphs against their nodes. It reads only. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.FsckRequest, p func(api.Progress)) (api.FsckReport, error) {
			return s.b.Fsck(ctx, r, p)
		})
	registerWork(s, h, "grow", "Add partitions to a topic",
		"Gives a topic of the log more partitions, while it is read and written. Its keys stay in the partitions where they are. The answer is a line of JSON that holds the report or the problem.",
		func(ctx context.Context, r api.GrowRequest, p func(api.Progress)) (api.GrowReport, error) {
			return s.b.Grow(ctx, r, p)
		})
	s.registerForget(h)
	s.registerRetain(h)
	s.registerHealth(h)
	mux.HandleFunc("POST /v1/events", s.postEvents)
	h.OpenAPI().AddOperation(eventsOperation(h.OpenAPI()))
}

// offered is the middleware that refuses the operations that Options.Offers does not allow.
func (s *server) offered(hc huma.Context, next func(huma.Context)) {
	if err := s.o.Offers(hc.Operation().Tags[0]); err != nil {
		_, w := humago.Unwrap(hc)
		writeProblem(w, s.fail(hc.Context(), err))
		return
	}
	next(hc)
}

// WorkLine is one line in the answer of a long-running operation. Exactly one field is set.
type WorkLine[R any] struct {
	Progress *api.Progress    `json:"progress,omitempty" doc:"How far it is."`
	Report   *R               `json:"report,omitempty" doc:"What was done; the last line."`
	Problem  *huma.ErrorModel `json:"problem,omitempty" doc:"Why it stopped; the last line."`
}

// registerWork adds a long-running operation that streams its progress.
func registerWork[Q, R any](s *server, h huma.API, name, summary, description string, do func(context.Context, Q, func(api.Progress)) (R, error)) {
	title := strings.ToUpper(name[:1]) + name[1:]
	schema := h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[WorkLine[R]](), true, title+"Line")
	huma.Register(h, huma.Operation{
		OperationID: name, Method: http.MethodPost, Path: "/v1/" + name, Tags: []string{TagOperation},
		Summary: summary, Description: description, MaxBodyBytes: maxQuestion, Errors: []int{400, 401, 406},
		Responses: map[string]*huma.Response{"200": {
			Description: "Lines of JSON.",
			Content:     map[string]*huma.MediaType{mediaNDJSON: {Schema: schema}},
		}},
	}, func(ctx context.Context, in *struct{ Body Q }) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			rc := http.NewResponseController(w)
			w.Header().Set("Content-Type", mediaNDJSON)
			// A client that does not read its progress delays the work only briefly.
			enc := json.NewEncoder(&deadlineWriter{w: w, rc: rc, patience: streamWrite})
			enc.SetEscapeHTML(false)
			send := func(l WorkLine[R]) {
				// A disconnected client cancels ctx, which ends the work, so this error is ignored.
				if enc.Encode(l) == nil {
					_ = rc.Flush()
				}
			}
			report, err := do(ctx, in.Body, func(p api.Progress) { send(WorkLine[R]{Progress: &p}) })
			if err == nil {
				send(WorkLine[R]{Report: &report})
				return
			}
			send(WorkLine[R]{Problem: model(s.fail(ctx, err))})
		}}, nil
	})
}

// Health is the answer of the health and readiness probes.
type Health struct {
	Status string `json:"status" enum:"ok" example:"ok" doc:"ok."`
}

func (s *server) registerHealth(h huma.API) {
	ok := &struct{ Body Health }{Health{"ok"}}
	huma.Register(h, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: []string{TagOperation},
		Summary: "Whether the process lives", Description: "Answers 200 as long as the process serves HTTP. Needs no token.",
		Security: []map[string][]string{}, Errors: []int{406, 421},
	}, func(context.Context, *struct{}) (*struct{ Body Health }, error) { return ok, nil })
	huma.Register(h, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{TagOperation},
		Summary: "Whether the node is ready", Description: "Answers 200 once the projections have applied what the log held when the node started, 503 with the reason before, and while there is a partition that nobody reads. Needs no token.",
		Security: []map[string][]string{}, Errors: []int{406, 421, 503},
	}, func(ctx context.Context, _ *struct{}) (*struct{ Body Health }, error) {
		if err := s.o.Ready(ctx); err != nil {
			return nil, huma.Error503ServiceUnavailable(err.Error())
		}
		return ok, nil
	})
}

// readLines calls each with every value in a stream of JSON values.
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
