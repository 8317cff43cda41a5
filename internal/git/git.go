// Package git reads repositories by git's own plumbing: it starts the git that
// is installed, never parses a pack itself, and writes nothing into a repository.
//
// What a caller may rely on:
//
//   - Nothing that a repository configures is run: no hook, pager, filter,
//     external diff, file system monitor or credential helper; and no network is
//     reached, also where objects are missing from a partial clone (hardened).
//   - Names from a repository cannot become options: object ids and references
//     are checked before they are handed over, and go by standard input or behind
//     --end-of-options.
//   - Memory is bounded by the largest object asked for and the changes of one
//     commit. Long listings are streams, and many objects or diffs are answered
//     by one process each.
//   - That is so for any repository: a commit of more than MaxPaths paths is refused
//     before they are listed, and what a clone lacks is told (Entry.Lacks).
//   - What is wrong is said with the thing's name: a path that is no repository,
//     one that git does not trust, an object that is missing or corrupt.
//
// Object ids are lower-case hexadecimal: 40 digits in a SHA-1 repository, 64 in
// a SHA-256 one.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repo is a repository, bare or not, as one working tree sees it.
type Repo struct {
	// Path is what Open was given, absolute.
	Path string
	// GitDir is the folder that HEAD and the index are in; of a linked working
	// tree it is one below CommonDir, else the same.
	GitDir string
	// CommonDir is the folder that objects and branches are in.
	CommonDir string
	// TopLevel is the working tree's root; "" in a bare repository.
	TopLevel string
	// Bare says that there is no working tree.
	Bare bool
	// SHA256 says that object ids have 64 digits.
	SHA256 bool
	// MaxPaths is how many paths a commit may have, or change, to be read; 0 is
	// DefaultMaxPaths. Beyond it there is a *PathsError.
	MaxPaths int
}

// Open finds the repository that a path lies in, as git does: the path itself or
// a folder above it. The error names the path and what to do.
func Open(ctx context.Context, path string) (*Repo, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	} else if !st.IsDir() {
		return nil, fmt.Errorf("%s: not a folder: want the root of a repository", path)
	}
	r := &Repo{Path: abs}
	out, err := r.output(ctx, abs, "rev-parse", "--path-format=absolute", "--show-object-format",
		"--is-bare-repository", "--git-dir", "--git-common-dir")
	if err != nil {
		return nil, discovery(path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 4 || !filepath.IsAbs(lines[2]) || !filepath.IsAbs(lines[3]) {
		return nil, fmt.Errorf("%s: git answers %q: want git 2.31 or newer", path, out)
	}
	switch lines[0] {
	case "sha1", "sha256":
		r.SHA256 = lines[0] == "sha256"
	default:
		return nil, fmt.Errorf("%s: object ids by %q: want sha1 or sha256", path, lines[0])
	}
	r.Bare, r.GitDir, r.CommonDir = lines[1] == "true", filepath.Clean(lines[2]), filepath.Clean(lines[3])
	if !r.Bare {
		// Inside a .git folder there is no working tree to tell of.
		if out, err := r.output(ctx, abs, "rev-parse", "--path-format=absolute", "--show-toplevel"); err == nil {
			r.TopLevel = strings.TrimSuffix(string(out), "\n")
		}
	}
	return r, nil
}

// Root is the folder that people know the repository by: of the working tree, or
// the repository's own where it is bare.
func (r *Repo) Root() string {
	switch {
	case r.TopLevel != "":
		return r.TopLevel
	case filepath.Base(r.CommonDir) == ".git":
		return filepath.Dir(r.CommonDir)
	}
	return r.CommonDir
}

// discovery words git's refusals for people who want to know what now.
func discovery(path string, err error) error {
	var ge *Error
	if !errors.As(err, &ge) {
		return err
	}
	switch {
	case strings.Contains(ge.Stderr, "dubious ownership"), strings.Contains(ge.Stderr, "unsafe repository"):
		return fmt.Errorf("%s: the repository belongs to another user, and git does not read it; if you trust it: git config --global --add safe.directory %q", path, path)
	case strings.Contains(ge.Stderr, "not a git repository"):
		return fmt.Errorf("%s: %w: want a folder that git init or git clone made", path, ErrNoRepository)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ErrNoRepository: there is none at the path, nor in a folder above it.
var ErrNoRepository = errors.New("not a git repository")

// Error is a git command that failed.
type Error struct {
	// Command is git's: "rev-list".
	Command string
	// Stderr is the end of what it said.
	Stderr string
	// Err is how it ended.
	Err error
}

func (e *Error) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		return fmt.Sprintf("git %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("git %s: %s", e.Command, strings.ReplaceAll(said, "\n", "; "))
}

func (e *Error) Unwrap() error { return e.Err }

// ExitCode is git's exit code, -1 where it did not exit by itself.
func (e *Error) ExitCode() int {
	var exit *exec.ExitError
	if errors.As(e.Err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// command is a git command on this repository, hardened.
func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	all := append(hardened(), "--git-dir="+r.GitDir)
	if r.TopLevel != "" {
		all = append(all, "--work-tree="+r.TopLevel)
	}
	dir := r.TopLevel
	if dir == "" {
		dir = r.GitDir
	}
	return r.at(ctx, dir, append(all, args...))
}

// at is git in a folder.
func (r *Repo) at(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, environment()
	apart(cmd)
	return cmd
}

// output runs a command to find out about a folder.
func (r *Repo) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return finish(r.at(ctx, dir, append(hardened(), args...)), args[0])
}

// run runs a command on the repository and returns what it printed.
func (r *Repo) run(ctx context.Context, args ...string) ([]byte, error) {
	return finish(r.command(ctx, args...), args[0])
}

func finish(cmd *exec.Cmd, name string) ([]byte, error) {
	var out bytes.Buffer
	var said tail
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("git is not installed, or not on the PATH")
	}
	if err != nil {
		return out.Bytes(), &Error{Command: name, Stderr: said.String(), Err: err}
	}
	return out.Bytes(), nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const tailBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.b), "?") }

// IsID reports whether s is an object id.
func IsID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
