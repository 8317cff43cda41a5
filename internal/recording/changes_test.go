//go:build linux || darwin

package recording

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/redact/secrets"
)

// tree is a directory for a test, with files whose status changed long before the time that is returned.
func tree(t *testing.T, names ...string) (dir string, since time.Time) {
	t.Helper()
	dir = t.TempDir()
	if !local(dir) {
		t.Skip("the temporary directory is on no file system of this machine")
	}
	for _, n := range names {
		put(t, filepath.Join(dir, n), "old")
	}
	// The kernel sets this time and no test can. The file of which the time is taken is written last.
	mark := filepath.Join(t.TempDir(), "mark")
	for start := ctime(t, filepath.Join(dir, names[len(names)-1])); ; {
		put(t, mark, "x")
		if now := ctime(t, mark); now.Sub(start) > 2*tick {
			return dir, now
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func paths(c *Changes, dir string) []string {
	var all []string
	for _, f := range c.Files {
		all = append(all, strings.TrimPrefix(f.Path, dir+"/"))
	}
	return all
}

func TestChanges(t *testing.T) {
	dir, since := tree(t, "a", "sub/b", "sub/c", ".git/objects/o", ".git/HEAD", "data/log", "gone/x")
	put(t, filepath.Join(dir, "sub/b"), "new")
	put(t, filepath.Join(dir, "sub/new"), "")
	put(t, filepath.Join(dir, ".git/objects/p"), "object")
	put(t, filepath.Join(dir, ".git/HEAD"), "ref")
	put(t, filepath.Join(dir, "data/log"), "more")
	if err := os.Remove(filepath.Join(dir, "gone/x")); err != nil {
		t.Fatal(err)
	}
	// The time of a file's content can be set to any, the time of its status can't.
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(filepath.Join(dir, "sub/b"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var k Looker
	c := k.Between(since, time.Now(), filepath.Join(dir, "sub"), "/home/ada", filepath.Join(dir, "data"))
	if c == nil || c.Below != dir {
		t.Fatalf("got %+v; want the repository's root %s", c, dir)
	}
	if got, want := paths(c, dir), []string{".git/HEAD", "link", "sub/b", "sub/new"}; !slices.Equal(got, want) {
		t.Errorf("files %v; want %v", got, want)
	}
	if got, want := c.Directories, []string{dir, dir + "/gone", dir + "/sub"}; !slices.Equal(got, want) {
		t.Errorf("directories %v; want %v", got, want)
	}
	sum := sha256.Sum256([]byte("new"))
	if f := c.Files[2]; !slices.Equal(f.SHA256, sum[:]) || f.Size != 3 || f.Mode != 0o644 {
		t.Errorf("sub/b: %+v", f)
	}
	if f := c.Files[1]; f.SHA256 != nil {
		t.Errorf("a link has no content: %+v", f)
	}
	if c := k.Between(since, time.Now(), filepath.Join(dir, "gone"), filepath.Join(dir, "home"), ""); c != nil {
		t.Errorf("the home directory is below %s, and it was looked through", c.Below)
	}
}

func TestNothingChanged(t *testing.T) {
	dir, since := tree(t, "a", "sub/b")
	var k Looker
	c := k.Between(since, time.Now(), dir, "/home/ada", "")
	if c == nil || c.Below != dir || len(c.Files)+len(c.Directories) > 0 || c.LookedAt.Before(since) {
		t.Errorf("got %+v", c)
	}
}

// TestChangesAreAllOrNone checks that nothing is said of what was not looked through in whole, and that it is
// not tried again soon.
func TestChangesAreAllOrNone(t *testing.T) {
	dir, since := tree(t, "a")
	for i := range maxChanged + 1 {
		put(t, filepath.Join(dir, "many", fmt.Sprint(i)), "x")
	}
	var k Looker
	if c := k.Between(since, time.Now(), dir, "", ""); c != nil {
		t.Errorf("%d files changed, and %d were told", maxChanged+1, len(c.Files))
	}
	if c := k.Between(time.Now().Add(time.Hour), time.Now(), dir, "", ""); c == nil {
		t.Error("a directory that can be looked through is not looked through again")
	}
	l := look{since: since, until: time.Now().Add(time.Hour), entries: maxLooked - 10}
	if l.root(dir) {
		t.Error("more entries were read than the limit")
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "many"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, "many"), 0o755) //nolint:errcheck // for the removal
		if k.Between(time.Now().Add(time.Hour), time.Now(), dir, "", "") != nil || k.tooMuch[dir].IsZero() {
			t.Error("a directory that can't be read was looked through")
		}
	}
	k.tooMuch = map[string]time.Time{dir: time.Now().Add(time.Hour)}
	if k.Between(time.Now().Add(time.Hour), time.Now(), dir, "", "") != nil {
		t.Error("a directory that was too much was looked through again at once")
	}
	for _, cwd := range []string{"", "relative", "/"} {
		if c := k.Between(since, time.Now(), cwd, "", ""); c != nil {
			t.Errorf("%q: got %+v", cwd, c)
		}
	}
}

// TestChangesAreOmittedForSecrets checks that a secret in a path keeps out all changes, since a list with a gap
// would say that a file did not change.
func TestChangesAreOmittedForSecrets(t *testing.T) {
	for path, want := range map[string]bool{"/src/a": true, "/src/ghp_0123456789abcdefghijABCDEFGHIJ012345": false, "/src/\xff": false} {
		c := Command{Command: "make", Changes: &Changes{Below: "/src", Files: []WrittenFile{{Path: path}}}}
		if c.Redact(secrets.Default()); (c.Changes != nil) != want {
			t.Errorf("%q: told: %v; want %v", path, c.Changes != nil, want)
		}
	}
}

// TestWhatFilesWere checks that a Looker that remembers tells what a file was when it last looked, whoever
// changed it since.
func TestWhatFilesWere(t *testing.T) {
	dir, since := tree(t, "a", "b", "c")
	sum := func(text string) []byte { h := sha256.Sum256([]byte(text)); return h[:] }
	k := Looker{Remember: true}
	look := func(since time.Time) map[string][]byte {
		t.Helper()
		c := k.Between(since, time.Now(), dir, "", "")
		if c == nil {
			t.Fatal("nothing was looked at")
		}
		was := map[string][]byte{}
		for _, f := range c.Files {
			was[filepath.Base(f.Path)] = f.WasSHA256
			if f.WasSHA256 != nil && f.WasMode != 0o644 {
				t.Errorf("%s had mode %o", f.Path, f.WasMode)
			}
		}
		return was
	}
	put(t, filepath.Join(dir, "a"), "1")
	if was := look(since); len(was) != 1 || was["a"] != nil {
		t.Errorf("first look: %x", was)
	}
	put(t, filepath.Join(dir, "a"), "2")
	put(t, filepath.Join(dir, "b"), "2")
	put(t, filepath.Join(dir, "d"), "2")
	if was := look(since); !slices.Equal(was["a"], sum("1")) || !slices.Equal(was["b"], sum("old")) || was["d"] != nil {
		t.Errorf("second look: %x", was)
	}
	put(t, filepath.Join(dir, "b"), "by another") // no command changed it
	if was := look(time.Now().Add(time.Hour)); len(was) != 0 {
		t.Errorf("nothing changed: %x", was)
	}
	if err := os.Remove(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if c := k.Between(since, time.Now(), dir, "", ""); !slices.ContainsFunc(c.Files, func(f WrittenFile) bool {
		return f.Path == filepath.Join(dir, "c") && f.Removed && slices.Equal(f.WasSHA256, sum("old")) && f.SHA256 == nil
	}) {
		t.Errorf("c was removed: %+v", c.Files)
	}
	put(t, filepath.Join(dir, "b"), "3")
	put(t, filepath.Join(dir, "c"), "3")
	if was := look(since); !slices.Equal(was["b"], sum("by another")) || was["c"] != nil {
		t.Errorf("after another wrote b and c was removed: %x", was)
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		k.tree(filepath.Join(dir, name))
	}
	if len(k.trees) != maxTrees || k.trees[0].below != filepath.Join(dir, "2") {
		t.Errorf("%d directories are remembered", len(k.trees))
	}
}

// TestWhatIsRemembered checks that a look says whether all small files were known from the look before.
func TestWhatIsRemembered(t *testing.T) {
	dir, since := tree(t, "a", "b")
	put(t, filepath.Join(dir, "large"), strings.Repeat("x", maxRememberedSize+1))
	k := Looker{Remember: true}
	remembered := func(since time.Time) bool {
		t.Helper()
		c := k.Between(since, time.Now(), dir, "", "")
		if c == nil {
			t.Fatal("nothing was looked at")
		}
		return c.Remembered
	}
	if remembered(since) {
		t.Error("the first look knows nothing of before")
	}
	if !remembered(time.Now()) {
		t.Error("the second one knows all but the large file")
	}
	if remembered(since) {
		t.Error("a command that began before the last look may have made what that look saw")
	}
	k.trees[0].files = map[string]content{}
	if !remembered(time.Now()) || remembered(time.Now()) {
		t.Error("a look that does not know all files any more says so, the next time")
	}
	var none Looker
	if c := none.Between(since, time.Now(), dir, "", ""); c == nil || c.Remembered {
		t.Errorf("one that does not remember: %+v", c)
	}
}

// TestChangesOfTheCommandBefore checks that what a command changed last is not seen to be changed by the next one,
// which began within a tick of the kernel's clock of file times.
func TestChangesOfTheCommandBefore(t *testing.T) {
	dir, since := tree(t, "a", "b", "sub/c")
	k := Looker{Remember: true}
	look := func(since time.Time) []string {
		t.Helper()
		c := k.Between(since, time.Now(), dir, "", "")
		if c == nil {
			t.Fatal("nothing was looked at")
		}
		for i, d := range c.Directories {
			c.Directories[i] = strings.TrimPrefix(d+"/", dir+"/")
		}
		return append(paths(c, dir), c.Directories...)
	}
	put(t, filepath.Join(dir, "sub/new"), "1")
	put(t, filepath.Join(dir, "b"), "1")
	if got := look(since); !slices.Equal(got, []string{"b", "sub/new", "sub/"}) {
		t.Errorf("the first command: %q", got)
	}
	next := ctime(t, filepath.Join(dir, "b")).Add(1)
	if c := k.Between(next, time.Now(), dir, "", ""); c != nil {
		t.Errorf("one that began before the look ended may have changed b, or not: %+v", c)
	}
	k.trees[0].ended = next.Add(-1)
	if got := look(next); len(got) != 0 {
		t.Errorf("the next command changed nothing: %q", got)
	}
	if got := look(since); !slices.Equal(got, []string{"b", "sub/new", "sub/"}) {
		t.Errorf("one that began before them all: %q", got)
	}
	put(t, filepath.Join(dir, "b"), "2")
	k.trees[0].ended = next.Add(-1)
	if got := look(next); !slices.Equal(got, []string{"b"}) {
		t.Errorf("one that changed b: %q", got)
	}
}

// TestChangesOfARemovedDirectory has directories that are removed, or renamed, with what is in them.
func TestChangesOfARemovedDirectory(t *testing.T) {
	dir, since := tree(t, "a", "deep/b", "deep/er/c", "moved/d")
	k := Looker{Remember: true}
	put(t, filepath.Join(dir, "deep/er/c"), "new")
	if c := k.Between(since, time.Now(), dir, "", ""); c == nil || !slices.Equal(paths(c, dir), []string{"deep/er/c"}) {
		t.Fatalf("first look: %+v", c)
	}
	if err := os.RemoveAll(filepath.Join(dir, "deep")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "there")); err != nil {
		t.Fatal(err)
	}
	c := k.Between(since, time.Now(), dir, "", "")
	if c == nil {
		t.Fatal("nothing was looked at")
	}
	c.Files = slices.DeleteFunc(c.Files, func(f WrittenFile) bool { return !f.Removed || len(f.WasSHA256) != 32 })
	if got := paths(c, dir); !slices.Equal(got, []string{"deep/b", "deep/er/c", "moved/d"}) {
		t.Errorf("removed, and known what they were: %q", got)
	}
}

// TestChangesOfPastedCommands has a command that runs before it was looked what the one before it changed.
func TestChangesOfPastedCommands(t *testing.T) {
	dir, since := tree(t, "a", "b", "sub/c")
	k := Looker{Remember: true}
	if c := k.Between(since, time.Now(), dir, "", ""); c == nil {
		t.Fatal("nothing was looked at")
	}
	put(t, filepath.Join(dir, "a"), "first")
	ended := ctime(t, filepath.Join(dir, "a"))
	for !ctime(t, filepath.Join(dir, "b")).After(ended) {
		put(t, filepath.Join(dir, "b"), "second")
	}
	if err := os.Remove(filepath.Join(dir, "sub/c")); err != nil {
		t.Fatal(err)
	}
	if c := k.Between(since, ended, dir, "", ""); c != nil {
		t.Errorf("the first command, or the second: %+v", c)
	}
	k.trees[0].ended = ended.Add(-1) // as if it had begun after the look
	c := k.Between(ended.Add(1), time.Now(), dir, "", "")
	if c == nil || !slices.Equal(paths(c, dir), []string{"b", "sub/c"}) {
		t.Fatalf("the second command: %+v", c)
	}
	if was := sha256.Sum256([]byte("old")); !slices.Equal(c.Files[0].WasSHA256, was[:]) || !c.Files[1].Removed {
		t.Errorf("what b was, and that sub/c is gone: %+v", c.Files)
	}
}

// TestChangesAroundADirectory goes from a folder that is no repository into one in it: what changes beside that is
// seen too, unless the folder is outside the home directory or too much to look through.
func TestChangesAroundADirectory(t *testing.T) {
	home, since := tree(t, "work/app/main.c", "work/patches/one.diff", "work/repo/.git/HEAD")
	work := filepath.Join(home, "work")
	k := &Looker{Remember: true}
	if c := k.Between(since, time.Now(), work, home, ""); c == nil || c.Below != work {
		t.Fatalf("%+v", c)
	}
	put(t, filepath.Join(work, "patches/two.diff"), "new")
	c := k.Between(since, time.Now(), filepath.Join(work, "app"), home, "")
	if c == nil || c.Below != work || !slices.Equal(paths(c, work), []string{"patches/two.diff"}) {
		t.Errorf("beside: %+v", c)
	}
	if c := k.Between(since, time.Now(), filepath.Join(work, "repo"), home, ""); c == nil || c.Below != filepath.Join(work, "repo") {
		t.Errorf("a repository: %+v", c)
	}
	if c := k.Between(since, time.Now(), filepath.Join(work, "app"), filepath.Join(home, "elsewhere"), ""); c == nil || c.Below != filepath.Join(work, "app") {
		t.Errorf("outside the home directory: %+v", c)
	}
	k.tooMuch = map[string]time.Time{work: time.Now().Add(pause)}
	if c := k.Between(since, time.Now(), filepath.Join(work, "app"), home, ""); c == nil || c.Below != filepath.Join(work, "app") {
		t.Errorf("too much: %+v", c)
	}
}
