package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/terminalsearch"
	"github.com/recountdb/recount/query/commands/ask"
)

// TestMain is also the engine of these tests, when it is called by its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != installed.Engine {
		os.Exit(m.Run())
	}
	answer := verbs.Answer(&render.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, fakeEngine{})
	answer.SetArgs([]string{})
	if os.Getenv("TEST_ENGINE_FAILS") != "" {
		_, _ = io.WriteString(os.Stderr, "the disk is gone\n")
		os.Exit(2)
	}
	if answer.Execute() != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

// fakeEngine answers a search with its text. "slow" is answered when it is given up, and "end" ends the
// process.
type fakeEngine struct{}

func (e fakeEngine) Asker(bool) (terminalsearch.Asker, func(), error) { return e, func() {}, nil }

func (fakeEngine) Search(ctx context.Context, r ask.SearchRequest) (ask.SearchResponse, error) {
	switch r.Text {
	case "slow":
		<-ctx.Done()
		return ask.SearchResponse{}, ctx.Err()
	case "end":
		os.Exit(0)
	case "wrong":
		return ask.SearchResponse{}, errors.New("a wrong question")
	}
	return ask.SearchResponse{Hits: []ask.SearchHit{{Intent: ask.Intent{Command: "engine " + r.Text}}}}, nil
}

func (fakeEngine) Around(_ context.Context, r ask.AroundRequest) (ask.AroundResponse, error) {
	return ask.AroundResponse{Root: ask.Intent{Command: "around " + r.Ref}}, nil
}

func (fakeEngine) Verb(context.Context, ...string) (string, error) { return "", errors.New("no verbs") }

// newSearching returns a searching over an empty data directory, with the test's engine on the PATH.
func newSearching(t *testing.T) *searching {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, installed.Engine)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	s := &searching{asker: &asker{Terminal: &render.Terminal{}, getenv: func(string) string { return "" }}, dir: dir}
	t.Cleanup(s.close)
	return s
}

// searched asks and returns the first command.
func searched(t *testing.T, s *searching, text string) (string, error) {
	t.Helper()
	r, err := s.Search(t.Context(), ask.SearchRequest{Text: text})
	if err != nil || len(r.Hits) == 0 {
		return "", err
	}
	return r.Hits[0].Command, nil
}

// TestEngineAnswers checks the engine that answers without a server.
func TestEngineAnswers(t *testing.T) {
	s := newSearching(t)
	if got, err := searched(t, s, "a"); got != "engine a" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if r, err := s.Around(t.Context(), ask.AroundRequest{Ref: "x"}); err != nil || r.Root.Command != "around x" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := searched(t, s, "wrong"); err == nil || err.Error() != "a wrong question" {
		t.Errorf("got %v", err)
	}
	// A question that is given up is forgotten there as well, and does not keep the next one waiting.
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan error, 1)
	go func() {
		_, err := s.Search(ctx, ask.SearchRequest{Text: "slow"})
		slow <- err
	}()
	if got, err := searched(t, s, "b"); got != "engine b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	cancel()
	if err := <-slow; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	// It may end, and is started again.
	if _, err := searched(t, s, "end"); !errors.Is(err, terminalsearch.ErrAway) {
		t.Errorf("ended: %v", err)
	}
	if got, err := searched(t, s, "c"); got != "engine c" || err != nil {
		t.Errorf("after it ended: %q, %v", got, err)
	}
	// It ends with the search.
	e := s.engine
	s.close()
	<-e.gone
}

func TestEngineFails(t *testing.T) {
	s := newSearching(t)
	t.Setenv("TEST_ENGINE_FAILS", "1")
	if _, err := searched(t, s, "a"); !errors.Is(err, terminalsearch.ErrAway) || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", "")
	s.engine = nil
	if _, err := searched(t, s, "a"); err == nil || !strings.Contains(err.Error(), installed.Engine) {
		t.Errorf("without an engine: %v", err)
	}
}

// TestServerDiesAndComesBack checks who is asked while a server comes and goes.
func TestServerDiesAndComesBack(t *testing.T) {
	s := newSearching(t)
	serve := func(text string) (stop func()) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]string{"data_id": "d"})
		})
		mux.HandleFunc("POST /v1/search", func(w http.ResponseWriter, r *http.Request) {
			var q ask.SearchRequest
			if json.NewDecoder(r.Body).Decode(&q); q.Text == "wrong" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"detail":"a wrong question"}`)
				return
			}
			_ = json.NewEncoder(w).Encode(ask.SearchResponse{Hits: []ask.SearchHit{{Intent: ask.Intent{Command: text}}}})
		})
		srv := httptest.NewServer(mux)
		lock, err := os.OpenFile(filepath.Join(s.dir, datadir.LockFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		}
		b, _ := json.Marshal(datadir.Endpoints{DataID: "d", HTTP: srv.URL})
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir, datadir.EndpointsFile), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			srv.CloseClientConnections()
			srv.Close()
			lock.Close()
		}
	}
	stop := serve("first server")
	if got, err := searched(t, s, "a"); got != "first server" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := searched(t, s, "wrong"); err == nil || !strings.Contains(err.Error(), "a wrong question") || errors.Is(err, terminalsearch.ErrAway) {
		t.Errorf("a refused question: %v", err)
	}
	stop()
	if _, err := searched(t, s, "a"); !errors.Is(err, terminalsearch.ErrAway) {
		t.Errorf("it died: %v", err)
	}
	if got, err := searched(t, s, "a"); got != "engine a" || err != nil {
		t.Errorf("then: %q, %v", got, err)
	}
	defer serve("second server")()
	s.mu.Lock()
	s.looked = time.Time{} // a second passes
	s.mu.Unlock()
	if got, err := searched(t, s, "a"); got != "second server" || err != nil {
		t.Errorf("it came back: %q, %v", got, err)
	}
	if s.engine != nil {
		t.Error("the engine still holds the data directory")
	}
}

// TestListIsTheEngines checks that without an interface nothing is answered here without a server.
func TestListIsTheEngines(t *testing.T) {
	s := newSearching(t)
	s.leave = true
	if _, err := searched(t, s, "a"); !errors.Is(err, errEngine) {
		t.Errorf("got %v", err)
	}
}

// TestAskingAServerThatCatchesUp checks that a server that has just started is asked once its
// projections have what was on its log, and that the engine takes over if that takes long.
func TestAskingAServerThatCatchesUp(t *testing.T) {
	for _, test := range []struct {
		name string
		step int64 // commands that are applied between two looks
		want error
	}{{"soon", 1, nil}, {"not for long", 0, errEngine}} {
		t.Run(test.name, func(t *testing.T) {
			var applied atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"data_id":"d","log":{"ends":"recount.commands/0:4"},"projections":[
					{"partitions":[{"topic":"recount.commands","partition":0,"next":%d,"end":4}]}]}`, applied.Add(test.step))
			}))
			defer srv.Close()
			dir := t.TempDir()
			lock, err := datadir.Lock(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			b, _ := json.Marshal(datadir.Endpoints{DataID: "d", HTTP: srv.URL})
			if err := os.WriteFile(filepath.Join(dir, datadir.EndpointsFile), b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = OpenServer(&render.Terminal{}, func(string) string { return "" })(t.Context(), dir)
			if !errors.Is(err, test.want) || test.want == nil && applied.Load() != 4 {
				t.Errorf("%v with %d applied", err, applied.Load())
			}
		})
	}
}
