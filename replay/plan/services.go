package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// stirs tells that an act which asks a service did more than look, if a file was seen to change meanwhile that the
// service may write: it counts what it is asked. A log, to which its output goes, says nothing.
func (w *world) stirs(a *act) {
	port := slices.IndexFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Port && t.Access == effects.Read })
	dirs := w.served(a.Session)
	if !a.Looks || a.around == nil || port < 0 || a.Waits {
		return
	}
	for name, f := range a.around.Files {
		if f.Was != "" && w.stores(name, f, dirs) {
			a.Looks, a.Things[port].Access = false, effects.Update
			a.Opaque = append(a.Opaque, dirs...)
			return
		}
	}
}

// saved keeps the acts that asked a service for something, if it was seen to write a file when a kept act ended it: it
// may have counted what it was asked. It reports whether it kept another act.
func (s *slice) saved() (more bool) {
	for i, a := range s.w.acts {
		end := ended(a)
		if !s.kept[i] || end < 0 || !s.kept[end] {
			continue
		}
		e := s.w.acts[end]
		name := s.w.savedAt(e, a.Opaque)
		if name == "" {
			continue
		}
		for j := i + 1; j < end; j++ {
			if b := s.w.acts[j]; !s.kept[j] && !b.failed && b.Session == a.Session && asks(b) {
				s.keep(j, replay.Reason{Kind: "needed", Text: fmt.Sprintf("what it asks may count in %s, which %q wrote when it ended", name, replay.Brief(a.Command)), Evidence: []schemas.Position{b.Position, e.Position}})
				more = true
			}
		}
	}
	return more
}

// savedAt returns a file that services below some directories may have stored while an act ran which does not name it, "" if
// there is none.
func (w *world) savedAt(a *act, dirs []string) string {
	if a.around == nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(a.around.Files)) {
		f := a.around.Files[name]
		if f.Is != absent && w.stores(name, f, dirs) && !slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return isPath(t) && t.Access != effects.Read && covers(t, effects.Thing{Kind: effects.Path, Name: name})
		}) {
			return name
		}
	}
	return ""
}

// stores reports whether a file that was seen to change may be one in which a service below some directories keeps what
// it knows. A log is no such file.
func (w *world) stores(name string, f SeenFile, dirs []string) bool {
	return f.Was != f.Is && !w.logs(name) && !cached(name) && slices.ContainsFunc(dirs, func(dir string) bool { return within(name, dir) })
}

// asks reports whether an act asks a service for something.
func asks(a *act) bool {
	return !a.Background && !a.ended && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return t.Kind == effects.Port && t.Access != effects.Write
	})
}

// logs reports whether a file is a log: by its name, or since the output of a service goes there.
func (w *world) logs(name string) bool {
	return path.Ext(name) == ".log" || slices.ContainsFunc(w.exact["path\x00\x00"+name], func(o *write) bool { return w.acts[o.act].Background })
}

// awaits marks what an act waited for until it ended: all that runs in the background of its session if it names
// nothing, or the only job that does.
func (w *world) awaits(a *act) {
	if !a.Joins || a.Background {
		return
	}
	running := map[int][]*write{}
	for _, i := range w.shell(a.Session).jobs {
		for _, o := range w.acts[i].writes {
			if (o.thing.Kind == effects.Job || o.thing.Kind == effects.Port) && o.gone < 0 {
				running[i] = append(running[i], o)
			}
		}
	}
	all := a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name == "wait" && len(c.Args) == 0 && !c.Inner && !c.Maybe })
	if !all && len(running) != 1 {
		return
	}
	for _, writes := range running {
		for _, o := range writes {
			o.gone, o.removed = a.at, true
		}
	}
}

// restarts marks what a service of a session left as replaced, where an act in the background starts the same again
// and writes the same log anew: it had ended.
func (w *world) restarts(a *act) {
	again := func(o *write) bool {
		return o.thing.Kind == effects.Path && o.thing.Access == effects.Write && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return t.Access == effects.Write && key(t) == key(o.thing)
		})
	}
	for _, i := range w.shell(a.Session).jobs {
		b := w.acts[i]
		if !sameCall(a.Line, b.Line) || !slices.ContainsFunc(b.writes, again) {
			continue
		}
		for _, o := range b.writes {
			if o.gone < 0 && (again(o) || o.thing.Kind == effects.Port || o.thing.Kind == effects.Job || o.thing.Kind == "opaque") {
				o.gone = a.at
			}
		}
	}
}

// sameCall reports whether two lines begin with the same call.
func sameCall(a, b *shell.Line) bool {
	if a == nil || b == nil || len(a.Calls) == 0 || len(b.Calls) == 0 {
		return false
	}
	x, y := &a.Calls[0], &b.Calls[0]
	return x.Name == y.Name && x.Dir == y.Dir && slices.EqualFunc(x.Args, y.Args, func(v, w shell.Word) bool { return v.Text == w.Text })
}

// served returns where services that a session runs in the background may write what is not known: what they
// are sent may make them do it.
func (w *world) served(session string) (dirs []string) {
	for _, i := range w.shell(session).jobs {
		job := w.acts[i]
		if slices.ContainsFunc(job.writes, func(o *write) bool { return o.thing.Kind == effects.Job && o.gone < 0 }) {
			for _, dir := range job.Opaque {
				if !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	return dirs
}

// mayListen adds possible dependencies for a port at which no act is known to listen: on the acts that told an unknown
// program to start something (./ctl start web), as far as not all that they left is gone.
func (w *world) mayListen(a *act, t effects.Thing) {
	for _, b := range w.acts[:a.at] {
		if b.failed || b.Line == nil || len(b.writes) > 0 && !slices.ContainsFunc(b.writes, func(o *write) bool { return o.gone < 0 }) {
			continue
		}
		if slices.ContainsFunc(b.Line.Calls, starts) {
			a.needs(dep{b.at, replay.NeedService, name(t), 0.5, false})
		}
	}
}

// starts reports whether a call tells a program that stands in the tree to start something.
func starts(c shell.Call) bool {
	if c.Abroad || c.Deferred || !strings.Contains(c.Head.Value, "/") {
		return false
	}
	words := shell.Operands(c.Args, "")
	return slices.ContainsFunc(words[:min(len(words), 2)], func(w shell.Word) bool {
		return w.Value == "start" || w.Value == "restart" || w.Value == "up" || w.Value == "serve"
	})
}
