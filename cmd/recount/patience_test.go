package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/node"
)

// said is a standard error that other goroutines may read.
type said struct {
	mu  sync.Mutex
	all bytes.Buffer
	has chan struct{} // closed after the first write
}

func newSaid() *said { return &said{has: make(chan struct{})} }

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.Len() == 0 {
		close(s.has)
	}
	return s.all.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// TestALockedDirectoryIsNamed checks that a verb whose data directory another process uses reports
// this within a second, once, and gives up by itself.
func TestALockedDirectoryIsNamed(t *testing.T) {
	w := newWorld(t)
	holds, err := node.OpenLocal(t.Context(), node.Config{DataDir: w.data(), Version: cli.Version(""), Roles: connect.AppendOnly}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holds.Close()
	for _, line := range []string{"find x", "log tail", "import jsonl -", "verify"} {
		synctest.Test(t, func(t *testing.T) {
			stderr := newSaid()
			a := w.app("", io.Discard, stderr)
			a.Silence = render.DefaultSilence
			began, done := time.Now(), make(chan int, 1)
			go func() { done <- a.run(t.Context(), strings.Fields(line)) }()
			time.Sleep(render.DefaultSilence + connect.LongPause)
			synctest.Wait()
			want := fmt.Sprintf("recount: waiting for %s, held by ", w.data())
			if got := stderr.String(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: after %s it said %q, want %q", line, time.Since(began), got, want)
			}
			if code := <-done; code != exitFailed || time.Since(began) > connect.DefaultWait {
				t.Errorf("%s: exit %d after %s", line, code, time.Since(began))
			}
			if got := stderr.String(); strings.Count(got, "waiting for") != 1 || !strings.Contains(got, "in use by another process") {
				t.Errorf("%s: it said %q", line, got)
			}
		})
	}
}

// TestASilentServerIsNamed checks that a verb whose server does not answer reports what it waits
// for.
func TestASilentServerIsNamed(t *testing.T) {
	w := newWorld(t)
	repo := filepath.Join(w.dir, "repo")
	if out, code := w.sh("git init -q " + repo); code != 0 {
		t.Fatal(out)
	}
	for _, line := range []string{"find x", "import jsonl -", "import git " + repo, "rebuild", "status"} {
		stderr := newSaid()
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			select { // it answers only after the verb's report
			case <-stderr.has:
			case <-r.Context().Done():
			case <-time.After(patience):
			}
			http.Error(rw, "no", http.StatusNotFound)
		}))
		a := w.app("", io.Discard, stderr)
		a.Silence = time.Millisecond
		a.run(t.Context(), append(strings.Fields(line), "--server", server.URL))
		server.Close()
		if got := stderr.String(); !strings.HasPrefix(got, "recount: waiting for ") {
			t.Errorf("%s: it said %q", line, got)
		}
	}
}

// TestTheFirstQuestionSaysThatItTakesIn checks that the first question after an append builds the
// projections and reports it, and that the next one need not wait. Import's --wait asks such a
// question.
func TestTheFirstQuestionSaysThatItTakesIn(t *testing.T) {
	w := newWorld(t)
	run := func(line, stdin string) string {
		t.Helper()
		stderr := newSaid()
		a := w.app(stdin, io.Discard, stderr)
		a.Silence = 0
		if code := a.run(t.Context(), strings.Fields(line)); code == exitFailed {
			t.Fatalf("%s: %s", line, stderr)
		}
		return stderr.String()
	}
	events := func(from, to int) string {
		var b strings.Builder
		for n := from; n < to; n++ {
			fmt.Fprintf(&b, "{\"command\":\"echo %d\"}\n", n)
		}
		return b.String()
	}
	run("log produce", events(0, 700))
	if got := run("find echo", ""); !strings.Contains(got, " of 700\n") {
		t.Errorf("the first question said %q", got)
	}
	if got := run("find echo", ""); strings.Contains(got, " of ") {
		t.Errorf("the second question said %q", got)
	}
	repo := filepath.Join(w.dir, "repo")
	if out, code := w.sh("git init -q " + repo + " && cd " + repo + " && echo 'package a' > a.go && git add a.go && git -c user.name=a -c user.email=a commit -qm one"); code != 0 {
		t.Fatal(out)
	}
	if err := os.RemoveAll(filepath.Join(w.data(), "projections")); err != nil {
		t.Fatal(err)
	}
	run("import git --wait=false "+repo, "")
	if _, err := os.Stat(filepath.Join(w.data(), "projections")); err == nil {
		t.Errorf("import --wait=false made projections")
	}
	if got := run("import git --wait "+repo, ""); !strings.Contains(got, " of ") {
		t.Errorf("import --wait said %q", got)
	}
	if got := run("symbols a.go", ""); strings.Contains(got, " of ") {
		t.Errorf("the question after import --wait said %q", got)
	}
}

// TestImportWaitsForAServer checks that import --wait waits until every projection of a server has
// what was there, but not for what others append meanwhile. It is the default on a terminal.
func TestImportWaitsForAServer(t *testing.T) {
	var asked atomic.Int32
	lags := []string{`"lag":9},{"name":"code","lag":5`, `"lag":0},{"name":"code","lag":5`, `"lag":7},{"name":"code","lag":2`, `"lag":7},{"name":"code","lag":0`}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1)) - 1
		if r.URL.Path != "/v1/status" || n >= len(lags) {
			http.Error(rw, r.URL.Path, http.StatusNotFound)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"projections":[{"name":"lexical",%s}]}`, lags[n])
	}))
	defer server.Close()
	stderr := newSaid()
	a := newWorld(t).app("", io.Discard, stderr, "RECOUNT_SERVER="+server.URL)
	a.Silence = 0
	if err := a.CaughtUp(t.Context()); err != nil || int(asked.Load()) != len(lags) {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
	if got := stderr.String(); !strings.Contains(got, "recount: take in (lexical, code): 0 of 9\n") {
		t.Errorf("it said %q", got)
	}
	for _, terminal := range []bool{true, false} {
		a.Interactive = terminal
		if got := a.importCmd().PersistentFlags().Lookup("wait").DefValue; got != fmt.Sprint(terminal) {
			t.Errorf("--wait is %s by default where a terminal is %v", got, terminal)
		}
	}
}
