package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestWhatAnEarlierStepMadeIsNoProof makes a directory, uses it, removes it and makes it anew: that it is there after
// the first step does not tell that the fourth one is done.
func TestWhatAnEarlierStepMadeIsNoProof(t *testing.T) {
	for _, first := range []replay.Postcondition{{Kind: "directory", Target: "d"}, {Kind: "none"}} {
		w := newWorld(t)
		post := func(kind, name, hash string, by int) []replay.Postcondition {
			p := replay.Postcondition{Kind: kind, Target: filepath.Join(w.dir, name), Hash: hash}
			if by > 0 {
				p.ReplacedBy = &by
			}
			return []replay.Postcondition{p}
		}
		steps := func() *replay.Plan {
			s := commands("mkdir d; echo 1 > d/old", "cat d/old > first", "rm -r d", "mkdir d", "ls d > list")
			s[0].Post = []replay.Postcondition{first}
			if first.Target != "" {
				s[0].Post = post("directory", "d", "", 2)
			}
			s[0].Outputs = []string{filepath.Join(w.dir, "d/old")}
			s[1].Post = post("file", "first", sum("1\n"), 0)
			s[2].Post = post("absent", "d", "", 3)
			s[3].Post = post("directory", "d", "", 0)
			s[4].Post = post("file", "list", sum(""), 0)
			return w.plan(s, [2]int{1, 0}, [2]int{2, 1}, [2]int{3, 2}, [2]int{4, 3})
		}
		if r := w.run(steps()); statuses(r) != "done done done done done" {
			t.Errorf("%s: %s, want each done", first.Kind, statuses(r))
		}
		if b, err := os.ReadFile(filepath.Join(w.dir, "list")); err != nil || string(b) != "" {
			t.Errorf("%s: the list is %q (%v)", first.Kind, b, err)
		}
		if first.Kind == "none" {
			continue
		}
		if r := w.run(steps()); statuses(r) != "skipped skipped skipped skipped skipped" {
			t.Errorf("%s: the second time %s", first.Kind, statuses(r))
		}
	}
}

// TestABranchThatIsMadeAnew removes a branch and makes it anew: what is committed then goes on the new one.
func TestABranchThatIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.o.Env["GIT_CONFIG_COUNT"], w.o.Env["GIT_CONFIG_KEY_0"], w.o.Env["GIT_CONFIG_VALUE_0"] = "2", "user.name", "n"
	w.o.Env["GIT_CONFIG_KEY_1"], w.o.Env["GIT_CONFIG_VALUE_1"] = "user.email", "n@example.com"
	post := func(kind, target string, by int) replay.Postcondition {
		p := replay.Postcondition{Kind: kind, Target: target}
		if by > 0 {
			p.ReplacedBy = &by
		}
		return p
	}
	steps := func() *replay.Plan {
		s := commands("git init -q -b main && git commit -q --allow-empty -m first", "git checkout -q -b x && git commit -q --allow-empty -m wip",
			"git log --format=%s > log", "git checkout -q main", "git branch -q -D x", "git checkout -q -b x", "git commit -q --allow-empty -m wip",
			"git commit -q --allow-empty -m wip")
		s[0].Post = []replay.Postcondition{post("directory", w.dir+"/.git", 0)}
		s[1].Post = []replay.Postcondition{post("branch", "x", 4), post("head", "x", 3), post("commit", "wip", 4)}
		s[2].Post = []replay.Postcondition{{Kind: "file", Target: w.dir + "/log", Hash: sum("wip\nfirst\n")}}
		s[3].Post = []replay.Postcondition{post("head", "main", 5)}
		s[4].Post = []replay.Postcondition{post("no-branch", "x", 5)}
		s[5].Post = []replay.Postcondition{post("branch", "x", 0), post("head", "x", 0)}
		s[6].Post = []replay.Postcondition{post("commit", "wip", 0)}
		s[7].Post = []replay.Postcondition{post("commit", "wip", 0)}
		return w.plan(s, [2]int{1, 0}, [2]int{2, 1}, [2]int{3, 2}, [2]int{4, 3}, [2]int{5, 4}, [2]int{6, 5}, [2]int{7, 6})
	}
	if r := w.run(steps()); statuses(r) != "done done done done done done done done" {
		t.Errorf("%s, want each done", statuses(r))
	}
	if r := w.run(steps()); statuses(r) != "skipped skipped skipped skipped skipped skipped skipped skipped" {
		t.Errorf("the second time %s", statuses(r))
	}
}

// TestABranchThatIsGoneIsNotRemovedAgain has a plan without the step that made a branch anew between two removals.
func TestABranchThatIsGoneIsNotRemovedAgain(t *testing.T) {
	w := newWorld(t)
	s := commands("git init -q -b main && git -c user.name=n -c user.email=n@example.com commit -q --allow-empty -m first && git branch x", "git branch -q -d x", "git branch -q -D x")
	s[0].Post = []replay.Postcondition{{Kind: "directory", Target: w.dir + "/.git"}}
	s[1].Post = []replay.Postcondition{{Kind: "no-branch", Target: "x"}}
	s[2].Post = []replay.Postcondition{{Kind: "no-branch", Target: "x"}}
	if r := w.run(w.plan(s, [2]int{1, 0}, [2]int{2, 1})); statuses(r) != "done done skipped" {
		t.Errorf("%s, want done done skipped", statuses(r))
	}
}
