package commits_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestMetadataThenBaseThenChanges(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t, "--object-format="+format)
			w.g.Commit("one", "a.go", "package a\n")
			w.g.Commit("two", "b.go", "package b\n")
			two := w.g.Rev("HEAD")
			w.g.Commit("three", "a.go", "package a // 3\n")
			r := w.run(history(1))
			f := w.want("one:metadata two:full three:changes")
			if r.Base != two || r.Files != 3 || r.Commits.Full != 1 || r.Commits.Metadata != 1 || f.count["source.revised"] != 3 {
				t.Errorf("report %+v", r)
			}
			if f.refs["HEAD"] != w.g.Rev("HEAD") || f.refs["refs/heads/main"] != w.g.Rev("HEAD") {
				t.Errorf("refs %v", f.refs)
			}
			one := f.commits[w.g.Rev("HEAD~2")]
			if len(one.GetChanges()) != 1 || one.GetChanges()[0].GetPath() != "a.go" || one.GetAuthor().GetUtcOffsetMinutes() != 60 {
				t.Errorf("commit one: %v", one)
			}

			again := w.run()
			if again.Appended != 0 || again.Present != 0 {
				t.Errorf("imported again: %+v", again)
			}
			w.g.Commit("four", "c.go", "package a\n", "d.txt", "package a\n")
			if later := w.run(); later.Commits.Changes != 1 || later.Files != 1 || later.Refs != 2 {
				t.Errorf("later: %+v; want one content, as c.go's is known for go but not for .txt", later)
			}
			w.want("one:metadata two:full three:changes four:changes")
		})
	}
}

// TestWithoutItsStateAnImportGivesTheSameIDs checks that a lost cache only leads to a second
// delivery of the same ids.
func TestWithoutItsStateAnImportGivesTheSameIDs(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Commit("two", "a.go", "package b\n")
	w.run(history(1))
	n := len(w.log.events)
	w.dir = t.TempDir()
	if r := w.run(history(1)); len(w.log.events) != n || r.Appended != 0 || r.Present != int64(n) {
		t.Errorf("%d events became %d; %+v", n, len(w.log.events), r)
	}
}

