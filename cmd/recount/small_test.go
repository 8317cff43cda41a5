package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/internal/quickstart"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestManyAtOnce checks that processes that find the data directory in use wait, without and with a
// server, and that none of their commands is lost.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	const n = 6
	burst := func(name string) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if out, code := w.sh(fmt.Sprintf("recount record --hook --exit 0 -- %s %d", name, i)); code != 0 {
					t.Errorf("%s %d: exit %d: %s", name, i, code, out)
				}
			})
		}
		wg.Wait()
	}
	burst("alone")
	w.start()
	burst("served")
	out, _ := w.sh("recount status --json")
	var st api.Status
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	total := int64(0)
	for _, end := range st.Log.Ends {
		total += end
	}
	if total != 2*n {
		t.Errorf("%d events, want %d", total, 2*n)
	}
}

// TestAnInterruptedImportGoesOn kills an import and runs it again.
func TestAnInterruptedImportGoesOn(t *testing.T) {
	w := newWorld(t)
	const n = 5000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "#%d\nmake target-%d\n", 1_700_000_000+i, i%1000)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "bash_history"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		cmd := exec.Command(filepath.Join(w.dir, "bin", "recount"), "import", "history", filepath.Join(w.dir, "bash_history"))
		cmd.Env = w.env()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or done before
		timer.Stop()
	}
	if out, code := w.sh("recount import history $DIR/bash_history"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	out, _ := w.sh("recount import history --json $DIR/bash_history")
	var r struct{ Imports []importing.Result }
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Imports) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := r.Imports[0]; got.Appended != 0 || got.Present != n {
		t.Errorf("the last import: %+v", got)
	}
	out, _ = w.sh("recount log topics --json")
	var topics []struct {
		Partitions []struct{ Start, End int64 }
	}
	if err := json.Unmarshal([]byte(out), &topics); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	total := int64(0)
	for _, tp := range topics {
		for _, p := range tp.Partitions {
			total += p.End - p.Start
		}
	}
	if total != n {
		t.Errorf("%d events in the log, want %d", total, n)
	}
}

// TestQuickstart checks that the README's first command finds what it promises.
func TestQuickstart(t *testing.T) {
	w := newWorld(t)
	out, code := w.sh("recount quickstart --json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	var r quickstart.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r.Imported != 49 || len(r.Answers) != 3 || len(r.Why.Causes) == 0 || !r.Verified.OK {
		t.Errorf("imported %d, %d answers, %d causes, verified %v", r.Imported, len(r.Answers), len(r.Why.Causes), r.Verified.OK)
	}
	for question, word := range map[string]string{
		"build fails": "make", "install missing libraries": "apt", "where is CommandParser defined": "CommandParser",
	} {
		a := r.Answers[question]
		if len(a.Hits) == 0 || !strings.Contains(a.Hits[0].Command, word) {
			t.Errorf("%q: first is %+v, want one with %q", question, first(a.Hits), word)
		}
		if len(a.Proof) < 3 || a.Watermark == nil {
			t.Errorf("%q: proof of %d steps", question, len(a.Proof))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "recount-quickstart-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	out, code = w.sh("recount quickstart")
	for _, want := range []string{"49 commands", "Proof", "rests on everything below", "causal", "equal ", "recount import history"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
}

func first(hits []commands.Hit) string {
	if len(hits) == 0 {
		return "nothing"
	}
	return hits[0].Command
}

// TestExecPassesSignals checks that a signal sent to exec reaches the command, and that its
// reaction is recorded.
func TestExecPassesSignals(t *testing.T) {
	w := newWorld(t)
	cmd := exec.Command(filepath.Join(w.dir, "bin", "recount"), "exec", "--", "sh", "-c", `trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done`)
	cmd.Env, cmd.Dir = w.env(), w.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("exit %d, want the command's 9", code)
	}
	if out, code := w.sh("recount find --exit 9"); code != 0 {
		t.Errorf("its outcome is not recorded: %s", out)
	}
}

// TestExecNamesThatAreNoText checks that a command runs and is recorded, and exec ends as it did, in a directory whose
// name is no UTF-8, and where it makes files with such names; and that it runs where it cannot be recorded.
func TestExecNamesThatAreNoText(t *testing.T) {
	w := newWorld(t)
	for name, x := range map[string]struct {
		script string
		code   int
	}{
		"its directory": {`mkdir "$(printf 'd\377')" && cd "$(printf 'd\377')" && recount exec -- sh -c 'exit 11'`, 11},
		"what it makes": {`recount exec -- sh -c 'touch "$(printf "a\377")"; exit 12'`, 12},
		"what it names": {`recount exec -- sh -c "touch $(printf 'b\377'); exit 13"`, 13},
		"its author":    {`recount exec --author "$(printf 'c\377')" -- sh -c 'exit 14'`, 14},
	} {
		if out, code := w.sh(x.script); code != x.code || out != "" {
			t.Errorf("%s: exit %d, want the command's %d: %s", name, code, x.code, out)
		}
		if out, code := w.sh(fmt.Sprintf("recount find --exit %d", x.code)); code != 0 {
			t.Errorf("%s: its outcome is not recorded: %s", name, out)
		}
	}
	if out, code := w.sh(`echo 'redact_rules: ./none' >c.yaml; recount --config c.yaml exec -- sh -c 'exit 15' 2>&1`); code != 15 || !strings.Contains(out, "not recorded") {
		t.Errorf("a command that cannot be recorded: exit %d, want 15: %s", code, out)
	}
}

// TestUntrustedServer checks that a server with an untrusted certificate is not waited for: the
// error says at once what is wrong and what to do.
func TestUntrustedServer(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	a := &app{&connect.Connector{Terminal: &render.Terminal{Silence: time.Hour}, Getenv: func(string) string { return "" }}}
	_, err := a.Client(t.Context(), node.Config{DataDir: "d"}, node.Endpoints{PID: 1, HTTP: srv.URL})
	var busy *node.InUseError
	if err == nil || errors.As(err, &busy) || !strings.Contains(err.Error(), "x509") || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("got %v", err)
	}
}

// TestUserWithoutVariable checks that a person's notes have a name where $USER is not set, as in a container.
func TestUserWithoutVariable(t *testing.T) {
	account := recording.UserName(os.Getenv)
	for env, want := range map[string]string{"": account, "ada": "ada"} {
		a := &app{&connect.Connector{Getenv: func(name string) string { return map[string]string{"USER": env}[name] }}}
		if got := a.user(); got != want {
			t.Errorf("$USER %q: %q, want %q", env, got, want)
		}
	}
}

// TestRegularExpressionsCompile compiles those that a program compiles only when it uses them.
func TestRegularExpressionsCompile(t *testing.T) {
	if n := lazyregexp.CompileAll(); n < 200 {
		t.Errorf("%d expressions: the test is stale", n)
	}
}
