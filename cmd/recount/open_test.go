package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/datadir"
)

// TestOpen opens the page without a server, which starts one, and with it, and stops it.
func TestOpen(t *testing.T) {
	w := newWorld(t)
	t.Cleanup(func() { w.sh("recount stop") })
	files := map[string]string{
		// It ends before it has read what it is to show, as a browser that is open already does.
		"bin/browser":                      "#!/bin/sh\nprintf '%s' \"$1\" > $DIR/shown.new && mv $DIR/shown.new $DIR/shown\n",
		"home/.config/recount/config.yaml": "http: {listen: '127.0.0.1:0'}\nkafka: {listen: none}\notlp: {grpc: none, http: none}\n",
	}
	for name, text := range files {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := w.sh("recount stop"); code != exitNothing || !strings.Contains(out, "there is no") {
		t.Errorf("stop without anything: %d: %s", code, out)
	}
	if out, code := w.sh("recount open why"); code != exitNothing || !strings.Contains(out, "no command has failed") {
		t.Errorf("open why without a failure: %d: %s", code, out)
	}
	if out, code := w.sh("recount stop"); code != 0 {
		t.Error(out)
	}
	if out, code := w.sh("recount record --exit 1 -- make broken"); code != 0 {
		t.Fatal(out)
	}
	id, _ := w.sh("recount find --json | sed -n 's/^ *\"id\": \"\\(.*\\)\",/\\1/p'")
	id = strings.TrimSpace(id)

	open := func(line string) (answer opened, text string) {
		t.Helper()
		out, code := w.sh(line + " --json 2>&1")
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, out)
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return answer, out
	}
	pid := 0
	for line, want := range map[string]string{
		"recount open":                              "/",
		"recount open why":                          "/why/" + id,
		"recount open find remove 'old images'":     "/ask?q=remove+old+images",
		"recount open impact Parser.Parse":          "/code/impact?name=Parser.Parse",
		"RECOUNT_SESSION=a/b recount open session":  "/narrative?session=a%2Fb",
		"recount open trace 0af7":                   "/runtime/trace/0af7",
		"recount why --open":                        "/why/" + id,
		"recount find --open make 'a&b'":            "/ask?q=make+a%26b",
		"recount stitch " + id + " --open":          "/narrative?root=" + id,
		"recount show recount.commands/0/0 --open":  "/command/recount.commands%2F0%2F0",
		"recount callers kgo.Client.Produce --open": "/code/symbol?name=kgo.Client.Produce",
	} {
		got, _ := open(strings.Replace(line, "recount ", "env BROWSER=$DIR/bin/browser recount ", 1))
		u, err := url.Parse(got.URL)
		if err != nil || u.RequestURI() != want || !got.Browser {
			t.Errorf("%s: %+v, want %s in a browser", line, got, want)
		}
		if got.Started != 0 && pid != 0 {
			t.Errorf("%s: it started a second server", line)
		}
		pid += got.Started
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // another process writes it
			b, err := os.ReadFile(filepath.Join(w.dir, "shown"))
			if err == nil && string(b) == got.URL {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: the browser showed %q, %v", line, b, err)
			}
		}
	}
	e, running, err := datadir.Running(w.data())
	if err != nil || !running || e.PID != pid || pid == 0 {
		t.Errorf("%+v, %v, %v: want a server of pid %d", e, running, err, pid)
	}
	if out, code := w.sh("recount open"); code != 0 || !strings.HasPrefix(out, e.HTTP+"/\n") || strings.Contains(out, "started") {
		t.Errorf("without a browser: %d: %s", code, out)
	}
	for _, line := range []string{"recount open nowhere", "recount open log x", "recount open session", "recount stop --server http://127.0.0.1:1"} {
		if out, code := w.sh(line); code != exitFailed {
			t.Errorf("%s: exit %d: %s", line, code, out)
		}
	}
	if out, code := w.sh("recount stop"); code != 0 || !strings.HasPrefix(out, "stopped pid ") {
		t.Errorf("stop: %d: %s", code, out)
	}
	if _, running, err := datadir.Running(w.data()); running || err != nil {
		t.Errorf("it still runs, %v", err)
	}
	if out, code := w.sh("recount stop"); code != exitNothing || !strings.Contains(out, "no server uses") {
		t.Errorf("stop twice: %d: %s", code, out)
	}
}

// TestOpenTellsWhyThereIsNoServer checks that the error of a server that cannot start is shown.
func TestOpenTellsWhyThereIsNoServer(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "bad.yaml"), []byte("http: {listen: nowhere}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := w.sh("recount open --config $DIR/bad.yaml")
	if code != exitFailed || !strings.Contains(out, "http.listen") {
		t.Errorf("exit %d: %s", code, out)
	}
}
