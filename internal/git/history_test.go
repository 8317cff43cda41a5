package git_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
)

// long makes a repository of n commits, more than are read ahead, of which every seventh changes
// nothing.
func long(t *testing.T, n int, options ...string) *gittest.Repo {
	t.Helper()
	g := gittest.Init(t)
	var stream strings.Builder
	for i := range n {
		message := fmt.Sprintf("commit %d", i)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.org> %d +0000\ndata %d\n%s\n", gittest.Start+i, len(message), message)
		if i%7 != 0 {
			fmt.Fprintf(&stream, "M 100644 inline file%d\ndata 8\n%08d\n", i%50, i)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", append(options, "fast-import", "--quiet")...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.Dir, g.Env(), strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
	return g
}

func TestHistoryIsTheWalkRead(t *testing.T) {
	const n = 600
	g := long(t, n)
	r := open(t, g.Dir)
	tip := g.Rev("main")
	want := walk(t, r, []string{tip}, nil)
	d := r.Diffs(t.Context())
	defer d.Close()
	i := 0
	err := r.History(t.Context(), []string{tip}, nil, func(e git.Entry) error {
		if e.ID != want[i] || e.Commit.ID != e.ID || strings.TrimSpace(e.Commit.Message) != fmt.Sprintf("commit %d", i) {
			t.Fatalf("entry %d: %s, %q; want %s", i, e.ID, e.Commit.Message, want[i])
		}
		parent := ""
		if i > 0 {
			parent = want[i-1]
		}
		// The changes are the same if requested alone.
		changes, err := d.Changes(e.ID, parent)
		if err != nil {
			return err
		}
		if fmt.Sprint(e.Changes) != fmt.Sprint(changes) || i%7 == 0 && len(changes) > 0 {
			t.Fatalf("changes of commit %d: %v, want %v", i, e.Changes, changes)
		}
		i++
		return nil
	})
	if err != nil || i != n {
		t.Errorf("%d commits, %v; want %d", i, err, n)
	}
	stopped := fmt.Errorf("enough")
	for _, at := range []int{1, 300} {
		i = 0
		err = r.History(t.Context(), []string{tip}, nil, func(git.Entry) error {
			if i++; i == at {
				return stopped
			}
			return nil
		})
		if err != stopped || i != at {
			t.Errorf("stopped at %d: %v after %d", at, err, i)
		}
	}
}

// TestHistoryUpToADamagedObject checks that commits before a damaged object are yielded before the
// error that names it.
func TestHistoryUpToADamagedObject(t *testing.T) {
	const n = 450
	for _, c := range []struct {
		object   string // of commit 400
		min, max int
	}{{"", 400, 400}, {"^{tree}", 390, 400}} {
		t.Run("400"+c.object, func(t *testing.T) {
			g := long(t, n, "-c", "fastimport.unpackLimit=100000", "-c", "core.fsync=none") // loose objects
			r := open(t, g.Dir)
			ids := walk(t, r, []string{g.Rev("main")}, nil)
			object := g.Rev(ids[400] + c.object)
			file := filepath.Join(g.Dir, ".git", "objects", object[:2], object[2:])
			if c.object == "" {
				// Without a commit-graph the walk would miss the commit and yield nothing.
				g.Git("commit-graph", "write", "--reachable")
			}
			// The object has a file, so it is damaged, not missing.
			if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte("no object"), 0o600)); err != nil {
				t.Fatal(err)
			}
			done := 0
			err := r.History(t.Context(), []string{ids[n-1]}, nil, func(e git.Entry) error {
				if e.ID != ids[done] {
					t.Fatalf("entry %d is %s", done, e.ID)
				}
				done++
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), object) {
				t.Errorf("got %v; want %s named", err, object)
			}
			if done < c.min || done > c.max {
				t.Errorf("%d commits before it, want %d to %d", done, c.min, c.max)
			}
		})
	}
}
