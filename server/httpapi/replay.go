package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/server/runs"
)

// TagReplay is the tag of the operations that execute plans.
const TagReplay = "replay"

// errNoRuns is the answer of a server whose operator does not allow replays to be executed.
var errNoRuns = huma.Error403Forbidden("this server executes no replays: its operator allows it with recount up --replay-execute (replay.execute)")

// registerReplay adds the operations that execute plans. Without Options.Runs each is refused.
func (s *server) registerReplay(h huma.API) {
	registerRun(s, h, "run", "Run a plan",
		"Makes a plan and runs it in a sandbox on the server's machine.",
		func(ctx context.Context, in runs.Request, each func(runs.Event) error) (replaying.Report, error) {
			return s.o.Runs.Start(ctx, in, each)
		})
	registerRun(s, h, "resume", "Go on with a run",
		"Goes on with a run that was stopped or killed: no step that was done is done again.",
		func(ctx context.Context, in runs.Resumption, each func(runs.Event) error) (replaying.Report, error) {
			return s.o.Runs.Resume(ctx, in, each)
		})
	registerRun(s, h, "apply", "Apply what a run changed",
		"Makes the changes of a run whose steps are all done in the real directory. If somebody else changed one of the files meanwhile, nothing is applied.",
		func(ctx context.Context, in runs.Named, each func(runs.Event) error) (replaying.Report, error) {
			return s.o.Runs.Apply(ctx, in, each)
		})
	registerAct(s, h, "discard", "Forget what a run wrote", "Forgets what the steps of a run wrote, and runs nothing.",
		func(ctx context.Context, in runs.Named) error { return s.o.Runs.Discard(ctx, in) })
	registerAct(s, h, "cancel", "Stop a run", "Ends a run that is under way in this server, as if its caller had disconnected: the step under way is stopped with all that it started, and the run can be resumed.",
		func(_ context.Context, in runs.Named) error { return s.o.Runs.Cancel(in) })
	registerAct(s, h, "answer", "Decide a question", "Answers a question that a run asked in an event named question. The run waits until it is answered or cancelled.",
		func(_ context.Context, in runs.Answer) error { return s.o.Runs.Decide(in) })
}

// needsOperator is said of each operation that executes.
const needsOperator = " Needs the operator's token, and a server that was started with --replay-execute."

// replayErrors are the statuses of operations that execute.
var replayErrors = []int{400, 401, 403, 404, 406, 409, 413, 422, 503}

// registerRun adds an operation that runs steps and streams what they do as server-sent events. The
// end of the request ends the run.
func registerRun[Q any](s *server, h huma.API, name, summary, description string, do func(context.Context, Q, func(runs.Event) error) (replaying.Report, error)) {
	huma.Register(h, huma.Operation{
		OperationID: "replay" + strings.ToUpper(name[:1]) + name[1:], Method: http.MethodPost, Path: "/v1/replay/" + name, Tags: []string{TagReplay},
		Summary:      summary,
		Description:  description + needsOperator + " The answer has server-sent events, named run, start, output, question, end, done, and problem if the run could not be brought to its end; the data of each is JSON. A client that disconnects stops the run.",
		MaxBodyBytes: maxQuestion, Errors: replayErrors,
		Responses: map[string]*huma.Response{"200": {
			Description: "The run, as it goes.",
			Content:     map[string]*huma.MediaType{mediaStream: {Schema: &huma.Schema{Type: "string", Description: "Server-sent events; docs/replay.md has their fields."}}},
		}},
	}, func(ctx context.Context, in *struct{ Body Q }) (*huma.StreamResponse, error) {
		if s.o.Runs == nil {
			return nil, errNoRuns
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			running, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.o.Stopping, cancel)()
			out := &eventWriter{w: &lazyWriter{w: w, media: mediaStream}, rc: http.NewResponseController(w)}
			defer out.beat(s.o.Beat)()
			_, err := do(running, in.Body, func(e runs.Event) error { return out.send(e.Event.Event, e) })
			out.mu.Lock()
			started := out.w.started
			out.mu.Unlock()
			switch {
			case ctx.Err() != nil: // the client has gone, and its run is stopped
			case err != nil && started:
				_ = out.send("problem", model(s.fail(ctx, err))) // nobody is left to be told of a failure
			default:
				s.stream(ctx, out.w, err)
			}
		}}, nil
	})
}

// registerAct adds an operation that is done when it is answered.
func registerAct[Q any](s *server, h huma.API, name, summary, description string, do func(context.Context, Q) error) {
	huma.Register(h, huma.Operation{
		OperationID: "replay" + strings.ToUpper(name[:1]) + name[1:], Method: http.MethodPost, Path: "/v1/replay/" + name, Tags: []string{TagReplay},
		Summary: summary, Description: description + needsOperator, MaxBodyBytes: maxQuestion, Errors: replayErrors,
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body Health }, error) {
		if s.o.Runs == nil {
			return nil, errNoRuns
		}
		if err := do(ctx, in.Body); err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body Health }{Health{"ok"}}, nil
	})
}

// eventWriter sends server-sent events to one client.
type eventWriter struct {
	rc *http.ResponseController

	mu sync.Mutex // guards w: events and beats come from different goroutines
	w  *lazyWriter
}

// send sends one event. JSON contains no line breaks.
func (o *eventWriter) send(name string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return o.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, b))
}

func (o *eventWriter) write(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.rc.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.rc.Flush()
}

// beat sends comments while steps say nothing, until stop is called.
func (o *eventWriter) beat(every time.Duration) (stop func()) {
	t := time.NewTicker(every)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-t.C:
				o.mu.Lock()
				started := o.w.started
				o.mu.Unlock()
				if started {
					_ = o.write([]byte(":\n\n")) // the next event has the same error
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		t.Stop()
		close(done)
		<-ended
	}
}
