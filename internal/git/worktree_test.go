package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
)

func TestWorkingTree(t *testing.T) {
	g := gittest.Init(t)
	g.Commit("one", "same", "1\n", "staged", "1\n", "changed", "1\n", "gone", "1\n", ".gitignore", "ignored\n")
	old := g.Rev("HEAD:changed")
	g.Write("staged", "2\n")
	g.Git("add", "staged")
	g.Write("changed", "2\n")
	g.Write("gone", "")
	g.Write("new dir/new", "n\n")
	g.Write("ignored", "n\n")
	r := open(t, g.Dir)
	got, err := r.WorkingTree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []git.WorkingFile{
		{Path: "changed", Head: old, HeadMode: git.ModeFile, Mode: git.ModeFile},
		{Path: "gone", Head: old, HeadMode: git.ModeFile},
		{Path: "staged", Head: old, HeadMode: git.ModeFile, Mode: git.ModeFile},
		{Path: "new dir/new", Mode: git.ModeFile},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	for _, path := range []string{"changed", "new dir/new"} {
		c, content, err := r.ReadWorking(t.Context(), path, 1<<20)
		if err != nil || c.Blob != g.Git("hash-object", path) || c.Size != int64(len(content)) {
			t.Errorf("%s: %+v, %q, %v", path, c, content, err)
		}
	}
	if c, content, err := r.ReadWorking(t.Context(), "changed", 1); err != nil || content != nil || c.Blob != g.Git("hash-object", "changed") {
		t.Errorf("larger than the limit: %+v, %q, %v", c, content, err)
	}
	if _, _, err := r.ReadWorking(t.Context(), "gone", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
}

func TestReadWorkingConvertsAndFollowsNoLink(t *testing.T) {
	g := gittest.Init(t)
	g.Commit("one", ".gitattributes", "*.txt text\n")
	g.Write("crlf.txt", "a\r\nb\r\n")
	g.Write("raw.bin", "a\r\nb\r\n")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(g.Dir, "link")), os.Symlink(filepath.Dir(secret), filepath.Join(g.Dir, "dir"))); err != nil {
		t.Fatal(err)
	}
	r := open(t, g.Dir)
	for path, want := range map[string]string{"crlf.txt": "a\nb\n", "raw.bin": "a\r\nb\r\n", "link": secret} {
		c, content, err := r.ReadWorking(t.Context(), path, 1<<20)
		if err != nil || string(content) != want {
			t.Errorf("%s: %q, %v; want %q", path, content, err, want)
		}
		if path != "link" && c.Blob != g.Git("hash-object", path) {
			t.Errorf("%s: blob %s", path, c.Blob)
		}
	}
	if _, content, err := r.ReadWorking(t.Context(), "dir/secret", 1<<20); err == nil {
		t.Errorf("read %q behind a link", content)
	}
}

func TestABareRepositoryHasNoWorkingTree(t *testing.T) {
	g := gittest.Init(t, "--bare")
	if _, err := open(t, g.Dir).WorkingTree(t.Context()); err == nil {
		t.Error("no error")
	}
}
