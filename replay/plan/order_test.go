package plan

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestStepsThatKeepTheirOrder has pairs of lines, each with others before it, that must not run side by side or in the
// other order.
func TestStepsThatKeepTheirOrder(t *testing.T) {
	repo := []string{"git init -q -b main .", "echo 1 > f", "git add f", "git commit -qm one", "git checkout -q -b x", "git commit -q --allow-empty -m two", "git checkout -q main"}
	serve := []string{"mkdir www", "python3 -m http.server 18473 -d www >srv.log 2>&1 &"}
	for name, lines := range map[string][]string{
		"a reader before what removes":          {"mkdir t", "echo a > t/a", "cat t/a > out", "rm t/a"},
		"a removal before who reads the tree":   {"mkdir t", "echo a > t/a", "rm t/a", "git diff --no-index t u > d.patch"},
		"who reads a tree before what removes":  {"mkdir t", "echo a > t/a", "cp -r t u", "rm t/a"},
		"who reads a tree before what is added": {"mkdir t", "echo a > t/a", "tar cf t.tar t", "echo b > t/b"},
		"through a link":                        {"echo a > v1", "ln -s v1 current", "cat current > out", "echo b > v1"},
		"a link that is turned":                 {"mkdir v1 v2", "ln -s v1 current", "cat current/f > out", "ln -sfn v2 current"},
		"what a directory is removed from":      {"mkdir t", "echo a > t/a", "cp t/a b", "rm -r t"},
		"a mode":                                {"echo a > f", "cat f > out", "chmod 000 f"},
		"a pattern":                             {"echo a > a.c", "cat *.c > all", "rm a.c"},
		"a merge and who removes the branch":    append(slices.Clone(repo), "git merge -q x", "git branch -d x"),
		"a tag and a commit":                    append(slices.Clone(repo), "git tag v1", "git commit -q --allow-empty -m three"),
		"a commit and an edit":                  append(slices.Clone(repo), "git commit -qam three", "echo 2 > f"),
		"a call and the end of a service":       append(slices.Clone(serve), "curl -s http://127.0.0.1:18473/ > got", "kill %1"),
		"a call and what is served":             append(slices.Clone(serve), "curl -s http://127.0.0.1:18473/ > got", "echo b > www/index.html"),
		"who waits and who reads":               {"(sleep 1; echo late > late) &", "wait", "cat late > out"},
		"a program that is not known":           {"echo a > f", "frobnicate", "echo b > g"},
		"what goes on and an unknown program":   {"echo a > f", "echo b > g", "frobnicate"},
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, narrative(lines...), Request{All: true})
			at := func(line string) int {
				return slices.IndexFunc(p.Steps, func(s replay.Step) bool { return s.Original == line })
			}
			first, last := at(lines[len(lines)-2]), at(lines[len(lines)-1])
			if first < 0 || last < 0 {
				t.Fatalf("not all are steps: %d, %d of %d", first, last, len(p.Steps))
			}
			if !waitsFor(p, last, first) {
				t.Errorf("step %d does not wait for step %d: %+v", last, first, p.Steps[last].Needs)
			}
		})
	}
}

// TestStepsThatMayRunSideBySide has lines of which none waits for another one.
func TestStepsThatMayRunSideBySide(t *testing.T) {
	p := made(t, narrative("echo a > a", "mkdir -p t/u", "echo b | sort > b", "cp /etc/hostname c", "sleep 1", "sed s/a/b/ /etc/hosts > d"), Request{All: true})
	for _, s := range p.Steps {
		if len(s.Needs) > 0 {
			t.Errorf("%s waits for %+v", s.Original, s.Needs)
		}
	}
}

func waitsFor(p replay.Plan, i, on int) bool {
	return i >= on && slices.ContainsFunc(p.Steps[i].Needs, func(n replay.Need) bool { return n.On == on || n.On > on && waitsFor(p, n.On, on) })
}

// pieces are lines for narratives; A, B, C are names of files, D and E of directories, and X and Y of branches.
var pieces = []string{
	"echo N > A", "echo N >> A", "cat A > B", "cat A B > C", "cp A B", "mv A B", "rm A", "rm -f A", "ln -sf A B", "ln -sfn D l",
	"mkdir D", "mkdir -p D/E", "echo N > D/A", "cp A D/", "cp -r D E", "mv D E", "rm -r D", "rmdir D", "cat D/* > A", "ls D > A", "cat l/A > B",
	"sed -i s/1/N/ A", "sort A -o A", "tar cf t.tar D", "tar xf t.tar", "diff -r D E > A || true", "find D -type f | sort > B", "wc -l < A > B",
	"V=N", "echo $V > A", "for f in D/*; do cat $f >> A; done", "touch D/A", "tee A < B > C", "(cd D && echo N > A)", "grep -r 1 D > C || true",
	"git add A", "git add -A", "git commit -qm N", "git commit -qam N", "git checkout -q -b X", "git checkout -q X", "git merge -q --no-edit X", "git branch -q -D X",
	"git tag N", "git mv A B", "git rm -q A", "git log --format=%s > C", "git stash -q", "git stash pop -q", "git reset -q --hard", "git checkout -q -- A", "git branch X", "git status -s > A", "git show X:A > B",
	"git diff > C", "git rev-list --count HEAD > B", "git archive -o D.tar HEAD",
}

