package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestUnwrittenChanges has a change of a file whose text is not known: nothing is run unless the caller goes on without it.
func TestUnwrittenChanges(t *testing.T) {
	w := newWorld(t)
	s := commands("echo began > began", "create gen.sh", "cat gen.sh > out")
	s[1].Asks = []replay.Ask{{Kind: replay.AskUnwritten, Text: "the text of create gen.sh was not recorded"}}
	p := w.plan(s)
	if _, err := Run(context.Background(), p, w.o); err == nil || !strings.Contains(err.Error(), "step 2, the text of create gen.sh was not recorded (--without 2)") || w.j.planned > 0 {
		t.Errorf("%v, planned %d", err, w.j.planned)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "began")); err == nil {
		t.Error("the first step ran")
	}
	w.o.Policy.OnFailure = OnFailureSkip
	if r := w.run(p); statuses(r) != "done refused failed" && statuses(r) != "done refused blocked" {
		t.Errorf("skipping: %s", statuses(r))
	}
	w = newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "gen.sh"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = w.plan(s)
	w.o.Without = map[int]bool{1: true}
	if r := w.run(p); statuses(r) != "done omitted done" || w.read("out") != "mine\n" {
		t.Errorf("without it: %s, %q", statuses(r), w.read("out"))
	}
}
