package run

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/shell"
)

// inputChanged reports whether a step that this one reads files of has run in this run and left others than
// its last replay did. A file that came out as it was last time is no change, nor is what a service wrote, such as
// its log, that this step may only have spoken to.
func (r *runner) inputChanged(s *replay.Step) bool {
	for _, n := range s.Needs {
		staged := n.Kind == replay.NeedCommit && strings.HasPrefix(n.What, "/") // by its path
		if n.Kind != replay.NeedFile && n.Kind != replay.NeedDirectory && !staged || r.isService(s, n) {
			continue
		}
		o := r.outcomeOf(n.On)
		if o == nil || o.Status != Done {
			continue
		}
		if staged {
			return true // there may be a commit with the same message of what was staged before
		}
		before := &r.plan.Steps[n.On]
		if slices.ContainsFunc(o.Files, func(f File) bool { return sandbox.Within(n.What, f.Path) && isOther(before, f, o.Isolation) }) {
			return true
		}
	}
	return false
}

// isOther reports whether a file that a step has just left differs from what its last replay left. Where that
// is not known, a file counts that the view of the directory shows as changed; without a view every output is
// listed, changed or not, so none counts.
func isOther(s *replay.Step, f File, isolation string) bool {
	for _, p := range s.Post {
		switch {
		case p.Target != f.Path:
		case p.Kind == replay.PostAbsent:
			return f.Kind != sandbox.Removed
		case p.Kind == replay.PostFile && p.Hash != "":
			return !strings.EqualFold(p.Hash, f.Hash)
		}
	}
	return isolation != string(sandbox.IsolationNone)
}

// patternTakes reports whether a step that takes files away by a pattern (rm new/*) would take one that a step of this
// run has left. The plan knows such files by the names that they had when they were recorded: that those are gone says
// nothing where a name holds the time, or the number of a process.
func (r *runner) patternTakes(s *replay.Step) bool {
	if !slices.ContainsFunc(s.Post, func(p replay.Postcondition) bool { return p.Kind == replay.PostAbsent }) {
		return false
	}
	l, err := shell.Read(s.Command, path.Base(s.Shell), s.Cwd)
	if err != nil {
		return false
	}
	var patterns []string
	for i := range l.Calls {
		c := &l.Calls[i]
		for _, w := range c.Args {
			if (c.Name == "rm" || c.Name == "mv") && w.Glob && !w.Dynamic {
				patterns = append(patterns, absolute(c.Dir, w.Value))
			}
		}
	}
	if len(patterns) == 0 {
		return false
	}
	there := map[string]bool{}
	for i := range s.Index {
		o := r.outcomeOf(i)
		if o == nil || o.Status != Done || o.Isolation == string(sandbox.IsolationNone) {
			continue // without a view every output is listed, changed or not
		}
		for _, f := range o.Files {
			there[f.Path] = f.Kind != sandbox.Removed
		}
	}
	for name, is := range there {
		if is && slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			return true
		}
	}
	return false
}

// absolute returns a path that a command in a directory names.
func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
