package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
)

func open(t *testing.T, path string) *git.Repo {
	t.Helper()
	r, err := git.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func walk(t *testing.T, r *git.Repo, from, not []string) (ids []string) {
	t.Helper()
	err := r.Walk(t.Context(), from, not, func(w git.Walked) error {
		ids = append(ids, w.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := r.Count(t.Context(), from, not)
	if err != nil || int(n) != len(ids) {
		t.Errorf("Count: %d, %v; the walk has %d", n, err, len(ids))
	}
	return ids
}

func TestOpenFindsTheKindsOfRepositories(t *testing.T) {
	g := gittest.Init(t)
	first := g.Commit("one", "dir/a.go", "package a\n")
	clone := func(name string, args ...string) string {
		dir := filepath.Join(t.TempDir(), name)
		g.Git(append(append([]string{"clone", "-q"}, args...), "file://"+g.Dir, dir)...)
		return dir
	}
	second := g.Commit("two", "dir/a.go", "package a // two\n")
	bare, shallow := clone("bare.git", "--bare"), clone("shallow", "--depth=1")
	tree := filepath.Join(t.TempDir(), "tree")
	g.Git("worktree", "add", "-q", "--detach", tree, first)

	for _, c := range []struct {
		why, path  string
		bare       bool
		head, name string
		target     string
	}{
		{"the root", g.Dir, false, second, "HEAD", "refs/heads/main"},
		{"a folder below", filepath.Join(g.Dir, "dir"), false, second, "HEAD", "refs/heads/main"},
		{"bare", bare, true, second, "HEAD", "refs/heads/main"},
		{"shallow", shallow, false, second, "HEAD", "refs/heads/main"},
		{"a linked working tree, detached", tree, false, first, "worktrees/tree/HEAD", ""},
		{"inside .git", filepath.Join(g.Dir, ".git"), false, second, "HEAD", "refs/heads/main"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := open(t, c.path)
			head, err := r.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(head, git.Ref{Name: c.name, Commit: c.head, Target: c.target}); diff != "" || r.Bare != c.bare {
				t.Errorf("bare %v, head (-got +want):\n%s", r.Bare, diff)
			}
		})
	}

	border, err := open(t, shallow).Shallow()
	if err != nil || len(border) != 1 || border[0] != second {
		t.Errorf("shallow: %v, %v", border, err)
	}
	if got := walk(t, open(t, shallow), []string{second}, nil); len(got) != 1 {
		t.Errorf("walk of a shallow clone: %v", got)
	}
	if r := open(t, tree); r.CommonDir != filepath.Join(g.Dir, ".git") || r.TopLevel != tree {
		t.Errorf("linked working tree: %+v", r)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/no/such/folder": "/no/such/folder: no such file",
		file:              "not a folder",
		t.TempDir():       "not a git repository",
	} {
		if _, err := git.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
	if _, err := git.Open(t.Context(), t.TempDir()); !errors.Is(err, git.ErrNoRepository) {
		t.Errorf("not ErrNoRepository: %v", err)
	}
}

func TestHeadWithoutCommits(t *testing.T) {
	g := gittest.Init(t)
	head, err := open(t, g.Dir).Head(t.Context())
	if err != nil || head != (git.Ref{Name: "HEAD", Target: "refs/heads/main"}) {
		t.Errorf("got %+v, %v", head, err)
	}
}

func TestWalkParentsBeforeChildren(t *testing.T) {
	g := gittest.Init(t)
	one := g.Commit("one", "a", "1")
	g.Git("checkout", "-q", "-b", "side")
	side := g.Commit("side", "b", "1")
	g.Git("checkout", "-q", "main")
	two := g.Commit("two", "a", "2")
	merge := g.Merge("side")
	r := open(t, g.Dir)

	got := walk(t, r, []string{merge}, nil)
	if len(got) != 4 || got[0] != one || got[3] != merge {
		t.Errorf("walk: %v", got)
	}
	if diff := cmp.Diff(walk(t, r, []string{merge}, []string{two}), []string{side, merge}); diff != "" {
		t.Errorf("walk without what is known (-got +want):\n%s", diff)
	}
	if back, err := r.Back(t.Context(), merge, 1); err != nil || back != two {
		t.Errorf("one back: %s, %v; want %s", back, err, two)
	}
	if back, err := r.Back(t.Context(), merge, 99); err != nil || back != one {
		t.Errorf("99 back: %s, %v; want the first, %s", back, err, one)
	}
	for _, c := range []struct {
		descendant, ancestor string
		want                 bool
	}{{merge, side, true}, {two, two, true}, {two, side, false}} {
		if got, err := r.Has(t.Context(), c.descendant, c.ancestor); err != nil || got != c.want {
			t.Errorf("%s has %s: %v, %v", c.descendant, c.ancestor, got, err)
		}
	}
	if err := r.Walk(t.Context(), []string{"--all"}, nil, nil); err == nil {
		t.Error("an option was taken for a revision")
	}
}

func TestCommitsAndChanges(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			g := gittest.Init(t, "--object-format="+format)
			long := strings.Repeat("line\n", 40)
			one := g.Commit("one\n\nwith a body\n", "a b.txt", "1\n", "gone", "x\n", "old/name.go", long)
			g.Write("gone", "")
			g.Git("mv", "old/name.go", "new name.go")
			g.Write("new name.go", long+"more\n")
			two := g.Commit("two", "a b.txt", "2\n", "c\nd", "odd\n")
			r := open(t, g.Dir)

			o := r.Objects(t.Context())
			var commits []git.Commit
			err := o.Commits([]string{one, two}, func(c git.Commit) error {
				commits = append(commits, c)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			c := commits[1]
			if c.ID != two || !cmp.Equal(c.Parents, []string{one}) || c.Tree != g.Rev(two+"^{tree}") || c.Message != "two\n" ||
				c.Author.Name != "Ada" || c.Committer.Email != "bob@example.org" || c.Author.Time.Unix() != gittest.Start+60 {
				t.Errorf("commit two: %+v", c)
			}
			if _, offset := c.Author.Time.Zone(); offset != 3600 || commits[0].Message != "one\n\nwith a body\n" {
				t.Errorf("zone %d, message %q", offset, commits[0].Message)
			}

			d := r.Diffs(t.Context())
			changes, err := d.Changes(two, one)
			if err != nil {
				t.Fatal(err)
			}
			blob := func(path string) string { return g.Rev(two + ":" + path) }
			want := []git.Change{
				{Status: 'M', Path: "a b.txt", Mode: git.ModeFile, Blob: blob("a b.txt")},
				{Status: 'A', Path: "c\nd", Mode: git.ModeFile, Blob: blob("c\nd")},
				{Status: 'D', Path: "gone"},
				{Status: 'R', Path: "new name.go", OldPath: "old/name.go", Mode: git.ModeFile, Blob: blob("new name.go")},
			}
			if diff := cmp.Diff(changes, want); diff != "" {
				t.Errorf("changes (-got +want):\n%s", diff)
			}
			if changes, err = d.Changes(one, ""); err != nil || len(changes) != 3 {
				t.Errorf("changes of the first commit: %v, %v", changes, err)
			}
			if changes, err = d.Changes(two, two); err != nil || len(changes) != 0 {
				t.Errorf("changes from itself: %v, %v", changes, err)
			}

			var paths []string
			err = r.Tree(t.Context(), two, func(c git.Change) error {
				paths = append(paths, c.Path)
				if c.Path == "c\nd" && (c.Size != 4 || c.Blob != blob("c\nd")) {
					t.Errorf("%+v", c)
				}
				return nil
			})
			if diff := cmp.Diff(paths, []string{"a b.txt", "c\nd", "new name.go"}); diff != "" || err != nil {
				t.Errorf("tree %v (-got +want):\n%s", err, diff)
			}
			if err := errors.Join(o.Close(), d.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefsArePeeledAlsoPacked(t *testing.T) {
	g := gittest.Init(t)
	one := g.Commit("one", "a", "1")
	g.Git("tag", "light")
	g.Git("tag", "-a", "-m", "x", "heavy")
	g.Git("tag", "-a", "-m", "x", "twice", "heavy")
	g.Git("tag", "tree", one+"^{tree}")
	g.Git("pack-refs", "--all")
	g.Git("branch", "-f", "side", one)
	refs, err := open(t, g.Dir).Refs(t.Context(), "refs/heads", "refs/tags")
	if err != nil {
		t.Fatal(err)
	}
	var want []git.Ref
	for _, name := range []string{"refs/heads/main", "refs/heads/side", "refs/tags/heavy", "refs/tags/light", "refs/tags/twice"} {
		want = append(want, git.Ref{Name: name, Commit: one})
	}
	if diff := cmp.Diff(refs, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestCorruptAndMissingObjectsAreNamed(t *testing.T) {
	g := gittest.Init(t)
	g.Commit("one", "a", strings.Repeat("some text\n", 100))
	blob := g.Rev("HEAD:a")
	r := open(t, g.Dir)
	file := filepath.Join(g.Dir, ".git", "objects", blob[:2], blob[2:])
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0xff
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(id string) error {
		o := r.Objects(t.Context())
		defer o.Close()
		return o.Read([]string{id}, func(int, git.Info, []byte) error { return nil })
	}
	var oe *git.ObjectError
	if err := read(blob); !errors.As(err, &oe) || oe.ID != blob || oe.Missing {
		t.Errorf("corrupt: %v", err)
	}
	nowhere := strings.Repeat("ab", 20)
	if err := read(nowhere); !errors.As(err, &oe) || oe.ID != nowhere || !oe.Missing {
		t.Errorf("missing: %v", err)
	}
	if err := read("a\nb"); err == nil {
		t.Error("a name of two lines was asked for")
	}
}

// TestErrorsAreWithoutAdvice checks that git's advice for users is not part of errors.
func TestErrorsAreWithoutAdvice(t *testing.T) {
	g := gittest.Init(t)
	g.Commit("one", "a", "a\n")
	g.Commit("two", "a", "b\n")
	parent, tip := g.Rev("HEAD~1"), g.Rev("HEAD")
	if err := os.Remove(filepath.Join(g.Dir, ".git", "objects", parent[:2], parent[2:])); err != nil {
		t.Fatal(err)
	}
	err := open(t, g.Dir).Walk(t.Context(), []string{tip}, nil, func(git.Walked) error { return nil })
	if err == nil || !strings.Contains(err.Error(), parent) || strings.Contains(err.Error(), "hint:") {
		t.Errorf("got %v; want the commit %s named, and no hints", err, parent)
	}
}

// TestNothingOfTheRepositoryIsRun checks that no reader runs commands that a repository configures.
func TestNothingOfTheRepositoryIsRun(t *testing.T) {
	g := gittest.Init(t)
	one := g.Commit("one", "a.txt", "1\n", ".gitattributes", "*.txt filter=evil diff=evil\n")
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+ran+"'\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv",
		"diff.external", "core.alternateRefsCommand", "core.sshCommand", "pager.rev-list", "pager.diff-tree", "credential.helper",
	} {
		g.Git("config", key, script)
	}
	hook := filepath.Join(g.Dir, ".git", "hooks", "post-index-change")
	if err := os.MkdirAll(filepath.Dir(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.Write("a.txt", "2\n")
	g.Write("b.txt", "new\n")
	t.Setenv("GIT_EXTERNAL_DIFF", script)
	t.Setenv("GIT_DIR", "/nowhere")

	r := open(t, g.Dir)
	o := r.Objects(t.Context())
	d := r.Diffs(t.Context())
	_, err1 := d.Changes(one, "")
	_, err2 := r.Head(t.Context())
	_, err3 := r.Refs(t.Context(), "refs")
	_, err4 := r.Name(t.Context(), one)
	_, err5 := r.WorkingTree(t.Context())
	err := errors.Join(err1, err2, err3, err4, err5,
		r.Tree(t.Context(), one, func(git.Change) error { return nil }),
		r.Walk(t.Context(), []string{one}, nil, func(git.Walked) error { return nil }),
		o.Commits([]string{one}, func(git.Commit) error { return nil }), o.Close(), d.Close())
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command of the repository's configuration was run")
	}
}

func TestNames(t *testing.T) {
	g := gittest.Init(t)
	one := g.Commit("one", "a", "1")
	two := g.Commit("two", "go.mod", "// a comment\nmodule example.org/acme/shop/v2\n\ngo 1.26\n")
	r := open(t, g.Dir)
	for head, want := range map[string]string{"": filepath.Base(g.Dir), one: filepath.Base(g.Dir), two: "example.org/acme/shop"} {
		if got, err := r.Name(t.Context(), head); err != nil || got != want {
			t.Errorf("at %q: %q, %v; want %q", head, got, err, want)
		}
	}
	g.Git("remote", "add", "origin", "https://user:pw@example.com/x/y.git")
	if got, err := r.Name(t.Context(), two); err != nil || got != "example.com/x/y" {
		t.Errorf("with a remote: %q, %v", got, err)
	}
}

func TestPathsThatAreNotUTF8(t *testing.T) {
	for raw, want := range map[string]string{
		"plain/ä.go": "plain/ä.go", "caf\xe9/a.go": "caf%E9/a.go", "\xff": "%FF", "a%b": "a%b",
	} {
		got, same := git.UTF8Path(raw)
		if got != want || same != (raw == want) {
			t.Errorf("%q: %q, %v; want %q", raw, got, same, want)
		}
	}
}

func TestSignaturesOfAllSorts(t *testing.T) {
	raw := "tree " + strings.Repeat("ab", 20) + "\nauthor A <b> C <c@d> 1767323045 -0330\ncommitter \xe9mile <e> x\nencoding ISO-8859-1\ngpgsig -----BEGIN\n tree x\n -----END\n\ncaf\xe9\n"
	c, err := git.ParseCommit("id", []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	_, offset := c.Author.Time.Zone()
	if c.Author.Name != "A" || c.Author.Email != "b> C <c@d" || offset != -(3*60+30)*60 || c.Committer.Name != "émile" || !c.Committer.Time.IsZero() || c.Message != "café\n" {
		t.Errorf("got %+v, offset %d", c, offset)
	}
	if _, err := git.ParseCommit("id", []byte("tree x\n\n")); err == nil {
		t.Error("a commit without a tree was taken")
	}
}
