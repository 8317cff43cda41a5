package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Ref is a reference that resolves to a commit.
type Ref struct {
	// Name is its full name: refs/heads/main, refs/tags/v1.2.0, HEAD.
	Name string
	// Commit is the commit it points to, through tag objects.
	Commit string
	// Target is the ref that a symbolic ref points to.
	Target string
}

// Refs returns the references below prefixes such as refs/heads, sorted by name. References that do
// not resolve to a commit (a tag of a tree or of a file) are omitted.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) ([]Ref, error) {
	args := []string{
		"for-each-ref",
		"--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)%00%(symref)",
		"--",
	}
	out, err := r.run(ctx, append(args, prefixes...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 6 {
			return nil, fmt.Errorf("git for-each-ref answers %q", line)
		}
		ref := Ref{Name: f[0], Target: f[5]}
		switch {
		case f[1] == TypeCommit:
			ref.Commit = f[2]
		case f[1] == TypeTag && f[3] == TypeCommit:
			ref.Commit = f[4]
		case f[1] == TypeTag && f[3] == TypeTag:
			// A tag of a tag: in older versions of git %(*) follows one step only.
			if ref.Commit, err = r.peel(ctx, f[2]); err != nil {
				return nil, err
			}
		}
		if ref.Commit != "" {
			refs = append(refs, ref)
		}
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].Name < refs[j].Name })
	return refs, nil
}

// peel returns the commit behind a tag object, "" if it points to something else.
func (r *Repo) peel(ctx context.Context, id string) (string, error) {
	out, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", id+"^{commit}")
	var ge *Error
	if errors.As(err, &ge) && ge.Stderr == "" {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Head returns HEAD. Commit is "" if the branch that it names has no commit yet; Target is "" if it
// is detached. In a linked working tree it has the name that git uses from outside,
// worktrees/NAME/HEAD.
func (r *Repo) Head(ctx context.Context) (Ref, error) {
	ref := Ref{Name: "HEAD"}
	if r.GitDir != r.CommonDir && filepath.Base(filepath.Dir(r.GitDir)) == "worktrees" {
		ref.Name = "worktrees/" + filepath.Base(r.GitDir) + "/HEAD"
	}
	out, err := r.run(ctx, "symbolic-ref", "--quiet", "HEAD")
	var ge *Error
	switch {
	case err == nil:
		ref.Target = strings.TrimSuffix(string(out), "\n")
	case !errors.As(err, &ge) || ge.ExitCode() != 1:
		return ref, err
	}
	if out, err = r.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		// HEAD does not exist yet; if it is broken, git reports that.
		if errors.As(err, &ge) && ge.ExitCode() == 1 && ge.Stderr == "" {
			return ref, nil
		}
		return ref, fmt.Errorf("HEAD: %w", err)
	}
	ref.Commit = strings.TrimSpace(string(out))
	return ref, nil
}

// Shallow returns the commits at the border of a shallow clone, whose parents are missing; none for
// a complete clone.
func (r *Repo) Shallow() ([]string, error) {
	b, err := os.ReadFile(filepath.Join(r.CommonDir, "shallow"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(b))
	sort.Strings(ids)
	return ids, nil
}

// Config returns the value of a setting, "" if it is not set.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	out, err := r.run(ctx, "config", "--null", "--get", key)
	var ge *Error
	if errors.As(err, &ge) && ge.ExitCode() == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}
