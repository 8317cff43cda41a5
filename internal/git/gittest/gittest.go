// Package gittest makes repositories for tests, with fixed dates and people.
package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository below a test's directory.
type Repo struct {
	t   testing.TB
	Dir string
	// clock is the time of the next commit in seconds; each commit advances it by a minute.
	clock int64
}

// Start is the first commit's time, 2026-01-02T03:04:05Z.
const Start = 1767323045

// Init makes an empty repository with the branch main; args go to git init.
func Init(t testing.TB, args ...string) *Repo {
	t.Helper()
	r := &Repo{t: t, Dir: t.TempDir(), clock: Start}
	r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// At returns a repository that was made by other means, such as git clone.
func At(t testing.TB, dir string) *Repo { return &Repo{t: t, Dir: dir, clock: Start + 1<<20} }

// Env returns the environment for git, without settings of the machine's user.
func (r *Repo) Env() []string {
	date := fmt.Sprintf("%d +0100", r.clock)
	return append(os.Environ(),
		"HOME="+filepath.Join(r.Dir, "nobody"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.org", "GIT_COMMITTER_DATE="+date,
		"GIT_ALLOW_PROTOCOL=file", "LC_ALL=C",
	)
}

// Git runs a command and returns its trimmed output.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try is like Git, for a command that may fail.
func (r *Repo) Try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Write writes a file into the working tree; content "" removes it.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	file := filepath.Join(r.Dir, filepath.FromSlash(path))
	if content == "" {
		if err := os.Remove(file); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Commit writes files, given as pairs of path and content, commits all changes and returns the
// commit's id.
func (r *Repo) Commit(message string, files ...string) string {
	r.t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		r.Write(files[i], files[i+1])
	}
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
	r.clock += 60
	return r.Rev("HEAD")
}

// Merge merges branches into the current one, always with a merge commit.
func (r *Repo) Merge(branches ...string) string {
	r.t.Helper()
	r.Git(append([]string{"merge", "-q", "--no-ff", "--no-edit"}, branches...)...)
	r.clock += 60
	return r.Rev("HEAD")
}

// Rev returns the id of a revision.
func (r *Repo) Rev(rev string) string {
	r.t.Helper()
	return r.Git("rev-parse", "--verify", rev)
}
