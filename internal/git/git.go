// Package git reads repositories through git's own plumbing commands: it runs the installed git,
// never parses a pack itself, and writes nothing into a repository.
//
// A caller may rely on these properties:
//
//   - Nothing that a repository configures is run: no hook, pager, filter, external diff,
//     file system monitor or credential helper. The network is never used, even if
//     objects are missing from a partial clone (hardened).
//   - Names from a repository cannot become options: object ids and references are
//     checked before they are passed to git, on standard input or after
//     --end-of-options.
//   - Memory is bounded by the largest object read and the changes of one commit. Long
//     listings are streamed, and one process answers many requests for objects or diffs.
//   - This holds for any repository: a commit of more than MaxPaths paths is refused
//     before they are listed, and objects that a clone lacks are reported (Entry.Lacks).
//   - Errors name their subject: a path that is not a repository, a repository that git
//     does not trust, an object that is missing or corrupt.
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

// Repo is a repository, bare or not, seen from one working tree.
type Repo struct {
	// Path is the argument of Open, made absolute.
	Path string
	// GitDir is the directory of HEAD and the index. In a linked working tree it is below
	// CommonDir, otherwise it is the same.
	GitDir string
	// CommonDir is the directory of objects and branches.
	CommonDir string
	// TopLevel is the root of the working tree; "" in a bare repository.
	TopLevel string
	// Bare means that there is no working tree.
	Bare bool
	// SHA256 means that object ids have 64 digits.
	SHA256 bool
	// MaxPaths limits the paths that a commit may have, or change, to be read; 0 means
	// DefaultMaxPaths. Beyond it the error is a *PathsError.
	MaxPaths int
}

// Open finds the repository that contains a path, as git does: at the path itself or in a directory
// above it. An error names the path and says what to do.
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
		// Inside a .git directory there is no working tree.
		if out, err := r.output(ctx, abs, "rev-parse", "--path-format=absolute", "--show-toplevel"); err == nil {
			r.TopLevel = strings.TrimSuffix(string(out), "\n")
		}
	}
	return r, nil
}

// Root returns the directory by which people know the repository: that of the working tree, or the
// repository's own if it is bare.
func (r *Repo) Root() string {
	switch {
	case r.TopLevel != "":
		return r.TopLevel
	case filepath.Base(r.CommonDir) == ".git":
		return filepath.Dir(r.CommonDir)
	}
	return r.CommonDir
}

// discovery turns git's refusals into errors that say what to do.
func discovery(path string, err error) error {
	var ge *Error
	if !errors.As(err, &ge) {
		return err
	}
	switch {
	case strings.Contains(ge.Stderr, "dubious ownership"), strings.Contains(ge.Stderr, "unsafe repository"):
		return fmt.Errorf("%s: the repository belongs to another user, so git refuses to read it; if you trust it: git config --global --add safe.directory %q", path, path)
	case strings.Contains(ge.Stderr, "not a git repository"):
		return fmt.Errorf("%s: %w: want a folder that git init or git clone made", path, ErrNoRepository)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ErrNoRepository means that there is no repository at the path or above it.
var ErrNoRepository = errors.New("not a git repository")

// Error is a git command that failed.
type Error struct {
	// Command is the git command: "rev-list".
	Command string
	// Stderr is the end of its error output.
	Stderr string
	// Err is the error with which the process ended.
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

// ExitCode returns git's exit code, -1 if it did not exit by itself.
func (e *Error) ExitCode() int {
	var exit *exec.ExitError
	if errors.As(e.Err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// command returns a hardened git command on this repository.
func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	all := append(hardened(), "--git-dir="+r.GitDir)
	if r.TopLevel != "" {
		all = append(all, "--work-tree="+r.TopLevel)
	}
	dir := r.TopLevel
	if dir == "" {
		dir = r.GitDir
	}
	return r.commandIn(ctx, dir, append(all, args...))
}

// commandIn returns a git command that runs in a directory.
func (r *Repo) commandIn(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, environment()
	ownProcessGroup(cmd)
	return cmd
}

// output runs a command in a directory and returns its output.
func (r *Repo) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return finish(r.commandIn(ctx, dir, append(hardened(), args...)), args[0])
}

// run runs a command on the repository and returns its output.
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

// tail is a writer that keeps the end of what is written to it.
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
