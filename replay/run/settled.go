package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// settledText is the check of a step that is done since the directory is as the last replays left it.
const settledText = "all files are as its last replay left them"

// look is whether the directory was as the last replays left it, and when that was looked at: after how many
// steps had begun or ended.
type look struct {
	at      int
	settled bool
}

// asReplaysLeft reports whether the directory is as the last replays of the plan's commands left it. It looks
// again once a step has begun or ended since. A run that goes on where another one ended does not ask: it
// knows what that did.
func (r *runner) asReplaysLeft(ctx context.Context) (bool, error) {
	if len(r.plan.Settled) == 0 || r.Past != nil {
		return false, nil
	}
	r.mu.Lock()
	now, last := r.moves, r.looked
	r.mu.Unlock()
	if last != nil && last.at == now {
		return last.settled, nil
	}
	const chunk = 200 // paths for one look, so that they fit into a command line
	held := true
	for some := range slices.Chunk(r.plan.Settled, chunk) {
		var err error
		if held, err = r.asLeft(ctx, some); err != nil {
			return false, err
		}
		if !held {
			break
		}
	}
	r.mu.Lock()
	r.looked = &look{now, held}
	r.mu.Unlock()
	return held, nil
}

// moved notes that a step begins or has ended.
func (r *runner) moved() {
	r.mu.Lock()
	r.moves++
	r.mu.Unlock()
}

// asLeft reports whether files are there, or not, as postconditions say.
func (r *runner) asLeft(ctx context.Context, some []replay.Postcondition) (bool, error) {
	args := []string{"sh", "-c", `
for arg; do
	path=${arg#?}
	case $arg in
	-*) if test -e "$path" || test -L "$path"; then exit 1; fi ;;
	+*) test -e "$path" || test -L "$path" || exit 1 ;;
	=*) test -f "$path" && { sha256sum < "$path" || shasum -a 256 < "$path"; } 2>/dev/null || exit 1 ;;
	esac
done`, "sh"}
	var sums []string
	for _, p := range some {
		switch {
		case p.Kind == replay.PostAbsent:
			args = append(args, "-"+p.Target)
		case p.Hash == "":
			args = append(args, "+"+p.Target)
		default:
			args = append(args, "="+p.Target)
			sums = append(sums, strings.ToLower(p.Hash))
		}
	}
	command := r.command(&replay.Step{})
	command.Args, command.Timeout = args, checkTimeout
	var printed strings.Builder // not the result's output, which is cut
	command.Output = func(b []byte) { printed.Write(b) }
	res, err := r.Executor.Run(ctx, command)
	switch {
	case errors.Is(err, sandbox.ErrNoDir), errors.Is(err, sandbox.ErrNoProgram):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("check whether the directory is as the last replay left it: %w", err)
	case res.Exit != 0 || res.TimedOut:
		return false, nil
	}
	var got []string
	for line := range strings.Lines(printed.String()) {
		sum, _, _ := strings.Cut(line, " ")
		got = append(got, sum)
	}
	return strings.Join(got, "\n") == strings.Join(sums, "\n"), nil
}

// toldByFiles are the kinds of postconditions that are about files and what git keeps in files.
var toldByFiles = map[string]bool{
	replay.PostFile: true, replay.PostAbsent: true, replay.PostCommit: true, replay.PostBranch: true, replay.PostTag: true, replay.PostNoBranch: true,
	replay.PostNoTag: true, replay.PostHead: true, replay.PostPicked: true, replay.PostSetting: true, replay.PostQuiet: true, replay.PostNone: true,
}

// isSettled reports whether a step is done since the directory is as the last replays left it: nothing that it
// needs has run, and what files do not tell of holds.
func (r *runner) isSettled(ctx context.Context, s *replay.Step, known map[int]verdict) (bool, error) {
	if !s.Settled || s.Background {
		return false, nil
	}
	if held, err := r.asReplaysLeft(ctx); err != nil || !held {
		return false, err
	}
	// A service that had to run again changes nothing, or it changes files. What it was asked to do before is
	// not asked of it twice.
	if held, err := r.undisturbed(ctx, s, known, true); err != nil || !held {
		return false, err
	}
	return r.othersHold(ctx, s)
}

// othersHold reports whether all postconditions hold of which files do not tell. A port need not answer for what runs
// in the background, see isOver, and what the last replays removed has neither mode nor kind.
func (r *runner) othersHold(ctx context.Context, s *replay.Step) (bool, error) {
	for _, p := range s.Post {
		if toldByFiles[p.Kind] || p.ReplacedBy != nil || p.Kind == replay.PostPort && s.Background || inFiles[p.Kind] && r.leftAbsent(p.Target) {
			continue
		}
		if _, held, err := r.holds(ctx, s, p); err != nil || !held {
			return false, err
		}
	}
	return true, nil
}

// inFiles are the kinds of postconditions that are about what is at a path, besides those of toldByFiles.
var inFiles = map[string]bool{replay.PostDirectory: true, replay.PostLink: true, replay.PostMode: true}

// leftAbsent reports whether the last replays left nothing at a path.
func (r *runner) leftAbsent(name string) bool {
	return slices.ContainsFunc(r.plan.Settled, func(p replay.Postcondition) bool { return p.Kind == replay.PostAbsent && p.Target == name })
}

// isOver reports whether nothing of what runs in the background is left to make: what it wrote while it ran is as the
// last replays left it, and a later step ends it, or it would end with the run. One that answers at a port, and that
// nothing is known to end, may be there for any step after it, so none of those may have to run, and for others where
// they reach it.
func (r *runner) isOver(ctx context.Context, s *replay.Step, known map[int]verdict) (bool, error) {
	if !s.Settled {
		return false, nil
	}
	if held, err := r.asReplaysLeft(ctx); err != nil || !held {
		return false, err
	}
	if s.EndedBy == nil && s.Listens() {
		if r.open() {
			return false, nil
		}
		for j := s.Index + 1; j < len(r.plan.Steps); j++ {
			if _, held, err := r.satisfied(ctx, j, known); err != nil || !held {
				return false, err
			}
		}
	}
	return r.othersHold(ctx, s)
}