func TestSideBranchesHaveWhatTheyNeed(t *testing.T) {
	w := newWorld(t)
	g := w.g
	g.Commit("one", "a.go", "package a\n")
	g.Git("checkout", "-q", "-b", "old")
	g.Commit("old1", "old.go", "package old\n")
	g.Commit("old2", "old.go", "package old // 2\n")
	g.Git("checkout", "-q", "main")
	g.Commit("two", "b.go", "package b\n")
	w.run() // the base is two
	g.Git("checkout", "-q", "-b", "new")
	g.Commit("new1", "n.go", "package n\n")
	g.Git("checkout", "-q", "main")
	g.Commit("three", "c.go", "package c\n")
	g.Merge("new")
	g.Merge("old")
	g.Git("checkout", "-q", "--orphan", "other")
	g.Git("rm", "-rfq", ".")
	g.Commit("root", "r.go", "package r\n")
	g.Git("checkout", "-q", "main")
	g.Git("merge", "-q", "--allow-unrelated-histories", "--no-edit", "other")
	w.run()
	f := w.log.fold()
	f.check(t, g)
	got := map[string]string{}
	for _, s := range strings.Fields(strings.ReplaceAll(f.scopes(), "Merge branch ", "merge-")) {
		name, scope, _ := strings.Cut(s, ":")
		got[strings.Trim(name, "'")] = scope
	}
	want := map[string]string{
		"one": "metadata", "two": "full", "new1": "changes", "three": "changes", "merge-'new": "changes",
		"old1": "full", "old2": "changes", "merge-'old": "changes", "root": "full", "merge-'other": "changes",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if m := f.commits[g.Rev("HEAD")]; len(m.GetParents()) != 2 {
		t.Errorf("a merge's parents: %v", m.GetParents())
	}
	if _, told := f.refs["refs/heads/old"]; !told {
		t.Error("a merged branch was not told of")
	}
}

func TestAllBranches(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Git("checkout", "-q", "-b", "side")
	side := w.g.Commit("side", "s.go", "package s\n")
	w.g.Git("checkout", "-q", "main")
	w.run()
	if f := w.want("one:full"); f.refs["refs/heads/side"] != "" {
		t.Errorf("refs %v", f.refs)
	}
	w.run(all)
	if f := w.want("one:full side:changes"); f.refs["refs/heads/side"] != side {
		t.Errorf("refs %v", f.refs)
	}
	// Once imported, the branch is followed.
	w.g.Git("checkout", "-q", "side")
	w.g.Commit("side2", "s.go", "package s2\n")
	w.g.Git("checkout", "-q", "main")
	w.run()
	w.want("one:full side:changes side2:changes")
}

// TestABranchThatGitCannotRead checks that one branch with a tree entry without a name does not stop the
// import of the others, and that it is named with the reason.
func TestABranchThatGitCannotRead(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Git("checkout", "-q", "-b", "bad")
	w.g.Commit("before", "b.go", "package b\n")
	id, err := hex.DecodeString(w.g.Git("rev-parse", "HEAD:a.go"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(file, append([]byte("100644 \x00"), id...), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := w.g.Git("hash-object", "-w", "-t", "tree", "--literally", file)
	bad := w.g.Git("commit-tree", tree, "-p", "HEAD", "-m", "nameless")
	w.g.Git("update-ref", "refs/heads/bad", bad)
	w.g.Git("checkout", "-q", "-f", "main")
	w.g.Git("checkout", "-q", "-b", "good")
	good := w.g.Commit("good", "g.go", "package g\n")
	w.g.Git("checkout", "-q", "main")
	for range 2 {
		r := w.run(all)
		if len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0], "bad cannot be read and is not imported: ") || !strings.Contains(r.Problems[0], "empty filename in tree entry") {
			t.Errorf("problems %q", r.Problems)
		}
		if f := w.want("one:full good:changes before:changes"); f.refs["refs/heads/good"] != good || f.refs["refs/heads/bad"] != "" {
			t.Errorf("refs %v", f.refs)
		}
	}
	w.g.Git("update-ref", "refs/heads/bad", bad+"^")
	if r := w.run(all); len(r.Problems) > 0 || w.log.fold().refs["refs/heads/bad"] != w.g.Rev("bad") {
		t.Errorf("mended: %+v", r)
	}
}

// In the lists below, a commit that was recorded again has its newest scope.
func TestMoreHistoryMovesTheBaseBack(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.g.Commit(fmt.Sprint(i), "a.go", fmt.Sprintf("package a // %d\n", i))
	}
	w.run(history(1))
	w.want("0:metadata 1:metadata 2:metadata 3:full 4:changes")
	r := w.run(history(3))
	if r.Base != w.g.Rev("HEAD~3") {
		t.Errorf("base %s", r.Base)
	}
	w.want("0:metadata 1:full 2:changes 3:full 4:changes 1:full 2:changes")
	if r := w.run(history(0)); r.Appended != 0 || r.Base != w.g.Rev("HEAD~3") {
		t.Errorf("less history than before: %+v", r)
	}
	w.g.Commit("5", "b.go", "package b\n")
	w.run()
	w.want("0:metadata 1:full 2:changes 3:full 4:changes 1:full 2:changes 5:changes")
}

// TestOnlyWhatHasContentIsCounted checks that files of commits that are recorded by name alone are
// counted neither as left out nor as not read: they used to be, long after they were deleted.
func TestOnlyWhatHasContentIsCounted(t *testing.T) {
	w := newWorld(t)
	w.opts.Unread = func(path string) string {
		if strings.HasSuffix(path, ".php") {
			return "PHP"
		}
		return ""
	}
	if err := os.Symlink("a.go", filepath.Join(w.g.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.g.Commit("old", "a.php", "<?php", "b.php", "<?php")
	w.g.Git("rm", "-q", "a.php", "link")
	w.g.Commit("new", "a.go", "package a\n")
	r := w.run()
	w.want("old:metadata new:full")
	if diff := cmp.Diff(r.Unread, map[string]int64{"PHP": 1}); diff != "" {
		t.Error(diff)
	}
	if len(r.Skipped) != 0 {
		t.Errorf("left out %v", r.Skipped)
	}
}

func TestWhatIsLeftOutSaysWhy(t *testing.T) {
	w := newWorld(t)
	w.opts.Limits = commits.Limits{Content: 100_000, Event: 60_000}
	noise := make([]byte, 90_000)
	rand.New(rand.NewSource(1)).Read(noise)
	for i := range noise {
		noise[i] |= 1 // no zero byte
	}
	g := w.g
	if err := os.Symlink("a.go", filepath.Join(g.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	sub := gittest.Init(t)
	sub.Commit("sub", "s", "1")
	g.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+sub.Dir, "sub")
	one := g.Commit("one",
		"a.go", "package a\n", "gen.pb.go", "// Code generated. DO NOT EDIT.\npackage a\n",
		"bin.dat", "x\x00y", "big.txt", strings.Repeat("0123456789", 10_001), "noise.txt", string(noise),
		"vendor/x/x.go", "package x\n", "web/node_modules/m/index.js", "1\n", "third_party/ours/o.go", "package ours\n",
		"deps/d.go", "package d\n", "go.sum", "x\n", "web/package-lock.json", "{}\n", "vendor.go", "package a\n",
		"web/app.min.js", "1\n", "web/bundle.js", strings.Repeat("var a=1;", 1000)+"\n", "web/long.go", strings.Repeat("a", 8000),
		".gitattributes", "deps/** linguist-vendored\nthird_party/ours/* -linguist-vendored\n*.go text linguist-generated\n", "empty", "\n")
	if err := os.WriteFile(filepath.Join(g.Dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.run()
	f := w.want("one:full")
	want := map[string]string{
		"link": "symlink", "sub": "submodule", "bin.dat": "binary",
		"big.txt":       "oversized: 100010 bytes, the limit is 100000",
		"noise.txt":     "oversized: 90000 bytes are more than 60000 when compressed",
		"vendor/x/x.go": "vendored: vendor", "web/node_modules/m/index.js": "vendored: node_modules", "deps/d.go": "vendored: .gitattributes",
		"go.sum": "generated: lock file", "web/package-lock.json": "generated: lock file",
		"web/app.min.js": "generated: minified", "web/bundle.js": "generated: minified",
	}
	if diff := cmp.Diff(f.skipped(one), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(r.Skipped, map[string]int64{"symlink": 1, "submodule": 1, "binary": 1, "oversized": 2, "vendored": 3, "generated": 4}); diff != "" {
		t.Errorf("report (-got +want):\n%s", diff)
	}
	// This content was seen before and is not read again: the reason is the same.
	two := g.Commit("two", "copy.dat", "x\x00y", "copy.txt", strings.Repeat("0123456789", 10_001))
	w.run()
	f = w.want("one:full two:changes")
	if s := f.skipped(two); s["copy.dat"] != "binary" || s["copy.txt"] != want["big.txt"] {
		t.Errorf("copies: %v", s)
	}
	// Other rules: the whole commit is recorded again, as more is included now.
	three := g.Commit("three", ".gitattributes", "third_party/** linguist-vendored\n")
	w.run()
	f = w.want("one:full two:changes three:full")
	if s := f.skipped(three); s["deps/d.go"] != "" || s["third_party/ours/o.go"] != "vendored: .gitattributes" {
		t.Errorf("after the rules changed: %v", s)
	}
}

func TestPathsThatAreNotUTF8(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "caf\xe9.go", "package a\n")
	w.run()
	f := w.want("one:full")
	c := f.commits[w.g.Rev("HEAD")].GetChanges()[0]
	if c.GetPath() != "caf%E9.go" || string(c.GetRawPath()) != "caf\xe9.go" {
		t.Errorf("path %q, raw %q", c.GetPath(), c.GetRawPath())
	}
}

func TestRenamesAndDeletions(t *testing.T) {
	w := newWorld(t)
	text := strings.Repeat("some line\n", 30)
	w.g.Commit("one", "old.go", text, "gone.go", "package gone\n")
	w.g.Git("mv", "old.go", "new.go")
	w.g.Write("gone.go", "")
	two := w.g.Commit("two", "new.go", text+"more\n")
	w.run(history(1))
	f := w.want("one:full two:changes")
	var got []string
	for _, c := range f.commits[two].GetChanges() {
		got = append(got, fmt.Sprintf("%s %s %s", c.GetStatus(), c.GetOldPath(), c.GetPath()))
	}
	if diff := cmp.Diff(got, []string{"CHANGE_STATUS_DELETED  gone.go", "CHANGE_STATUS_RENAMED old.go new.go"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestACommitInParts(t *testing.T) {
	w := newWorld(t)
	var files []string
	dir := strings.Repeat(strings.Repeat("d", 200)+"/", 4)
	for i := range 1500 {
		files = append(files, fmt.Sprintf("%s%d.go", dir, i), "package a\n")
	}
	w.g.Commit("one", files...)
	w.run()
	f := w.want("one:full")
	if n := f.count["commit.recorded"]; n < 2 || f.commits[w.g.Rev("HEAD")].GetParts() != int32(n) {
		t.Errorf("%d parts", n)
	}
	for _, e := range w.log.events {
		if len(e.Payload) > 640<<10 {
			t.Errorf("an event of %d bytes", len(e.Payload))
		}
	}
}

// TestAnInterruptedImportGoesOn checks that a failed append, stored or not, leaves a prefix, and
// that the next import leads to the same log as an undisturbed one.
func TestAnInterruptedImportGoesOn(t *testing.T) {
	build := func(w *world) {
		for i := range 700 {
			w.g.Write(fmt.Sprintf("dir%d/f%d.go", i%7, i), fmt.Sprintf("package a // %d\n", i))
		}
		w.g.Commit("one")
		w.g.Commit("two", "a.go", "package a\n")
		w.g.Commit("three", "b.go", "package b\n")
	}
	calm := newWorld(t)
	build(calm)
	calm.run(history(1))
	for _, stored := range []bool{false, true} {
		for fail := 1; fail <= calm.log.batches; fail++ {
			w := newWorld(t)
			w.g, w.log.failAfter, w.log.stored = calm.g, fail, stored
			if _, err := w.try(history(1)); !errors.Is(err, errRefused) {
				t.Fatalf("batch %d: %v", fail, err)
			}
			w.log.fold() // a prefix
			w.log.failAfter = 0
			w.run(history(1))
			w.want("one:metadata two:full three:changes")
			if len(w.log.events) != len(calm.log.events) {
				t.Errorf("batch %d refused (stored %v): %d events, want %d", fail, stored, len(w.log.events), len(calm.log.events))
			}
		}
	}
}

func TestCancelledImportLeavesAPrefix(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.g.Commit(fmt.Sprint(i), "a.go", fmt.Sprintf("package a // %d\n", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := git.Open(ctx, w.g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := commits.OpenState(ctx, w.dir, "log", w.opts.Repository)
	if err != nil {
		t.Fatal(err)
	}
	o := w.opts
	o.Append, o.History = w.log.append, 29
	o.Progress = func(done, of, _ int64) {
		if of != 30 {
			t.Errorf("%d of %d", done, of)
		}
		if done == 10 {
			cancel()
		}
	}
	if _, err := commits.Import(ctx, r, s, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if f := w.log.fold(); len(f.order) != 10 {
		t.Errorf("%d commits recorded, want the 10 that were done", len(f.order))
	}
	before := len(w.log.events)
	if r := w.run(); r.Present != 0 || r.Commits.Changes != 20 {
		t.Errorf("after %d events: %+v; want the other 20 commits and nothing again", before, r)
	}
}

func TestRefsToAndFro(t *testing.T) {
	w := newWorld(t)
	one := w.g.Commit("one", "a.go", "package a\n")
	two := w.g.Commit("two", "a.go", "package b\n")
	w.g.Git("tag", "-a", "-m", "x", "v1", one)
	w.run()
	for i, to := range []string{one, two, one} {
		w.g.Git("reset", "-q", "--hard", to)
		if r := w.run(); r.Refs != 2 {
			t.Errorf("move %d: %+v", i, r)
		}
		if f := w.log.fold(); f.refs["refs/heads/main"] != to || f.refs["refs/tags/v1"] != one {
			t.Errorf("move %d: refs %v", i, f.refs)
		}
	}
	// A force push: the old commits remain.
	w.g.Commit("other", "a.go", "package c\n")
	w.g.Git("tag", "-d", "v1")
	w.g.Git("checkout", "-q", "--detach")
	w.run()
	f := w.log.fold()
	if f.refs["refs/tags/v1"] != "" || f.commits[two] == nil || f.refs["HEAD"] != w.g.Rev("HEAD") {
		t.Errorf("refs %v", f.refs)
	}
	var last *recountv1.RefMoved
	for _, e := range w.log.events {
		if m, _ := e.DecodePayload(); m != nil {
			if m, ok := m.(*recountv1.RefMoved); ok && m.GetRef() == "HEAD" {
				last = m
			}
		}
	}
	if last.GetTarget() != "" || last.GetOldCommit() != one {
		t.Errorf("the last move of HEAD: %v", last)
	}
}

func TestAbandonedCommitsThatGitCollected(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Commit("two", "a.go", "package b\n")
	w.run(history(1))
	w.g.Commit("lost", "a.go", "package lost\n")
	w.run()
	w.g.Git("reset", "-q", "--hard", "HEAD~1")
	w.g.Commit("three", "a.go", "package c\n")
	w.g.Git("reflog", "expire", "--expire=now", "--all")
	w.g.Git("prune", "--expire=now")
	if r := w.run(); r.Commits.Changes != 2 { // commit two is recorded again, which costs nothing
		t.Errorf("%+v", r)
	}
	f := w.log.fold()
	if f.refs["HEAD"] != w.g.Rev("HEAD") || len(f.trees) != 4 {
		t.Errorf("refs %v, %d trees", f.refs, len(f.trees))
	}
}

func TestTwoRepositoriesWithOneName(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	first := w.g
	w.run()
	n := len(w.log.events)
	w.g = gittest.Init(t)
	w.g.Commit("else", "a.go", "package a\n")
	_, err := w.try()
	var same *commits.SameNameError
	if !errors.As(err, &same) || !strings.Contains(err.Error(), first.Dir) || !strings.Contains(err.Error(), w.g.Dir) || len(w.log.events) != n {
		t.Errorf("got %v", err)
	}
	// A clone of the first repository counts as the first.
	dir := filepath.Join(t.TempDir(), "clone")
	first.Commit("two", "b.go", "package b\n")
	first.Git("clone", "-q", "file://"+first.Dir, dir)
	w.g = gittest.At(t, dir)
	w.run()
	w.want("one:full two:changes")
}

func TestAShallowCloneThatIsDeepened(t *testing.T) {
	origin := gittest.Init(t)
	for i := range 6 {
		origin.Commit(fmt.Sprint(i), "a.go", fmt.Sprintf("package a // %d\n", i))
	}
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "--depth=3", "file://"+origin.Dir, dir)
	w.g = gittest.At(t, dir)
	w.run(history(1))
	f := w.want("3:metadata 4:full 5:changes")
	border := f.commits[w.g.Rev("HEAD~2")]
	if len(border.GetChanges()) != 0 || len(border.GetParents()) != 1 {
		t.Errorf("at the border: %v; want its parent and no changes, which are not known", border)
	}
	w.g.Git("fetch", "-q", "--unshallow")
	r := w.run()
	if r.Present == 0 || r.Files != 0 {
		t.Errorf("%+v", r)
	}
	f = w.log.fold()
	if len(f.commits) != 6 {
		t.Errorf("%d commits, want the whole history", len(f.commits))
	}
	if r := w.run(); r.Appended+r.Present != 0 {
		t.Errorf("again: %+v", r)
	}
}

func TestMoreHistoryOfACloneThatIsDeepened(t *testing.T) {
	origin := gittest.Init(t)
	for i := range 6 {
		origin.Commit(fmt.Sprint(i), "a.go", fmt.Sprintf("package a // %d\n", i))
	}
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "--depth=1", "file://"+origin.Dir, dir)
	w.g = gittest.At(t, dir)
	w.run()
	w.want("5:full")
	w.g.Git("fetch", "-q", "--unshallow")
	if r := w.run(history(2)); r.Base != w.g.Rev("HEAD~2") {
		t.Errorf("base %s, want HEAD~2", r.Base)
	}
	w.want("5:changes 0:metadata 1:metadata 2:metadata 3:full 4:changes 5:changes")
}

func TestShallowClonesOfLaterCommits(t *testing.T) {
	origin := gittest.Init(t)
	origin.Commit("0", "a.go", "package a\n")
	clone := func(name string) *gittest.Repo {
		dir := filepath.Join(t.TempDir(), name)
		origin.Git("clone", "-q", "--depth=1", "file://"+origin.Dir, dir)
		return gittest.At(t, dir)
	}
	w := newWorld(t)
	origin.Commit("1", "b.go", "package b\n")
	w.g = clone("first")
	w.run()
	origin.Commit("2", "c.go", "package c\n")
	w.g = clone("next")
	w.run()
	w.log.fold()
	origin.Commit("3", "d.go", "package d\n")
	origin.Commit("4", "d.go", "package d // more\n")
	w.g = clone("far")
	_, err := w.try()
	var same *commits.SameNameError
	if !errors.As(err, &same) || !same.Shallow || !strings.Contains(err.Error(), "--deepen") {
		t.Errorf("got %v; want the way to make the clone reach what is known", err)
	}
	w.g.Git("fetch", "-q", "--deepen=2")
	w.run()
}

// TestMoreHistoryThanAnImportThatWasCutShort checks an import that was stopped before its base was
// on the log, followed by one with more history.
func TestMoreHistoryThanAnImportThatWasCutShort(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.g.Commit(fmt.Sprint(i), "a.go", fmt.Sprintf("package a // %d\n", i))
	}
	blob := w.g.Rev("HEAD:a.go")
	object := filepath.Join(w.g.Dir, ".git", "objects", blob[:2], blob[2:])
	if err := errors.Join(os.Rename(object, object+".away"), os.WriteFile(object, []byte("no object"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.try(); err == nil {
		t.Fatal("the base's content is damaged: want an error")
	}
	w.want("0:metadata 1:metadata 2:metadata 3:metadata")
	if err := os.Rename(object+".away", object); err != nil {
		t.Fatal(err)
	}
	if r := w.run(history(2)); r.Base != w.g.Rev("HEAD~2") {
		t.Errorf("base %s, want HEAD~2", r.Base)
	}
	w.want("0:metadata 1:metadata 2:full 3:changes 2:full 3:changes 4:changes")
}

// TestAnInterruptedBaseGoesOn checks that the parts of a base that are on the log are not appended
// again, even without a commit before it.
func TestAnInterruptedBaseGoesOn(t *testing.T) {
	w := newWorld(t)
	var files []string
	for i := range 1200 {
		files = append(files, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package f // %d\n", i))
	}
	w.g.Commit("one", files...)
	w.log.failAfter = 3
	if _, err := w.try(); !errors.Is(err, errRefused) {
		t.Fatalf("got %v", err)
	}
	w.log.failAfter = 0
	// The last content of a batch is stored in the cache with the next batch.
	if r := w.run(); r.Present > 1 || r.Files != 200+r.Present {
		t.Errorf("%d events again, %d files; want the 200 that are missing", r.Present, r.Files)
	}
	w.want("one:full")
}

func TestWithoutCommits(t *testing.T) {
	w := newWorld(t)
	if _, err := w.try(); !errors.Is(err, commits.ErrNoCommits) || !strings.Contains(err.Error(), w.g.Dir) {
		t.Errorf("got %v", err)
	}
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Git("symbolic-ref", "HEAD", "refs/heads/nowhere")
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "refs/heads/nowhere") || !strings.Contains(err.Error(), "--all") {
		t.Errorf("HEAD names no branch: %v", err)
	}
	w.run(all)
	w.want("one:full")
}

func TestACorruptObjectIsNamed(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", strings.Repeat("package a\n", 100))
	blob := w.g.Rev("HEAD:a.go")
	file := filepath.Join(w.g.Dir, ".git", "objects", blob[:2], blob[2:])
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("no object"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), blob) {
		t.Errorf("got %v; want the blob %s named", err, blob)
	}
}

// remove removes an object from the repository, so that it is like a partial clone; back restores
// it.
func (w *world) remove(rev string) (back func()) {
	w.t.Helper()
	id := w.g.Rev(rev)
	file := filepath.Join(w.g.Dir, ".git", "objects", id[:2], id[2:])
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			w.t.Fatal(err)
		}
	}
	move(file, file+".away")
	return func() { move(file+".away", file) }
}

// TestACloneThatLacksContents checks that a missing content does not stop an import. It used to:
// "fatal: unable to read".
func TestACloneThatLacksContents(t *testing.T) {
	w := newWorld(t)
	text := strings.Repeat("some text that is like itself\n", 50)
	w.g.Commit("one", "a.go", "package a\n"+text, "b.go", "package b\n")
	w.g.Git("mv", "a.go", "c.go")
	w.g.Commit("two", "c.go", "package c\n"+text)
	w.g.Commit("three", "b.go", "package b // 3\n", "d.go", "package d\n")
	w.remove("HEAD~2:a.go")
	w.remove("HEAD:d.go")
	r := w.run(history(2))
	w.want("one:full two:changes three:changes")
	if m := r.Missing; m.Files != 2 || m.Renames != 1 || m.Commits != 0 || !slices.Equal(m.First, []string{"a.go", w.g.Rev("HEAD~1"), "d.go"}) {
		t.Errorf("it lacks %+v", m)
	}
	if r.Skipped["missing"] != 2 {
		t.Errorf("left out %v; want 2 missing", r.Skipped)
	}
	// What was recorded is not recorded again.
	if r := w.run(); r.Appended != 0 || r.Files != 0 {
		t.Errorf("again: %+v", r)
	}
}

// TestACloneThatLacksTrees checks a clone that lacks its oldest trees, as a used clone made with
// --filter=tree:0.
func TestACloneThatLacksTrees(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.g.Commit("two", "x/b.go", "package b\n")
	w.g.Commit("three", "x/b.go", "package b // 3\n")
	w.g.Commit("four", "c.go", "package c\n")
	w.remove("HEAD~2^{tree}")
	x := w.remove("HEAD~1:x")
	r := w.run(history(3))
	w.want("one:full two:metadata three:metadata four:metadata")
	if m := r.Missing; m.Commits != 3 {
		t.Errorf("it lacks %+v", m)
	}
	x() // otherwise git makes no commit
	w.g.Commit("five", "x/b.go", "package b // 5\n")
	if r := w.run(); r.Commits.Full != 1 || r.Missing.Commits != 0 {
		t.Errorf("what comes after is whole: %+v", r)
	}
}

// bomb makes a tree with ten to the power of depth paths, in depth+1 objects.
func bomb(t *testing.T, g *gittest.Repo, depth int) (tree string) {
	t.Helper()
	g.Write("leaf", "package leaf\n")
	id, kind, mode := g.Git("hash-object", "-w", "leaf"), "blob", "100644"
	for range depth {
		var lines strings.Builder
		for i := range 10 {
			fmt.Fprintf(&lines, "%s %s %s\tf%d\n", mode, kind, id, i)
		}
		file := filepath.Join(t.TempDir(), "tree")
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		id, kind, mode = g.Git("-c", "alias.t=!git mktree <"+file, "t"), "tree", "040000"
	}
	return id
}

// TestATreeThatUnfoldsToABillionPaths checks that such trees are refused. Before, a repository of
// 228 kB used 1.3 GB in 200 seconds without an end.
func TestATreeThatUnfoldsToABillionPaths(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%t", after), func(t *testing.T) {
			w := newWorld(t)
			args := []string{"commit-tree", bomb(t, w.g, 9), "-m", "bomb"}
			if after {
				args = append(args, "-p", w.g.Commit("one", "a.go", "package a\n"))
				w.run()
			}
			commit := w.g.Git(args...)
			w.g.Git("update-ref", "refs/heads/main", commit)
			_, err := w.try()
			var over *git.PathsError
			if !errors.As(err, &over) || over.Commit != commit || over.Limit != git.DefaultMaxPaths || !strings.Contains(err.Error(), "--max-paths") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTheWorkingTree(t *testing.T) {
	w := newWorld(t)
	head := w.g.Commit("one", "a.go", "package a\n", "gone.go", "package gone\n")
	if r := w.run(working); r.WorkingTree != "" {
		t.Errorf("a clean tree: %+v", r)
	}
	w.g.Write("a.go", "package a // changed\n")
	w.g.Write("new.go", "package n\n")
	w.g.Write("vendor/v.go", "package v\n")
	w.g.Write("gone.go", "")
	r := w.run(working)
	f := w.log.fold()
	m := f.commits[r.WorkingTree]
	if m == nil || !m.GetWorkingTree() || len(m.GetParents()) != 1 || m.GetParents()[0] != head {
		t.Fatalf("%+v: %v", r, m)
	}
	var got []string
	for _, c := range m.GetChanges() {
		got = append(got, strings.TrimPrefix(c.GetStatus().String(), "CHANGE_STATUS_")+" "+c.GetPath()+" "+c.GetSkipped())
	}
	if diff := cmp.Diff(got, []string{"MODIFIED a.go ", "DELETED gone.go ", "ADDED new.go ", "ADDED vendor/v.go vendored: vendor"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	n := len(w.log.events)
	if again := w.run(working); again.WorkingTree != r.WorkingTree || len(w.log.events) != n || again.Present != 0 {
		t.Errorf("the same state again: %+v", again)
	}
	w.g.Write("new.go", "package n2\n")
	if other := w.run(working); other.WorkingTree == r.WorkingTree {
		t.Error("another state has the same id")
	}
	w.g.Write("new.go", "package n\n")
	n = len(w.log.events)
	if back := w.run(working); back.WorkingTree != r.WorkingTree || len(w.log.events) != n+1 {
		t.Errorf("back to the first state: %+v, %d events more; want one, or nobody would know", back, len(w.log.events)-n)
	}
}

func TestOneImportAtATime(t *testing.T) {
	dir := t.TempDir()
	s, err := commits.OpenState(t.Context(), dir, "log", "x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var busy *commits.BusyError
	if _, err := commits.OpenState(ctx, dir, "log", "x"); !errors.As(err, &busy) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = commits.OpenState(ctx, dir, "log", "x"); err != nil {
		t.Error(err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestDamagedStateIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.g.Commit("one", "a.go", "package a\n")
	w.run()
	n := len(w.log.events)
	for _, name := range []string{"state.json", "refs.json", "seen"} {
		files, err := filepath.Glob(filepath.Join(w.dir, "*", name))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v, %v", name, files, err)
		}
		if err := os.WriteFile(files[0], []byte("{torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.g.Commit("more-"+name, "a.go", "package a // "+name+"\n")
		w.run()
	}
	f := w.log.fold()
	if f.refs["HEAD"] != w.g.Rev("HEAD") || len(f.commits) != 4 {
		t.Errorf("refs %v, %d commits after %d events became %d", f.refs, len(f.commits), n, len(w.log.events))
	}
	f.check(t, w.g)
}

// TestSecretsInFiles checks that a token in a file does not reach the log, that the event states
// what was removed and where, and that ids, sizes and lines are those of git.
func TestSecretsInFiles(t *testing.T) {
	token := "ghp" + "_" + strings.Repeat("aB3dE6fG9hJ2", 3)
	content := "package a\n\nfunc F() {}\n\nconst token = \"" + token + "\"\n\nfunc G() { F() }\n"
	w := newWorld(t)
	w.g.Commit("one", "a.go", content, "b.go", "package a\n\nvar password = \"hunter2\"\n")
	r := w.run(func(o *commits.Options) { o.RedactFile = redact.Default().Source })
	if r.Redacted != 1 || len(r.RedactedFiles) != 1 || r.RedactedFiles[0] != "a.go:5: github-token" {
		t.Errorf("reported %d redacted, %q", r.Redacted, r.RedactedFiles)
	}
	w.want("one:full")
	seen := 0
	for _, e := range w.log.events {
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		s, ok := m.(*recountv1.SourceRevised)
		if !ok {
			continue
		}
		seen++
		text := string(s.Content)
		if len(s.ContentZstd) > 0 {
			b, err := schemas.Decompress(s.ContentZstd, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		want := strings.Replace(content, token, "[redacted:github-token]", 1)
		if s.Path == "b.go" {
			want = "package a\n\nvar password = \"hunter2\"\n" // a form that cannot be recognised by itself
		}
		if text != want || (len(s.Redacted) == 1) != (s.Path == "a.go") {
			t.Errorf("%s: %q, redacted %v", s.Path, text, s.Redacted)
		}
		if s.Path == "a.go" && (s.Blob != source.BlobID([]byte(content), false) || s.Size != int64(len(content)) || s.Redacted[0].Line != 5) {
			t.Errorf("%v is not git's", s)
		}
		rec := &recountv1.Record{}
		if err := source.Revised(e, m, rec); err != nil || rec.GetFileFacts().GetSize() != s.Size {
			t.Errorf("%s: %v, size %d", s.Path, err, rec.GetFileFacts().GetSize())
		}
	}
	if seen != 2 {
		t.Errorf("%d files", seen)
	}

	kept := newWorld(t)
	kept.g.Commit("one", "a.go", content)
	if r := kept.run(); r.Redacted != 0 {
		t.Errorf("redacted %d where files are to be kept", r.Redacted)
	}
	kept.want("one:full")
}
