package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/sandbox"
)

func TestDangerousPartsAreConfirmedOneByOne(t *testing.T) {
	dangerous := func() []replay.Step {
		s := commands("touch danger", "touch after", "touch free")
		s[0].Danger = []danger.Finding{{Kind: "remove", What: "a", Why: "b"}, {Kind: "publish", What: "c", Why: "d"}}
		s[0].Asks = []replay.Ask{{Kind: replay.AskFailed, Text: "it failed"}}
		return s
	}
	for _, answers := range []map[string]bool{{"ask": true, "a: b": true}, {"ask": true, "a: b": true, "c: d": true}, {}} {
		w := newWorld(t)
		var asked []string
		w.o.Policy.OnFailure = OnFailureSkip
		w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
			asked = append(asked, q.Text)
			return answers[q.Kind] || answers[q.Text], nil
		}
		got := statuses(w.run(w.plan(dangerous(), [2]int{1, 0})))
		want := "refused blocked done"
		if len(answers) == 3 {
			want = "done done done"
		}
		if got != want {
			t.Errorf("%v: %s, want %s; asked %q", answers, got, want, asked)
		}
	}
}

// TestRepositoriesThatAreThere lets a plan change the history of a repository that it begins, and asks where one was there.
func TestRepositoriesThatAreThere(t *testing.T) {
	for name, want := range map[string]string{"": "done done", "own/.git/HEAD": "done refused", "own/HEAD": "done refused", "own/file": "done done"} {
		w := newWorld(t)
		w.o.Policy.OnFailure = OnFailureSkip
		w.o.Confirm = func(context.Context, Question) (bool, error) { return false, nil }
		if name != "" {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := commands("mkdir -p own/.git && touch own/HEAD", "touch reset")
		s[1].Danger = []danger.Finding{{Kind: "history", What: "git reset --hard", Why: "it discards changes", Unless: filepath.Join(w.dir, "own")}}
		if got := statuses(w.run(w.plan(s, [2]int{1, 0}))); got != want {
			t.Errorf("with %q: %s, want %s", name, got, want)
		}
	}
}

// TestWhatCanDoNoHarm has steps that are dangerous only where something is, which the run looks at.
func TestWhatCanDoNoHarm(t *testing.T) {
	w := newWorld(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = w.dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"clean", "changed", "stashed"} {
		git("init", "-q", name)
		if err := os.WriteFile(filepath.Join(w.dir, name, "f"), []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		git("-C", name, "add", "f")
		git("-C", name, "commit", "-qm", "one")
		if name != "clean" {
			if err := os.WriteFile(filepath.Join(w.dir, name, "f"), []byte("2\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	git("-C", "stashed", "stash", "-q")
	git("clone", "-q", "clean", "untracked")
	git("-C", "untracked", "config", "status.showUntrackedFiles", "no")
	if err := os.WriteFile(filepath.Join(w.dir, "untracked", "g"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", "clean", "branch", "old")
	git("init", "-q", "--bare", "remote.git")
	git("-C", "clean", "remote", "add", "origin", "../remote.git")
	git("-C", "changed", "remote", "add", "origin", "https://example.com/x.git")
	at := func(name string) string { return filepath.Join(w.dir, name) }
	for name, c := range map[string]struct {
		finding danger.Finding
		without map[int]bool
		want    string
	}{
		"known by a variable":      {danger.Finding{Whole: true}, nil, "done done"},
		"which is not set":         {danger.Finding{Whole: true}, map[int]bool{0: true}, "omitted refused"},
		"nothing to lose":          {danger.Finding{Clean: at("clean")}, nil, "done done"},
		"not there yet":            {danger.Finding{Clean: at("later")}, nil, "done done"},
		"changes that were there":  {danger.Finding{Clean: at("changed")}, nil, "done refused"},
		"a file that git lacks":    {danger.Finding{Clean: at("untracked")}, nil, "done refused"},
		"a stash that was there":   {danger.Finding{Clean: at("stashed")}, nil, "done refused"},
		"a new branch":             {danger.Finding{Clean: at("changed"), Branches: []string{"new"}}, nil, "done done"},
		"a branch that was there":  {danger.Finding{Clean: at("clean"), Branches: []string{"new", "old"}}, nil, "done refused"},
		"a file as it was":         {danger.Finding{Clean: at("changed"), Files: []string{"h", "new"}}, nil, "done done"},
		"a changed file":           {danger.Finding{Clean: at("changed"), Files: []string{"h", "f"}}, nil, "done refused"},
		"a file of its own":        {danger.Finding{Clean: at("untracked"), Files: []string{"g"}}, nil, "done refused"},
		"nothing that git lacks":   {danger.Finding{Clean: at("clean"), Files: []string{"."}}, nil, "done done"},
		"a folder with a change":   {danger.Finding{Clean: at("changed"), Files: []string{"."}}, nil, "done refused"},
		"a remote in the tree":     {danger.Finding{Remotes: at("clean")}, nil, "done done"},
		"a remote elsewhere":       {danger.Finding{Remotes: at("changed")}, nil, "done refused"},
		"no remote":                {danger.Finding{Remotes: at("stashed")}, nil, "done refused"},
		"nothing is known of this": {danger.Finding{}, nil, "done refused"},
	} {
		w.o.Policy.OnFailure, w.o.Without = OnFailureSkip, c.without
		w.o.Confirm = func(context.Context, Question) (bool, error) { return false, nil }
		s := commands("echo 3 > clean/f", "true", "echo 1 > clean/f")
		s[1].Danger = []danger.Finding{c.finding}
		if got := statuses(w.run(w.plan(s))); got != c.want+" done" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationNone, sandbox.IsolationSandbox} {
		w.o.Executor, w.o.Without = w.open(isolation), nil
		s := commands("true")
		s[0].Danger = []danger.Finding{{Open: true}}
		want := map[sandbox.Isolation]string{sandbox.IsolationNone: "refused", sandbox.IsolationSandbox: "done"}[isolation]
		if got := statuses(w.run(w.plan(s))); got != want {
			t.Errorf("a guess, %s: %s, want %s", isolation, got, want)
		}
	}
}

// TestUnknownProgramsAreConfirmedOnce checks that a program about which nothing is known is asked about once
// for all steps, and only where they may reach more than the directory.
func TestUnknownProgramsAreConfirmedOnce(t *testing.T) {
	unknown := func() []replay.Step {
		s := commands("touch a", "touch b", "touch c", "touch free")
		s[0].Unknown, s[1].Unknown, s[2].Unknown = []string{"one"}, []string{"one", "two"}, []string{"one"}
		return s
	}
	for _, c := range []struct {
		isolation  sandbox.Isolation
		network    bool
		yes        string
		asked, got string
	}{
		{sandbox.IsolationSandbox, false, "", "", "done done done done"},
		{sandbox.IsolationSandbox, true, "one", "one two", "done refused done done"},
		{sandbox.IsolationNone, false, "one", "one two", "done refused done done"},
		{sandbox.IsolationNone, false, "two", "one", "refused refused refused done"},
		{sandbox.IsolationNone, true, "one two", "one two", "done done done done"},
	} {
		w := newWorld(t)
		w.o.Executor, w.o.Network, w.o.Policy.OnFailure, w.o.Jobs = w.open(c.isolation), c.network, OnFailureSkip, 4
		var asked []string
		w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
			if q.Kind != QuestionProgram || !strings.Contains(q.Text, "nothing is known about "+q.Program) {
				t.Errorf("question %+v", q)
			}
			asked = append(asked, q.Program)
			return strings.Contains(c.yes, q.Program), nil
		}
		if got := statuses(w.run(w.plan(unknown()))); got != c.got || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s, network %t, yes to %q: %s, asked %q; want %s, %q", c.isolation, c.network, c.yes, got, asked, c.got, c.asked)
		}
	}
}

func TestQuestionsWithNames(t *testing.T) {
	w := newWorld(t)
	s := commands(`printf %s "$RECOUNT_PASSWORD" > out`, `printf %s "$RECOUNT_PASSWORD$OTHER"`, "vi")
	s[0].Asks = []replay.Ask{{Kind: replay.AskRedacted, Name: "RECOUNT_PASSWORD", Text: "give it"}}
	s[1].Asks = []replay.Ask{{Kind: replay.AskRedacted, Name: "ABSENT", Text: "give ABSENT"}}
	s[2].Asks = []replay.Ask{{Kind: replay.AskTerminal, Text: "vi needs a terminal"}}
	w.o.Values = map[string]string{"RECOUNT_PASSWORD": "s3cret"}
	r := w.run(w.plan(s))
	if statuses(r) != "done refused terminal" || w.read("out") != "s3cret" || r.Steps[2].Reason != "vi needs a terminal" {
		t.Errorf("%+v", r)
	}
	if text := fmt.Sprintf("%+v", w.j.past); strings.Contains(text, "s3cret") {
		t.Errorf("the journal has the value: %s", text)
	}
}
