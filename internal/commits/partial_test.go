package commits_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
)

// TestPartialClones imports clones that git made without contents or without trees. git ends at the first
// object that such a clone lacks, where it says of others that they are missing.
func TestPartialClones(t *testing.T) {
	origin := gittest.Init(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	text := strings.Repeat("some text that is like itself\n", 50)
	origin.Commit("one", "a.go", "package a\n"+text, "b/b.go", "package b\n", ".gitattributes", "*.txt text\n")
	origin.Git("mv", "a.go", "c.go")
	origin.Commit("two", "c.go", "package c\n"+text)
	origin.Commit("three", "b/b.go", "package b // 3\n", "d.go", "package d\n")
	clone := func(filter string, flags ...string) *world {
		w := newWorld(t)
		dir := filepath.Join(t.TempDir(), "clone")
		origin.Git(append([]string{"clone", "-q", "--filter=" + filter, "file://" + origin.Dir, dir}, flags...)...)
		w.g = gittest.At(t, dir)
		return w
	}
	t.Run("without contents", func(t *testing.T) {
		w := clone("blob:none", "--no-checkout")
		r := w.run(history(2))
		w.want("one:full two:changes three:changes")
		if m := r.Missing; m.Files != 6 || m.Renames != 1 || m.Commits != 0 || r.Files != 0 || r.Skipped["missing"] != 6 {
			t.Errorf("it lacks %+v: %+v", m, r)
		}
	})
	t.Run("without contents, checked out", func(t *testing.T) {
		w := clone("blob:none")
		r := w.run(history(2))
		w.want("one:full two:changes three:changes")
		if m := r.Missing; m.Files != 2 || m.Renames != 1 || m.Commits != 0 || r.Files != 4 {
			t.Errorf("it lacks %+v: %+v", m, r)
		}
	})
	t.Run("sparse", func(t *testing.T) {
		w := clone("blob:none", "--sparse")
		r := w.run()
		w.want("one:metadata two:metadata three:full")
		if m := r.Missing; m.Files != 1 || m.Commits != 0 || r.Files != 3 { // b/b.go
			t.Errorf("it lacks %+v: %+v", m, r)
		}
	})
	t.Run("without trees", func(t *testing.T) {
		w := clone("tree:0", "--no-checkout")
		if _, err := w.g.Try("cat-file", "-e", "HEAD"); err != nil {
			t.Fatal(err)
		}
		repo, err := git.Open(t.Context(), w.g.Dir)
		if err != nil {
			t.Fatal(err)
		}
		w.g.Git("remote", "set-url", "origin", "")
		name, err := repo.Name(t.Context(), w.g.Rev("HEAD"))
		if err != nil || name != "clone" {
			t.Errorf("its name: %q, %v", name, err)
		}
		r := w.run(history(2))
		w.want("one:metadata two:metadata three:metadata")
		if m := r.Missing; m.Commits != 3 {
			t.Errorf("it lacks %+v", m)
		}
		if err := repo.Tree(t.Context(), w.g.Rev("HEAD"), func(git.Change) error { return nil }); !errors.Is(err, git.ErrLacksTrees) {
			t.Errorf("its files: %v", err)
		}
	})
}
