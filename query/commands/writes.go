package commands

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Writes returns the paths that each of some commands writes, moves or removes, as far as its text
// shows.
func Writes(ctx context.Context, s Sources, of []Intent) (paths [][]string, err error) {
	paths = make([][]string, len(of))
	if len(of) == 0 {
		return paths, nil
	}
	a, err := s.open(ctx, query.Moment{}, segment.Name)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	positions := make([]schemas.Position, len(of))
	index := make(map[schemas.Position]int, len(of))
	for i, in := range of {
		positions[i] = in.Position
		index[in.Position] = i
	}
	err = a.segment.ViewAt(ctx, positions, func(_ int, v *segment.View) error {
		i, ok := index[v.Position()]
		if !ok {
			return nil
		}
		for r := range v.Resources() {
			if r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH && (r.Access == recountv1.Access_ACCESS_WRITE || r.Access == recountv1.Access_ACCESS_READ_WRITE) {
				paths[i] = append(paths[i], r.Name)
			}
		}
		return nil
	})
	return paths, err
}

// maxSeenRead is the maximum number of commands of one search whose events are read for what was seen to
// change. Of the others only the texts count.
var maxSeenRead int64 = 20_000

// wrote keeps the commands that wrote a file.
type wrote struct {
	*session
	want segment.Filter
	read atomic.Int64
}

// wroteFilter keeps the commands that wrote a file: those that a recorder saw change it, and those whose text
// says so, unless it was seen that they left it as it was.
func (a *session) wroteFilter(name string) (matcher, *wrote) {
	if path.IsAbs(name) {
		name = path.Clean(name)
	}
	w := &wrote{session: a, want: segment.Filter{ResourceKind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Resource: name}}
	return matcher{query.AppliedFilter{Field: "wrote", Op: "eq", Value: name}, w.match}, w
}

func (w *wrote) match(v *segment.View) (bool, error) {
	named := "" // as the text of the command has it
	for r := range v.Resources() {
		if (r.Access == recountv1.Access_ACCESS_WRITE || r.Access == recountv1.Access_ACCESS_READ_WRITE) && w.want.Names(r) {
			named = r.Name
			break
		}
	}
	look, err := w.look(v)
	if look == nil || err != nil {
		return named != "", err
	}
	if slices.ContainsFunc(look.Files, w.names) {
		return true, nil
	}
	return named != "" && !look.Untouched(named), nil
}

// names reports whether a file is the one that is asked about.
func (w *wrote) names(file string) bool {
	return w.want.Names(segment.Resource{Kind: w.want.ResourceKind, Name: file})
}

// look returns what was seen to change while a command ran, nil if no recorder looked where the file is.
func (w *wrote) look(v *segment.View) (*narrative.Looked, error) {
	if name := w.want.Resource; path.IsAbs(name) && path.IsAbs(v.Workspace()) && !under(v.Workspace(), name) && !under(v.Cwd(), name) {
		return nil, nil
	}
	if w.read.Add(1) > maxSeenRead {
		return nil, nil
	}
	at := []schemas.Position{v.Position()}
	if _, known := v.ExitCode(); !known {
		o, ok, err := w.outcome(v.ID())
		if err != nil {
			return nil, err
		}
		if ok {
			at = append(at, o.Position)
		}
	}
	for _, p := range at {
		if l, err := w.looked(p); l != nil || err != nil {
			return l, err
		}
	}
	return nil, nil
}

// hint says that not all commands were asked what they were seen to change, if so.
func (w *wrote) hint(hint string) string {
	if w == nil || w.read.Load() <= maxSeenRead {
		return hint
	}
	more := fmt.Sprintf("what was seen to change was read for %d commands, and for the others their text counts: narrow it by --since or --cwd", maxSeenRead)
	if hint == "" {
		return more
	}
	return hint + "; " + more
}
