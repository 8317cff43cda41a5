package replays

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxLeft is the largest number of runs whose steps Left reads.
const maxLeft = 20

// MostFiles is how many files a run writes down of a step at most: of one that has as many, others may be
// missing.
const MostFiles = 1000

// isolationNone is the isolation of runs without a sandbox.
const isolationNone = "none"

// Did is a step that a replay did, and what it left in the real directory.
type Did struct {
	Intent       schemas.EventID
	Run          string
	Command, Cwd string // as it ran, after mapping
	Files        []File
	// Alone tells that no other step of the run was under way at the time, so that the files are
	// the step's own.
	Alone bool
	// Whole tells that Files are all that it changed, as far as a sandbox sees.
	Whole bool
	// Within tells that the step could reach nothing but the directory: it had a sandbox, and no network.
	Within bool
	// Satisfied tells that it was not run, since it was so already. Only Intent and Run are known then.
	Satisfied bool
}

// Left returns what the latest 20 replays of some commands left in real directories, the latest run
// first: the steps that were done, or were so already, in runs that were applied or had no sandbox. Only events below a
// watermark count. A set without the projection has none. The error is that of the projection, or
// the context's.
func Left(ctx context.Context, set *projections.Set, commands []schemas.EventID, visible schemas.Watermark) ([]Did, error) {
	if !slices.Contains(set.Names(), replays.Name) {
		return nil, nil
	}
	p, release, err := set.Acquire(replays.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := p.(*replays.Replays).View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	wanted := make(map[string]schemas.EventID, len(commands))
	latest := map[string]int64{} // by run, the last event that began one of the commands
	for _, id := range commands {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		wanted[id.String()] = id
		begun, err := v.Of(id, 0)
		if err != nil {
			return nil, err
		}
		for _, b := range begun {
			if b.Position.Offset < visible[b.Position.TP()] {
				latest[b.Run] = max(latest[b.Run], b.Position.Offset)
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(latest), func(a, b string) int {
		return cmp.Or(cmp.Compare(latest[b], latest[a]), cmp.Compare(a, b))
	})
	var runs []Run
	for _, name := range names[:min(len(names), maxLeft)] {
		events, err := v.Run(name)
		if err != nil {
			return nil, err
		}
		events = slices.DeleteFunc(events, func(r *recountv1.Record) bool {
			at := schemas.PositionOf(r.GetOrigin())
			return at.Offset >= visible[at.TP()]
		})
		if r := assemble(name, events); r.Applied || r.Isolation == isolationNone {
			runs = append(runs, r)
		}
	}
	latestFirst(runs)
	var out []Did
	for _, r := range runs {
		for i, s := range r.Steps {
			id, ok := wanted[s.Intent]
			if ok && s.State == StateSatisfied {
				out = append(out, Did{Intent: id, Run: r.Run, Satisfied: true})
			}
			if ok && s.State == StateDone {
				out = append(out, Did{Intent: id, Run: r.Run, Command: s.Command, Cwd: s.Cwd, Files: s.Files, Alone: alone(&r, i), Whole: len(s.Files) < MostFiles, Within: r.Isolation != isolationNone && !r.Network})
			}
		}
	}
	return out, nil
}

// alone reports whether no other step was under way while one was.
func alone(r *Run, i int) bool {
	s := &r.Steps[i]
	for j := range r.Steps {
		o := &r.Steps[j]
		if j == i || o.Began == (schemas.Position{}) {
			continue
		}
		if o.Began.TP() != s.Began.TP() || o.Began.Offset < s.End.Offset && (o.End == schemas.Position{} || s.Began.Offset < o.End.Offset) {
			return false
		}
	}
	return true
}
