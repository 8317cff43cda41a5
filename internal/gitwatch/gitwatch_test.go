package gitwatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/git/gittest"
)

// recorder is a fake repository and a list of the syncs.
type recorder struct {
	mu    sync.Mutex
	start time.Time
	at    string
	fail  error
	did   []string
}

func (r *recorder) note(format string, args ...any) {
	r.did = append(r.did, time.Since(r.start).Round(time.Millisecond).String()+" "+fmt.Sprintf(format, args...))
}

func (r *recorder) move(to string, fail error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.fail = to, fail
}

func (r *recorder) options(poll time.Duration) Options {
	r.start = time.Now()
	return Options{
		Poll: poll,
		Fingerprint: func(context.Context) (string, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.at, nil
		},
		Sync: func(context.Context) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.note("sync %s", r.at)
			return r.fail
		},
		Trouble: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.note("trouble %v", err)
		},
	}
}

// run follows while fn runs, in fake time.
func (r *recorder) run(t *testing.T, poll time.Duration, fn func(changed chan<- struct{})) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{}, 1)
		done := make(chan error)
		o := r.options(poll)
		go func() { done <- follow(ctx, changed, o) }()
		synctest.Wait()
		fn(changed)
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follow: %v", err)
		}
	})
}

func (r *recorder) want(t *testing.T, did ...string) {
	t.Helper()
	if diff := cmp.Diff(r.did, did); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestCatchesUpThenFollows(t *testing.T) {
	r := &recorder{at: "a"}
	r.run(t, 0, func(changed chan<- struct{}) {
		time.Sleep(time.Second)
		r.move("b", nil)
		for range 3 { // several notifications for one commit
			changed <- struct{}{}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		changed <- struct{}{} // a notification that concerns nothing of ours
		time.Sleep(time.Hour)
	})
	r.want(t, "0s sync a", "1.04s sync b")
}

func TestNoticesWithoutEndAreNotWaitedOut(t *testing.T) {
	r := &recorder{at: "a"}
	r.run(t, 0, func(changed chan<- struct{}) {
		r.move("b", nil)
		for range 100 {
			changed <- struct{}{}
			time.Sleep(10 * time.Millisecond)
		}
	})
	r.want(t, "0s sync a", "500ms sync b")
}

func TestFailuresAreTriedAgain(t *testing.T) {
	r := &recorder{at: "a", fail: errors.New("no server")}
	r.run(t, 0, func(chan<- struct{}) {
		time.Sleep(6 * time.Second)
		r.move("a", nil)
		time.Sleep(time.Hour)
	})
	r.want(t, "0s sync a", "0s trouble no server", "1s sync a", "3s sync a", "7s sync a")
}

func TestPolls(t *testing.T) {
	r := &recorder{at: "a"}
	r.run(t, 5*time.Second, func(chan<- struct{}) {
		time.Sleep(12 * time.Second)
		r.move("b", nil)
		time.Sleep(time.Minute)
	})
	r.want(t, "0s sync a", "15s sync b")
}

// TestNotices checks that git's changes to a repository are noticed: each step waits for its
// notification.
func TestNotices(t *testing.T) {
	g := gittest.Init(t)
	g.Commit("one", "a", "1")
	tree := filepath.Join(t.TempDir(), "tree")
	g.Git("worktree", "add", "-q", "-b", "other", tree)
	dir := filepath.Join(g.Dir, ".git")
	type step struct {
		name string
		do   func()
	}
	for _, w := range []struct {
		name, gitDir string
		steps        []step
	}{
		{"the repository", dir, []step{
			{"a commit", func() { g.Commit("two", "a", "2") }},
			{"a branch in a new folder", func() { g.Git("branch", "deep/er/branch") }},
			{"packed refs", func() { g.Git("pack-refs", "--all", "--prune") }},
			{"another branch", func() { g.Git("checkout", "-q", "-B", "side") }},
			{"a commit of another's tree", func() { gittest.At(t, tree).Commit("there", "b", "1") }},
		}},
		{"a linked working tree", filepath.Join(dir, "worktrees", "tree"), []step{
			{"its HEAD", func() { gittest.At(t, tree).Git("checkout", "-q", "--detach") }},
			{"its commit", func() { gittest.At(t, tree).Commit("again", "c", "1") }},
		}},
	} {
		n, err := notices(w.gitDir, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range w.steps {
			step.do()
			select {
			case <-n.changed:
				settle(t.Context(), n.changed)
			case <-time.After(time.Minute):
				t.Errorf("%s: %s was not noticed", w.name, step.name)
			}
		}
		n.close()
	}
}
