package recallhook

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDeadline reaches the deadline while the hook waits for a server that hangs in each way. The
// hook must print nothing, keep nothing, and have the message recorded. The clock is a channel: the
// deadline is reached once the hook is known to hang.
func TestDeadline(t *testing.T) {
	const prompt = `{"session_id":"s","cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"fix it"}`
	for name, hang := range map[string]func(w *world, h *hook, hangs chan<- struct{}, release <-chan struct{}){
		"connecting": func(_ *world, h *hook, hangs chan<- struct{}, release <-chan struct{}) {
			h.dial = func(string, time.Time) (net.Conn, error) {
				close(hangs)
				<-release
				return nil, io.ErrUnexpectedEOF
			}
		},
		"no answer": func(w *world, _ *hook, hangs chan<- struct{}, release <-chan struct{}) {
			w.handler = func(http.ResponseWriter, *http.Request) {
				close(hangs)
				<-release
			}
		},
		"an answer that trickles": func(w *world, _ *hook, hangs chan<- struct{}, release <-chan struct{}) {
			w.handler = func(rw http.ResponseWriter, _ *http.Request) {
				for i := range 20 {
					_, _ = io.WriteString(rw, " ")
					rw.(http.Flusher).Flush()
					if i == 10 {
						close(hangs)
						<-release
					}
				}
				_, _ = io.WriteString(rw, `{"text":"too late","items":[{"id":"x"}]}`)
			}
		},
		"the configuration": func(w *world, h *hook, hangs chan<- struct{}, release <-chan struct{}) {
			h.getenv = func(name string) string {
				if name == "RECOUNT_SERVER" {
					close(hangs)
					<-release
					runtime.Goexit() // the test's directory is being removed
				}
				return w.getenv(name)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			hangs, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			var out bytes.Buffer
			h := w.hook("claude-code", &out)
			w.env["RECOUNT_HOOK_LOG"] = t.TempDir() + "/log"
			hang(w, h, hangs, release)
			deadline := time.Unix(100, 0)
			h.at = func(at time.Time) <-chan time.Time {
				if !at.Equal(deadline) {
					t.Errorf("waits until %s", at)
				}
				reached := make(chan time.Time)
				go func() {
					<-hangs
					close(reached)
				}()
				return reached
			}
			h.dial = far(h.dial)
			var recorded []string
			h.record = func(_ string, message []byte) (<-chan struct{}, error) {
				recorded = append(recorded, string(message))
				return make(chan struct{}), nil // it does not end, and nobody waits for it
			}
			h.run([]byte(prompt), h.recorder([]byte(prompt)), deadline, deadline.Add(time.Second))
			if out.Len() > 0 || len(recorded) != 1 || recorded[0] != prompt {
				t.Errorf("printed %q, recorded %q", &out, recorded)
			}
			if b, err := os.ReadFile(w.env["RECOUNT_HOOK_LOG"]); err != nil || !strings.Contains(string(b), "in time") {
				t.Errorf("the log has %q, %v", b, err)
			}
			if shown, err := openShown(w.getenv, "claude-code", "s", false); err != nil || len(shown.ids) > 0 {
				t.Errorf("kept %v, %v", shown.ids, err)
			}
		})
	}
}

// far dials with a deadline that is not that of the fake clock, so that only the hook itself can give
// up.
func far(dial func(string, time.Time) (net.Conn, error)) func(string, time.Time) (net.Conn, error) {
	return func(address string, _ time.Time) (net.Conn, error) {
		conn, err := dial(address, time.Now().Add(long))
		if err == nil {
			conn = stubborn{conn}
		}
		return conn, err
	}
}

// stubborn is a connection that heeds no deadline.
type stubborn struct{ net.Conn }

func (stubborn) SetDeadline(time.Time) error { return nil }

// TestLimit checks that the recorder is waited for until the limit before a tool runs, and not at all
// after it.
func TestLimit(t *testing.T) {
	limit := time.Unix(200, 0)
	for message, waits := range map[string]bool{
		`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`: true,
		`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{}}`:              false,
		`not json`: true,
	} {
		w := newWorld(t)
		h := w.hook("claude-code", io.Discard)
		waited := false
		h.record = func(string, []byte) (<-chan struct{}, error) { return make(chan struct{}), nil }
		h.at = func(at time.Time) <-chan time.Time {
			waited = waited || at.Equal(limit)
			reached := make(chan time.Time)
			close(reached)
			return reached
		}
		h.run([]byte(message), h.recorder([]byte(message)), limit.Add(-time.Second), limit)
		if waited != waits {
			t.Errorf("%s: waited %t", message, waited)
		}
	}
}

// TestLast reaches the limit before the recorder is started, and while it is: the message is recorded
// once, and nobody waits for a start that hangs.
func TestLast(t *testing.T) {
	for name, hangs := range map[string]bool{"before": false, "while it hangs": true} {
		w := newWorld(t)
		h := w.hook("claude-code", io.Discard)
		begun, release := make(chan struct{}, 2), make(chan struct{})
		h.record = func(string, []byte) (<-chan struct{}, error) {
			begun <- struct{}{}
			if hangs {
				<-release
			}
			return nil, nil
		}
		over := make(chan time.Time)
		h.at = func(time.Time) <-chan time.Time { return over }
		recorder := h.recorder([]byte("{}"))
		if hangs {
			go func() { _, _ = recorder() }()
			<-begun
			close(over)
			h.last(recorder) // returns although the start hangs
			close(release)
		} else {
			h.last(recorder)
			<-begun
		}
		if _, err := recorder(); err != nil || len(begun) > 0 {
			t.Errorf("%s: started again, or failed: %v", name, err)
		}
	}
}

// TestReleased checks that the agent has all of the hook's output when the recorder is started, and
// waits for no more: the order, and that a reader of the outputs reaches their end.
func TestReleased(t *testing.T) {
	w := newWorld(t)
	var out bytes.Buffer
	var order []string
	h := w.hook("claude-code", &out)
	h.release = func() { order = append(order, fmt.Sprint("released after ", out.Len() > 0)) }
	h.record = func(string, []byte) (<-chan struct{}, error) {
		order = append(order, "recorded")
		return nil, nil
	}
	prompt := []byte(`{"session_id":"s","cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"fix it"}`)
	h.run(prompt, h.recorder(prompt), time.Now().Add(long), time.Now().Add(long))
	if strings.Join(order, ", ") != "released after true, recorded" {
		t.Errorf("%q", order)
	}
}

// TestRelease runs release in a process of its own, whose outputs end although it lives on.
func TestRelease(t *testing.T) {
	const asked = "RECALLHOOK_RELEASES"
	if os.Getenv(asked) != "" {
		release()
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRelease$")
	cmd.Env = append(os.Environ(), asked+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	outputs, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outputs.Close()
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if b, err := io.ReadAll(outputs); err != nil || len(b) > 0 {
		t.Errorf("read %q, %v", b, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestNoLookUp checks that no name of a server is looked up.
func TestNoLookUp(t *testing.T) {
	for server, want := range map[string]string{
		"http://localhost:7171": "127.0.0.1:7171 [::1]:7171", "localhost:7171": "127.0.0.1:7171 [::1]:7171", "http://127.0.0.1": "127.0.0.1:80",
		"http://[::1]:7171": "[::1]:7171", "http://localhost.example:7171": "", "http://slow-name.invalid": "",
	} {
		e, err := find(func(name string) string { return map[string]string{"RECOUNT_SERVER": server}[name] })
		if got := strings.Join(e.addresses, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: dials %q, %v", server, got, err)
		}
	}
}
