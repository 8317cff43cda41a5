package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/replay/run"
)

// TestReplayOfNamesThatAreNoText has steps that write files whose names are no UTF-8: the log leaves them out, and the
// run goes on.
func TestReplayOfNamesThatAreNoText(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	if out, code := w.sh(`mkdir a b; cd a; export RECOUNT_SESSION=s1
		recount exec -- bash -c 'mkdir d; echo x > d/$'"'\\xff'"; recount exec -- bash -c 'mv d/$'"'\\xff'"' d/$'"'\\xfe'"; recount exec -- cp -r d e`); code != 0 {
		t.Fatal(out)
	}
	out, code := w.sh(`recount replay --session s1 --map "$PWD/a=$PWD/b" --dir b --apply --yes; code=$?; recount replayed; exit $code`)
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, name := range []string{"d/\xfe", "e/\xfe"} {
		if b, err := os.ReadFile(filepath.Join(w.dir, "work/b", name)); string(b) != "x\n" {
			t.Errorf("%q: %q, %v\n%s", name, b, err, out)
		}
	}
}

// TestAnApplyThatStoppedIsNotDenied checks that a run whose apply stopped half-way is not said to have changed nothing.
func TestAnApplyThatStoppedIsNotDenied(t *testing.T) {
	for _, status := range []string{"complete", "incomplete"} {
		var out bytes.Buffer
		v := &replayView{a: &app{&connect.Connector{Terminal: &render.Terminal{Out: &out}}}}
		v.end(run.Report{Run: "r-1", Status: status}, nil, nil, false, true, true)
		if got := out.String(); strings.Contains(got, "nothing of this") || !strings.Contains(got, "--resume r-1 --apply goes on") {
			t.Error(got)
		}
	}
}
