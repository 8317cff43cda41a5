package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/shell"
)

// Some things are only dangerous where something is: what a plan can't tell, a run looks at.

// harmless reports whether a dangerous part of a step can do no harm in this run.
func (r *runner) harmless(ctx context.Context, s *replay.Step, f *danger.Finding) (bool, error) {
	switch {
	case f.Unless != "":
		return !r.there[f.Unless], nil
	case f.Open:
		return !r.open(), nil
	case f.Whole:
		return len(r.Without) == 0, nil
	case f.Clean != "":
		return r.clean[place(f)], nil
	case f.Remotes != "":
		return r.pushesInside(ctx, s, f.Remotes)
	}
	return false, nil
}

// there returns the repositories that are there already, of those that the plan begins and in which it changes history.
func there(p *replay.Plan) map[string]bool {
	there := map[string]bool{}
	for i := range p.Steps {
		for _, f := range p.Steps[i].Danger {
			for _, part := range []string{".git", "HEAD"} { // HEAD of one without a working tree
				if _, err := os.Lstat(filepath.Join(f.Unless, part)); f.Unless != "" && err == nil {
					there[f.Unless] = true
				}
			}
		}
	}
	return there
}

// lost are the arguments of nothingToLose for what git may lose: a working tree, or files or branches of it.
func lost(f *danger.Finding) []string {
	switch {
	case len(f.Branches) > 0:
		return append([]string{f.Clean, "branches"}, f.Branches...)
	case len(f.Files) > 0:
		return append([]string{f.Clean, "files"}, f.Files...)
	}
	return []string{f.Clean, "all"}
}

// place is the key of what git may lose.
func place(f *danger.Finding) string { return strings.Join(lost(f), "\x00") }

// nothingToLose has a directory, and what of its repository may be lost. None of the branches is there; of the files
// nothing is changed and not committed; or, of all, nothing is either, nothing stashed, and no file is there that git
// neither has nor ignores: git worktree remove --force takes it away, and a switch by force overwrites it.
const nothingToLose = `
	test -e "$1" || exit 0
	cd "$1" && what=$2 && shift 2 || exit 1
	changed() { GIT_OPTIONAL_LOCKS=0 git status --porcelain "$@"; }
	case $what in
	branches)
		git rev-parse --git-dir >/dev/null 2>&1 || exit 1
		for branch; do ! git show-ref --verify --quiet "refs/heads/$branch" || exit 1; done
		exit 0 ;;
	files) left=$(changed --untracked-files=all --ignored -- "$@") ;;
	*) left=$(changed --untracked-files=normal && git stash list) ;;
	esac && test -z "$left"`

// tidy finds out in which working trees there is nothing that git could lose: they are not there, or all is committed
// and nothing stashed. A run that goes on does not see them as they were.
func (r *runner) tidy(ctx context.Context) error {
	if r.Past != nil {
		return nil
	}
	for i := range r.plan.Steps {
		for _, f := range r.plan.Steps[i].Danger {
			if _, known := r.clean[place(&f)]; known || f.Clean == "" {
				continue
			}
			_, clean, err := r.look(ctx, &replay.Step{}, nothingToLose, lost(&f)...)
			if err != nil {
				return err
			}
			r.clean[place(&f)] = clean
		}
	}
	return nil
}

// pushesInside reports whether all remotes of a repository, of which there is one, are in the directory that the run
// may change.
func (r *runner) pushesInside(ctx context.Context, s *replay.Step, repository string) (bool, error) {
	out, ok, err := r.look(ctx, s, `cd "$1" && { git rev-parse --show-toplevel 2>/dev/null || pwd; } && git remote -v`, repository)
	top, remotes, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if err != nil || !ok || remotes == "" {
		return false, err
	}
	for line := range strings.Lines(remotes) {
		_, where, _ := strings.Cut(strings.TrimSpace(line), "\t")
		where, pushes := strings.CutSuffix(where, " (push)")
		if !pushes {
			continue
		}
		where = strings.TrimPrefix(where, "file://")
		if !strings.HasPrefix(where, "/") && !strings.HasPrefix(where, "./") && !strings.HasPrefix(where, "../") {
			return false, nil
		}
		name, ok := shell.Resolve(shell.Word{Value: where}, top, "")
		if !ok || !strings.HasPrefix(name, strings.TrimSuffix(r.Executor.Dir(), "/")+"/") {
			return false, nil
		}
	}
	return true, nil
}

// look runs a script where a step would run, and returns what it printed, and whether its exit code was 0.
func (r *runner) look(ctx context.Context, s *replay.Step, script string, args ...string) (string, bool, error) {
	command := r.command(s)
	command.Args, command.Timeout, command.Grace = append([]string{"sh", "-c", script, "sh"}, args...), checkTimeout, time.Second
	res, err := r.Executor.Run(ctx, command)
	switch {
	case errors.Is(err, sandbox.ErrNoDir), errors.Is(err, sandbox.ErrNoProgram):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("look at %s: %w", args[0], err)
	}
	return res.Output, res.Exit == 0 && !res.TimedOut, nil
}
