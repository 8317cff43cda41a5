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
	s.registerReplay(h)
	huma.Register(h, huma.Operation{
		OperationID: "show", Method: http.MethodGet, Path: "/v1/intents/{id}", Tags: []string{"questions"},
		Summary:     "Show one command",
		Description: "Everything known about one command: its event as stored in the log, its interpretation, its outcome, and the proof. Named by id, by an unambiguous prefix of the id, or by position with slashes as %2F.",
		Errors:      []int{401, 404, 406, 409, 410},
	}, func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"300" example:"018f3c2a" doc:"The event's id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	},
	) (*struct{ Body commands.ShowResponse }, error) {
		r, err := s.b.Show(ctx, in.ID)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body commands.ShowResponse }{r}, nil
	})
	huma.Register(h, huma.Operation{
		OperationID: "event", Method: http.MethodGet, Path: "/v1/events/{topic}/{partition}/{offset}", Tags: []string{TagOperation},
		Summary:     "Show one event",
		Description: "The event at a position of the log, of whatever kind, as it is stored: its headers and its payload.",
		Errors:      []int{401, 404, 406, 410},
	}, func(ctx context.Context, in *struct {
		Topic     string `path:"topic" maxLength:"249" example:"recount.commands" doc:"The topic."`
		Partition int32  `path:"partition" minimum:"0" example:"2" doc:"The partition."`
		Offset    int64  `path:"offset" minimum:"0" example:"9" doc:"The offset."`
	},
	) (*struct{ Body api.StoredEvent }, error) {
		r, err := s.b.Event(ctx, schemas.Position{Topic: in.Topic, Partition: in.Partition, Offset: in.Offset})
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body api.StoredEvent }{r}, nil
	})
	huma.Register(h, huma.Operation{
		OperationID: "status", Method: http.MethodGet, Path: "/v1/status", Tags: []string{TagOperation},
		Summary:     "Show the node's status",
		Description: "The log's end offsets, each projection's watermark and lag, and counts of commands.",
		Errors:      []int{401, 406, 503},
	}, func(ctx context.Context, in *struct {
		Roots bool   `query:"roots" doc:"Compute each projection's root too; this reads the whole state."`
		Mark  string `query:"mark" maxLength:"400" example:"recount.commits/1/42" doc:"A position; the answer then has the mark of the event there."`
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
	s.registerLog(h)
	s.registerIntents(h)
	s.registerChanges(h)
	s.registerObjects(h)
	registerWork(s, h, "rebuild", "Rebuild projections",
		"Replays the log from offset zero into new generations beside the live ones, then switches to them. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.RebuildRequest, p func(api.Progress)) (api.RebuildReport, error) {
			return s.b.Rebuild(ctx, r, p)
		})
	registerWork(s, h, "verify", "Compare live and replayed state",
		"Replays the log into a scratch directory up to the live watermark and compares roots, keys and files. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.VerifyRequest, p func(api.Progress)) (api.VerifyReport, error) {
			return s.b.Verify(ctx, r, p)
		})
	registerWork(s, h, "backup", "Copy the log into a folder",
		"Copies a consistent state of the log into a folder on the server's machine. Files that an earlier backup in that folder already has are not copied again. Appends and queries continue meanwhile; erasures wait. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.BackupRequest, p func(api.Progress)) (api.BackupReport, error) {
			return s.b.Backup(ctx, r, p)
		})
	registerWork(s, h, "fsck", "Check the stored code graph",
		"Reads every snapshot, map and chunk of the code graph, recomputes their hashes, and checks the edges of the newest graphs against their nodes. Read-only. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.FsckRequest, p func(api.Progress)) (api.FsckReport, error) {
			return s.b.Fsck(ctx, r, p)
		})
	registerWork(s, h, "grow", "Add partitions to a topic",
		"Adds partitions to a topic of the log while it is read and written. Existing keys stay in their partitions. The answer is one line of JSON with the report or the problem.",
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
	Progress *api.Progress    `json:"progress,omitempty" doc:"The progress so far."`
	Report   *R               `json:"report,omitempty" doc:"The report; only on the last line."`
	Problem  *huma.ErrorModel `json:"problem,omitempty" doc:"Why the operation stopped; only on the last line."`
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
		Summary: "Check that the process is alive", Description: "Answers 200 as long as the process serves HTTP. Needs no token.",
		Security: []map[string][]string{}, Errors: []int{406, 421},
	}, func(context.Context, *struct{}) (*struct{ Body Health }, error) { return ok, nil })
	huma.Register(h, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{TagOperation},
		Summary: "Check that the node is ready", Description: "Answers 200 once the projections have applied everything that the log held when the node started; before that, and while some partition is read by no process, 503 with the reason. Needs no token.",
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
