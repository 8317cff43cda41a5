package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// mending is a command that failed, and the later runs of it that worked, one of which the plan ends with.
type mending struct {
	failed commands.Scanned
	// same tells runs of the command: those with its words in its directory or, if none of these worked, of its template.
	same func(commands.Scanned) bool
	runs []schemas.EventID
}

// mend reads what came before a command that failed, and what came after it until it worked. If it worked more than
// once in its session, it reads all of that: whether what made it work first was taken back is not known yet.
func (d *reader) mend() error {
	failed, err := d.one(d.r.Mend)
	if err != nil {
		return err
	}
	if failed.ExitCode == nil || *failed.ExitCode == 0 {
		return &query.RequestError{Field: "mend", Value: d.r.Mend, Reason: "this command did not fail; want the id of one that did"}
	}
	if err := d.gather(commands.Filters{Workspace: failed.Workspace, Host: failed.Host, Since: failed.Time}, nil); err != nil {
		return err
	}
	m, after, err := mended(d.g.Commands, failed)
	if err != nil {
		return err
	}
	// What the session did before may be needed too: the edit and the commit that were refused.
	if err := d.gather(upTo(failed), nil); err != nil {
		return err
	}
	d.g.Commands = append(slices.DeleteFunc(d.g.Commands, func(c commands.Scanned) bool {
		return c.ID == failed.ID || slices.ContainsFunc(after, func(o commands.Scanned) bool { return o.ID == c.ID })
	}), after...)
	d.n.Goal = replay.Goal{Kind: "mend", What: failed.Command}
	d.mending = m
	return nil
}

// mended returns the runs of a failed command that worked after it, and the commands after it: up to and with that run if
// there is one, otherwise to the end of its session.
func mended(all []commands.Scanned, failed commands.Scanned) (*mending, []commands.Scanned, error) {
	at := slices.IndexFunc(all, func(c commands.Scanned) bool { return c.ID == failed.ID })
	for _, same := range []func(c commands.Scanned) bool{
		func(c commands.Scanned) bool { return c.ContentHash == failed.ContentHash && c.Cwd == failed.Cwd },
		func(c commands.Scanned) bool { return c.Template == failed.Template },
	} {
		m, first, end := &mending{failed: failed, same: same}, -1, len(all)-1
		for i := at + 1; at >= 0 && i <= end; i++ {
			if c := all[i]; !same(c) || !worked(c) {
				continue
			}
			if first < 0 {
				first = i
				for end > i && failed.Session != "" && all[end].Session != failed.Session && all[end].Session != all[i].Session {
					end--
				}
			}
			m.runs = append(m.runs, all[i].ID)
		}
		if len(m.runs) == 1 {
			end = first
		}
		if first >= 0 {
			return m, all[at+1 : end+1], nil
		}
	}
	return nil, nil, &query.NotFoundError{Ref: failed.ID.String(), Hint: fmt.Sprintf("no later run of %q in its workspace is known to have worked", replay.Brief(failed.Command))}
}

// worked reports whether a command is known to have succeeded.
func worked(c commands.Scanned) bool { return c.ExitCode != nil && *c.ExitCode == 0 }

// mend sets the run that worked as the goal, and forgets what came after it.
func (n *Narrative) mend(m *mending) {
	goal := m.runs[0]
	if len(m.runs) > 1 {
		goal = m.stood(join(*n))
	}
	n.Commands = sorted(n.Commands)
	at := slices.IndexFunc(n.Commands, func(c commands.Scanned) bool { return c.ID == goal })
	n.Commands, n.Goals = n.Commands[:at+1], []schemas.EventID{goal}
}

// stood returns the first run that worked or, if what made it work was taken back later, the first after all failures
// whose mend was not, or else the last such run. If there is none it is the first again.
func (m *mending) stood(w *world) schemas.EventID {
	from, lastFailed := 0, -1
	for i, a := range w.acts {
		if a.Time.Before(m.failed.Time) {
			from = i + 1
		}
		if m.same(a.Scanned) && a.ExitCode != nil && *a.ExitCode != 0 {
			lastFailed = i
		}
	}
	best := -1
	for k, run := range m.runs {
		i := slices.IndexFunc(w.acts, func(a *act) bool { return a.ID == run })
		switch stands := !m.undone(w, from, i); {
		case stands && (k == 0 || i > lastFailed):
			return run
		case stands:
			best = k
		}
	}
	return m.runs[max(best, 0)]
}

// undone reports whether something that was done between a failure and a run that worked, and that the run rests on, was
// taken back after it.
func (m *mending) undone(w *world, from, goal int) bool {
	s := w.cut([]int{goal}, false)
	for i := from; i < goal; i++ {
		a := w.acts[i]
		if !s.kept[i] {
			continue
		}
		for _, name := range a.Sets {
			if by, unset := w.shell(a.Session).removed[name]; unset && by > goal {
				return true
			}
		}
		for _, o := range a.writes {
			if o.thing.Kind == effects.Package && w.uninstalled(o.thing.Name, goal) {
				return true
			}
			if o.gone <= goal || !o.removed {
				continue
			}
			back := slices.ContainsFunc(w.backs, func(b *back) bool { return b.by == o.gone && slices.Contains(b.of, o) })
			if back || isPath(o.thing) && m.missed(w, o.thing.Name, i, goal, o.gone) {
				return true
			}
		}
	}
	return m.restored(w, s, from, goal)
}

// uninstalled reports whether an act after another one removed a package, and none installed it again.
func (w *world) uninstalled(name string, after int) bool {
	for _, a := range slices.Backward(w.acts[after+1:]) {
		if a.failed || a.ended || a.Line == nil {
			continue
		}
		if slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return t.Kind == effects.Package && t.Name == name && t.Access == effects.Write
		}) {
			return false
		}
		if slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return effects.Uninstalls(&c, name) }) {
			return true
		}
	}
	return false
}

// restored reports whether a file that a mend changed is seen to be at the end as it was before.
func (m *mending) restored(w *world, s *slice, from, goal int) bool {
	for name, all := range w.versions {
		if cached(name) || strings.Contains(name, "/.git/") {
			continue
		}
		first := slices.IndexFunc(all, func(v version) bool { return v.act >= from && v.act < goal && s.kept[v.act] })
		last := all[len(all)-1]
		if first < 0 || last.act <= goal || all[first].Was == "" || all[first].Was != last.Is {
			continue
		}
		then := all[first]
		for _, v := range all[first:] {
			if v.act < goal {
				then = v
			}
		}
		if then.Is != "" && then.Is != last.Is && (last.Is != absent || m.missed(w, name, all[first].act, goal, last.act)) {
			return true
		}
	}
	return false
}

// missed reports whether the removal of a file that an act made was more than tidying up: the run that worked
// names it, or the next run of the command failed.
func (m *mending) missed(w *world, name string, made, goal, removed int) bool {
	if slices.ContainsFunc(w.acts[goal].deps, func(d dep) bool { return d.on == made && d.what == name && d.sure > 0.5 }) {
		return true
	}
	for _, a := range w.acts[removed:] {
		if m.same(a.Scanned) && a.ExitCode != nil {
			return *a.ExitCode != 0
		}
	}
	return false
}
