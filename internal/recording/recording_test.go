package recording

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		command, patterns string
		want              bool
	}{
		{"ls", "ls", true},
		{"ls -l", "ls", false},
		{"cd /a/b/c", "ls:cd *", true},
		{"for\nx", "for*", true},
		{"x --password y", "*--password*", true},
		{"ls", "", false},
		{"ls", ":[", false},
	} {
		if got := Ignored(c.command, c.patterns); got != c.want {
			t.Errorf("%q by %q: got %v", c.command, c.patterns, got)
		}
	}
}

func TestIgnoredDir(t *testing.T) {
	for _, c := range []struct {
		dir, patterns string
		want          bool
	}{
		{"/home/ada/private", "/srv:/home/ada/private", true},
		{"/home/ada/private/taxes/2026", "~/private", true},
		{"/home/ada/private2", "~/private", false},
		{"/home/ada/clients/acme/src", "~/clients/*", true},
		{"/home/ada/clients", "~/clients/*", false},
		{"/home/ada", "~", true},
		{"/home/ada", "~bob", false},
		{"/srv/x", "/srv/", true},
		{"/srv", "/", true},
		{"/srv", "", false},
		{"/srv", "::[", false},
		{"", "*", false},
		{"relative/dir", "relative", true},
	} {
		if got := IgnoredDir(c.dir, c.patterns, "/home/ada"); got != c.want {
			t.Errorf("%q by %q: got %v", c.dir, c.patterns, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"1700000000":           time.Unix(1700000000, 0),
		"1700000000.25":        time.Unix(1700000000, 250_000_000),
		"1700000000.123456":    time.Unix(1700000000, 123_456_000),
		"2026-11-20T12:00:00Z": now,
	} {
		if got, err := ParseTime(s); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "1.2.3", "1.1234567890", "99999999999999999999", "12h"} {
		if got, err := ParseTime(s); err == nil {
			t.Errorf("%s: got %v", s, got)
		}
	}
}

// TestGitHead compares the result with git's in a repository with a packed reference, a worktree
// and a detached HEAD.
func TestGitHead(t *testing.T) {
	dir := t.TempDir()
	repo, tree := filepath.Join(dir, "repo"), filepath.Join(dir, "tree")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(filepath.Join(repo, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	if got := GitHead(repo); got != "" {
		t.Errorf("without a commit: %q", got)
	}
	git("commit", "-q", "--allow-empty", "-m", "one")
	if got, want := GitHead(repo), git("rev-parse", "HEAD"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	git("pack-refs", "--all")
	if got, want := GitHead(repo), git("rev-parse", "HEAD"); got != want {
		t.Errorf("packed: got %q, want %q", got, want)
	}
	git("worktree", "add", "-q", "-b", "side", tree)
	if got, want := GitHead(Workspace(tree)), git("rev-parse", "side"); got != want {
		t.Errorf("worktree: got %q, want %q", got, want)
	}
	git("checkout", "-q", "--detach")
	if got, want := GitHead(repo), git("rev-parse", "HEAD"); got != want {
		t.Errorf("detached: got %q, want %q", got, want)
	}
	if got := Workspace(filepath.Join(repo, "a", "b")); got != repo {
		t.Errorf("workspace %q, want %q", got, repo)
	}
}
