package run

import (
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestStepsDoNotFindThemselves has steps that look for a process by words which they have in them, as the shell into
// which they were typed did not.
func TestStepsDoNotFindThemselves(t *testing.T) {
	for _, session := range []string{"", "one"} {
		w := newWorld(t)
		s := commands("sleep 4711 & X=1", "pgrep -fc 'sleep 4711' > found; pkill -f 'sleep 4711'; echo ended > out", "env | grep -c __recount || true")
		for i := range s {
			s[i].Session, s[i].Shell = session, "bash"
		}
		s[0].Background, s[0].Sets = true, []string{"X"}
		r := w.run(w.plan(s))
		if got := statuses(r); got != "done done done" || w.read("found")+w.read("out") != "1\nended\n" || r.Steps[2].Output != "0\n" {
			t.Errorf("session %q: %s, %q", session, got, r.Steps[2].Output)
		}
	}
}

// TestValuesOfOneStep has steps of one session that ask for different values by the same name.
func TestValuesOfOneStep(t *testing.T) {
	w := newWorld(t)
	s := commands(`A="${RECOUNT_TOKEN}"; echo $A > first`, `echo "${RECOUNT_TOKEN}" $A > second`, `echo "${RECOUNT_TOKEN}" > third`)
	for i := range s {
		s[i].Session, s[i].Asks = "one", []replay.Ask{{Kind: replay.AskRedacted, Name: "RECOUNT_TOKEN", Text: "give it"}}
	}
	s[0].Sets = []string{"A"}
	w.o.Values = map[string]string{"RECOUNT_TOKEN": "blue", "RECOUNT_TOKEN_2": "red"}
	r := w.run(w.plan(s, [2]int{1, 0}, [2]int{2, 1}))
	if got := w.read("first") + w.read("second") + w.read("third"); statuses(r) != "done done done" || got != "blue\nred blue\nblue\n" {
		t.Errorf("%s, got %q", statuses(r), got)
	}
	for i := range s {
		s[i].Needs = nil
	}
	w.o.Values = map[string]string{"RECOUNT_TOKEN_2": "red"}
	if got := statuses(w.run(w.plan(s))); got != "refused done refused" {
		t.Errorf("with a value for one step alone: %s", got)
	}
}

func TestSessionStateIsCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("export A='x y'; f() { echo \"f $1 $A\"; }; alias g='echo alias'; cd /tmp", "f 1; g 2; pwd", "A=changed; exit 4", "echo $A", "echo other $A")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets = []string{"A", "f()", "alias g"}
	s[2].Sets = []string{"A"}
	four := int32(4)
	s[2].Exit = &four
	s[4].Session = "two"
	w.o.Jobs = 4
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done done" {
		t.Fatalf("%s: %+v", statuses(r), r)
	}
	if got, want := r.Steps[1].Output, "f 1 x y\nalias 2\n"+w.dir+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Steps[3].Output != "changed\n" || r.Steps[4].Output != "other\n" {
		t.Errorf("%q %q", r.Steps[3].Output, r.Steps[4].Output)
	}
}

func TestConstantsAndParametersAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("readonly LIMIT=10; set -- a 'b c'", "echo $LIMIT $# $2", "shift", "echo $1 $#")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets = []string{"LIMIT", "option"}
	s[2].Sets = []string{"option"}
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done" || r.Steps[1].Output != "10 2 b c\n" || r.Steps[3].Output != "b c 1\n" {
		t.Errorf("%s: %q %q", statuses(r), r.Steps[1].Output, r.Steps[3].Output)
	}
}

// TestOpenFilesAreCarried has files that a shell opens in one line, and writes to, reads and closes in later ones.
func TestOpenFilesAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("exec 3> log", "echo one >&3", "echo two >&3; cat log", "exec 3>&-; exec 4>> log {in}< log", "echo three >&4; read -r a <&$in; read -r b <&$in; echo $b $a", "cat <&$in", "exec 4>&-; echo x >&4")
	for i := range s {
		s[i].Session = "one"
	}
	for _, i := range []int{0, 3, 6} {
		s[i].Sets = []string{"option"}
	}
	one := int32(1)
	s[6].Exit = &one
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done done done done" {
		t.Fatalf("%s: %+v", statuses(r), r.Steps)
	}
	if a, b, c := r.Steps[2].Output, r.Steps[4].Output, r.Steps[5].Output; a != "one\ntwo\n" || b != "two one\n" || c != "three\n" {
		t.Errorf("%q %q %q", a, b, c)
	}
}

// TestStreamsAreCarried has a shell that puts its standard output aside in one line, and back in a later one.
func TestStreamsAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("exec 6>&1 > log", "echo one", "exec 1>&6 6>&-", "echo two; cat log")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets, s[2].Sets = []string{"option"}, []string{"option"}
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done" || r.Steps[1].Output != "" || r.Steps[3].Output != "two\none\n" {
		t.Errorf("%s: %+v", statuses(r), r.Steps)
	}
}
