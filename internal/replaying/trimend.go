package replaying

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/trim"
)

// end returns what a trial came to.
func (t *trimTrials) end(ctx context.Context, box *sandbox.Sandbox, report run.Report, env map[string]string) (trim.End, error) {
	end := trim.End{Steps: map[int]trim.Outcome{}, Files: map[string]string{}, Wrote: map[int][]string{}}
	for _, o := range report.Steps {
		end.Steps[o.Step] = trim.Outcome{Fine: o.Status.Fine(), Ran: o.Attempt > 0, Exit: o.Exit, Output: o.Output, Unsure: o.Dropped > 0, Reason: o.Reason}
		for _, f := range o.Files {
			end.Wrote[o.Step] = append(end.Wrote[o.Step], f.Path)
		}
		if o.MoreFiles > 0 {
			return end, &trim.UnfitError{Why: fmt.Sprintf("step %d (%s) changes too many files to compare them after each trial", o.Step+1, o.Command)}
		}
	}
	changes, err := box.Changes()
	if err != nil {
		return end, err
	}
	t.changes = changes
	repositories := map[string]bool{}
	for _, c := range changes {
		inside := "/" + c.Path // of what is around the directory nothing follows
		if root, _, ok := strings.Cut(inside, "/.git/"); ok {
			repositories[filepath.Join(box.Dir(), root)] = true
		}
		if !commands.CachedFile(inside) && !ofTools.MatchString(inside) {
			end.Files[filepath.Join(box.Dir(), c.Path)] = state(c)
		}
	}
	for root := range repositories {
		text, err := repository(ctx, box, root, env)
		if err != nil {
			return end, err
		}
		end.Files[root+"/.git"] = text
	}
	return end, nil
}

// ofTools matches what says nothing of the end: what git keeps beside references and what is staged, which repositories are
// asked for, and the logs of npm.
var ofTools = regexp.MustCompile(`/\.git$|/\.git/((modules|worktrees)/.+/)?(index|HEAD|packed-refs|refs(/.*)?|logs(/.*)?|objects(/.*)?|ORIG_HEAD|FETCH_HEAD|REBASE_HEAD|AUTO_MERGE|COMMIT_EDITMSG|gc\.log|rr-cache(/.*)?)$|/\.npm/(_logs|_cacache)(/.*)?$`)

// state returns a change in a form that can be compared.
func state(c sandbox.Change) string {
	if c.New == nil {
		return "absent"
	}
	return fmt.Sprint(c.New.Mode, " ", c.New.Size, " ", c.New.Hash, " ", c.New.Link)
}

// repository returns a hash of what a repository has: its references, its stash and what is staged, also in its submodules
// and linked working trees.
func repository(ctx context.Context, box *sandbox.Sandbox, root string, env map[string]string) (string, error) {
	const script = `cd "$1" && {
staged() { git symbolic-ref -q HEAD || git rev-parse HEAD; git ls-files -v --stage; }
git for-each-ref --format='%(refname) %(objectname)'; git stash list --format=%H
git worktree list --porcelain | sed -n 's/^worktree //p' | while IFS= read -r tree; do (cd "$tree" && staged); done
git submodule --quiet foreach --recursive 'git rev-parse HEAD; git ls-files -v --stage'
} 2>&1 | git hash-object --stdin`
	c := sandbox.Command{Args: []string{"sh", "-c", script, "sh", root}, Dir: box.Dir(), Timeout: time.Minute}
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	slices.Sort(c.Env)
	res, err := box.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("look at the repository %s: %w", root, err)
	}
	return res.Output, nil
}