// TestPermittedOrdersEndTheSame runs narratives of random lines in their order and in others that their plans permit.
func TestPermittedOrdersEndTheSame(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	rng := rand.New(rand.NewPCG(49, 7))
	for round := range rounds {
		lines := []string{"git init -q -b main .", "echo 1 > a", "mkdir d e", "echo 1 > d/a", "git add -A", "git commit -qm one"}
		for range 14 {
			pick := func(names ...string) string { return names[rng.IntN(len(names))] }
			lines = append(lines, strings.NewReplacer("A", pick("a", "b", "c"), "B", pick("a", "b", "c"), "C", pick("a", "b", "c"),
				"D", pick("d", "e"), "E", pick("d", "e", "g"), "X", pick("x", "y"), "N", fmt.Sprint(rng.IntN(9))).Replace(pieces[rng.IntN(len(pieces))]))
		}
		want := ""
		for {
			tree, failed := runLines(t, lines)
			if want = tree; len(failed) == 0 {
				break
			}
			lines = slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(failed, l) })
		}
		p := made(t, narrative(lines...), Request{All: true})
		for range 3 {
			order := anyOrder(p, rng)
			if got, _ := runLines(t, order); got != want {
				t.Fatalf("round %d: recorded as\n%s\n→\n%s\nrun as\n%s\n→\n%s", round, strings.Join(lines, "\n"), want, strings.Join(order, "\n"), got)
			}
		}
	}
}

const rounds = 25

// anyOrder returns the lines of a plan's steps in a random order that their needs permit.
func anyOrder(p replay.Plan, rng *rand.Rand) (lines []string) {
	done := map[int]bool{}
	for len(done) < len(p.Steps) {
		var free []int
		for i, s := range p.Steps {
			if !done[i] && !slices.ContainsFunc(s.Needs, func(n replay.Need) bool { return !done[n.On] }) {
				free = append(free, i)
			}
		}
		i := free[rng.IntN(len(free))]
		done[i] = true
		lines = append(lines, p.Steps[i].Original)
	}
	return lines
}

// runLines runs lines in a shell and a directory of their own. It returns what that has then, and the lines that failed.
func runLines(t *testing.T, lines []string) (tree string, failed []string) {
	t.Helper()
	dir := t.TempDir()
	script := ""
	for i, l := range lines {
		script += fmt.Sprintf("%s || echo failed %d >&2\n", l, i)
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/none", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=ann", "GIT_"+who+"_EMAIL=ann@example.com", "GIT_"+who+"_DATE=2026-01-01T00:00:00Z")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run()
	for l := range strings.Lines(stderr.String()) {
		i := 0
		if n, _ := fmt.Sscanf(l, "failed %d", &i); n == 1 {
			failed = append(failed, lines[i])
		}
	}
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if rel == ".git" {
			return filepath.SkipDir
		}
		content := []byte{}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(name)
			content = []byte("→ " + to)
		case d.Type().IsRegular() && !strings.HasSuffix(rel, ".tar"):
			content, _ = os.ReadFile(name)
		}
		fmt.Fprintf(&b, "%s %s %q\n", rel, d.Type(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"log", "--all", "--format=%s %T"}, {"branch"}, {"tag"}, {"status", "--porcelain"}, {"stash", "list"}} {
		git := exec.Command("git", args...)
		git.Dir, git.Env = dir, cmd.Env
		out, _ := git.CombinedOutput()
		fmt.Fprintf(&b, "%s:\n%s", args[0], out)
	}
	return b.String(), failed
}

// TestTrapsOfTheShell has a shell that sends signals to itself.
func TestTrapsOfTheShell(t *testing.T) {
	for _, lines := range [][]string{
		{"trap 'echo bye >> trapped' USR1", "kill -USR1 $$"},
		{"trap 'rm b' SIGHUP TERM", "echo a > b", "kill $$"},
		{"trap 'echo bye >> trapped' USR1", "kill -s usr1 $$", "cp trapped copy"},
	} {
		p := made(t, narrative(lines...), Request{})
		var got []string
		for _, s := range p.Steps {
			got = append(got, s.Original)
		}
		want := lines
		if strings.Contains(lines[0], "rm b") {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("kept %q, want %q", got, want)
		}
	}
}
