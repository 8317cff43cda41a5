package plan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// slice is the choice of the acts that become steps, each with the reasons.
type slice struct {
	w    *world
	kept []bool
	why  [][]replay.Reason
	goal int // the last act that was asked for, -1 if what counts is what all left
}

// cut returns the slice of the goals and all that they depend on. Without goals it is that of the acts
// whose results are there at the end, and if all is set, every act.
func (w *world) cut(goals []int, all bool) *slice {
	s := &slice{w: w, kept: make([]bool, len(w.acts)), why: make([][]replay.Reason, len(w.acts)), goal: -1}
	for i, a := range w.acts {
		slices.SortFunc(a.deps, func(x, y dep) int {
			return cmp.Or(cmp.Compare(x.on, y.on), cmp.Compare(x.kind, y.kind), cmp.Compare(x.what, y.what))
		})
		if all && !a.Own && !a.earlier {
			s.keep(i, replay.Reason{Kind: "asked", Text: "everything was asked for"})
		}
	}
	switch {
	case all:
	case len(goals) > 0:
		for _, i := range goals {
			s.goal = max(s.goal, i)
			s.keep(i, replay.Reason{Kind: "goal", Text: "it is what was asked for"})
		}
	default:
		s.results()
	}
	s.close()
	for s.removals(len(goals) == 0 && !all) || s.waits() || s.feeds() || s.logged() || s.saved() || s.removes() {
		s.close()
	}
	return s
}

// logged keeps the acts that asked a service for something, if a log that a kept act reads was seen to change
// meanwhile: the service notes in it what it is asked. It reports whether it kept another act.
func (s *slice) logged() (more bool) {
	for i, a := range s.w.acts {
		if !s.kept[i] {
			continue
		}
		for _, t := range a.Things {
			if t.Access != effects.Read || t.Kind != effects.Path || t.Tree || t.Glob || !s.w.logs(t.Name) {
				continue
			}
			for j := i - 1; j >= 0; j-- {
				b := s.w.acts[j]
				if slices.ContainsFunc(b.Things, func(o effects.Thing) bool { return isPath(o) && o.Name == t.Name && o.Access == effects.Remove }) {
					break
				}
				if s.kept[j] || !asks(b) || b.around == nil {
					continue
				}
				if f, ok := b.around.Files[t.Name]; ok && f.Is != absent && f.Was != f.Is {
					s.keep(j, replay.Reason{Kind: "needed", Text: fmt.Sprintf("a service noted it in %s, which %q reads", t.Name, replay.Brief(a.Command)), Evidence: []schemas.Position{b.Position, a.Position}})
					more = true
				}
			}
		}
	}
	return more
}

// feeds keeps, for each kept act in the background that reads a pipe with a name, the later acts that write into it:
// it goes on only then. Of other jobs it keeps the acts whose files they took away. It reports whether it kept another
// act.
func (s *slice) feeds() (more bool) {
	for i, a := range s.w.acts {
		if !s.kept[i] || !a.Background {
			continue
		}
		for j := i + 1; j < len(s.w.acts) && (ended(a) < 0 || j < ended(a)); j++ {
			b := s.w.acts[j]
			if name := s.w.takenFrom(b); name != "" && !s.kept[j] && s.counts(b) {
				s.keep(j, replay.Reason{Kind: "needed", Text: fmt.Sprintf("%q took away %s, which it wrote", replay.Brief(a.Command), name), Evidence: []schemas.Position{a.Position, b.Position}})
				more = true
			}
		}
		for _, t := range a.Things {
			if t.Access != effects.Read || !isPath(t) || !s.w.pipes[t.Name] {
				continue
			}
			for j := i + 1; j < len(s.w.acts); j++ {
				b := s.w.acts[j]
				if !s.kept[j] && !b.failed && !b.ended && slices.ContainsFunc(b.Things, func(o effects.Thing) bool {
					return isPath(o) && o.Name == t.Name && (o.Access == effects.Write || o.Access == effects.Update)
				}) {
					s.keep(j, replay.Reason{Kind: "needed", Text: fmt.Sprintf("%q reads what it writes into %s", replay.Brief(a.Command), t.Name), Evidence: []schemas.Position{a.Position, b.Position}})
					more = true
				}
			}
		}
	}
	return more
}

// takenFrom returns a file that an act wrote by its name and that was seen to be gone afterwards, though no act
// removed it, "" if there is none.
func (w *world) takenFrom(a *act) string {
	if a.around == nil {
		return ""
	}
	for _, t := range a.Things {
		if t.Kind != effects.Path || t.Access != effects.Write || t.Tree || t.Glob || t.Sure < 0.9 || !within(t.Name, a.around.Below) || strings.Contains(t.Name, "/.git/") {
			continue
		}
		for _, b := range w.acts[a.at:] {
			if slices.ContainsFunc(b.Things, func(o effects.Thing) bool { return o.Access == effects.Remove && isPath(o) && covers(o, t) }) || b.around == nil || len(b.Opaque) > 0 {
				break
			}
			if f, changed := b.around.Files[t.Name]; changed && f.Is == absent || !changed && b == a && slices.Contains(b.around.Directories, path.Dir(t.Name)) {
				return t.Name
			}
		}
	}
	return ""
}

// waits keeps, for each kept act in the background, the first act that waits for its end, and before that, unless it is
// a service with a port, those that wait for what it does, so that it has come as far as when it was recorded. It
// reports whether it kept another act.
func (s *slice) waits() (more bool) {
	for i, a := range s.w.acts {
		if !s.kept[i] || !a.Background {
			continue
		}
		for j := i + 1; j < len(s.w.acts); j++ {
			b := s.w.acts[j]
			if b.Session != a.Session || b.failed || b.ended {
				continue
			}
			if slices.ContainsFunc(b.Things, func(t effects.Thing) bool { return t.Kind == effects.Job && t.Access == effects.Remove }) {
				break // the job was ended
			}
			if b.Joins || b.waitsForWork() && !slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Port }) {
				if !s.kept[j] {
					s.keep(j, replay.Reason{Kind: "needed", Text: fmt.Sprintf("it waits for what %q started", replay.Brief(a.Command)), Evidence: []schemas.Position{a.Position, b.Position}})
					more = true
				}
				if b.Joins {
					break
				}
			}
		}
	}
	return more
}

// waitsForWork reports whether an act does nothing but wait while something runs in the background.
func (a *act) waitsForWork() bool {
	return a.Waits && slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Job && t.Access == effects.Update })
}

// keep adds an act to the slice, with a reason. At most four reasons are kept for an act.
func (s *slice) keep(i int, why replay.Reason) {
	s.kept[i] = true
	if why.Evidence == nil {
		why.Evidence = []schemas.Position{s.w.acts[i].Position}
	}
	if len(s.why[i]) < 4 && !slices.ContainsFunc(s.why[i], func(r replay.Reason) bool { return r.Text == why.Text }) {
		s.why[i] = append(s.why[i], why)
	}
}

// counts reports whether an act may be kept because of what it left, rather than only because another
// act needs it.
func (s *slice) counts(a *act) bool {
	return !a.earlier && !a.failed && !a.ended && !a.Own && !a.Looks && !a.Checks && !a.Navigates && !a.weak
}

// results keeps the acts that left something which is still there at the end.
func (s *slice) results() {
	for i, a := range s.w.acts {
		if !s.counts(a) {
			continue
		}
		for _, o := range a.writes {
			if o.gone >= 0 || o.thing.Access == effects.Remove || alternative(a, o.thing) || s.w.passes(o.thing) {
				continue
			}
			what := o.thing.Name
			switch {
			case o.thing.Kind == "opaque":
				what = "what it made below " + o.thing.Name
			case o.thing.Kind == effects.Job:
				if !a.Background {
					continue // the job had ended with the command
				}
				what = "what it started"
			case o.thing.Kind == effects.Port:
				if !a.Background {
					continue
				}
				what = "what listens on port " + o.thing.Name
			case o.thing.Kind == effects.Commit:
				what = "its commit"
			case o.thing.Kind == effects.Mode:
				what = "the mode of " + o.thing.Name
			case o.thing.Kind == effects.Staged || o.thing.Kind == effects.Settings || o.thing.Kind == effects.Remote || o.thing.Kind == effects.Repository:
				what = "what it did to " + o.thing.Repo
			}
			s.keep(i, replay.Reason{Kind: "result", Text: what + " is there at the end"})
		}
	}
}

// passes reports whether a thing lies in a directory for temporary files, of which each run has its own, and
// not in a directory that the narrative works in.
func (w *world) passes(t effects.Thing) bool {
	if !isPath(t) && t.Kind != "opaque" || !within(t.Name, "/tmp") && !within(t.Name, "/var/tmp") {
		return false
	}
	return !slices.ContainsFunc(w.acts, func(a *act) bool {
		return a.Cwd != "" && within(t.Name, a.Cwd) || a.Workspace != "" && within(t.Name, a.Workspace) || within(t.Name, a.home) && a.home != ""
	})
}

// alternative reports whether a path is the second of two that a copy may have written: cp a b writes b,
// or b/a if b is a directory. Only the first is reported as a result.
func alternative(a *act, t effects.Thing) bool {
	return t.Sure == 0.5 && slices.ContainsFunc(a.writes, func(o *write) bool {
		return o.thing.Sure == 0.9 && isPath(o.thing) && o.thing.Name == path.Dir(t.Name)
	})
}

// close keeps everything that kept acts depend on.
func (s *slice) close() {
	for i := len(s.w.acts) - 1; i >= 0; i-- {
		if !s.kept[i] {
			continue
		}
		for _, d := range s.w.acts[i].deps {
			if d.removes || d.kind == replay.NeedOrder {
				continue
			}
			b := s.w.acts[d.on]
			s.keep(d.on, replay.Reason{
				Kind: "needed", Text: fmt.Sprintf("%q %s it: %s", replay.Brief(s.w.acts[i].Command), s.w.acts[i].sureOf(d), needText(d)),
				Evidence: []schemas.Position{b.Position, s.w.acts[i].Position},
			})
		}
	}
}

// removals keeps the acts that remove what a kept act made, or what existed before the narrative, so
// that a replay ends in the same state. It reports whether it kept another act.
func (s *slice) removals(results bool) (more bool) {
	for i, a := range s.w.acts {
		if s.kept[i] || a.failed || a.ended || a.Own {
			continue
		}
		for _, o := range a.writes {
			if o.thing.Access != effects.Remove || o.gone >= 0 && o.removed {
				continue // it removes nothing, or the removal was undone
			}
			made, kept := s.makers(i, o.thing)
			wanted := results || kept >= 0 && isPath(o.thing) && i < s.goal // what is gone must not be there for the goal
			for j := i + 1; j < len(s.w.acts) && !wanted; j++ {
				if s.kept[j] {
					for _, d := range s.w.acts[j].deps {
						wanted = wanted || d.on == i && (d.removes || d.kind == replay.NeedOrder)
					}
				}
			}
			if wanted && (kept >= 0 || !made && !s.w.passes(o.thing) && o.thing.Kind != effects.Job && o.thing.Kind != effects.Staged) {
				text := "it removes " + name(o.thing) + ", which was there before"
				evidence := []schemas.Position{a.Position}
				if kept >= 0 {
					text = fmt.Sprintf("it removes %s, which %q made", name(o.thing), replay.Brief(s.w.acts[kept].Command))
					evidence = append(evidence, s.w.acts[kept].Position)
				}
				s.keep(i, replay.Reason{Kind: "result", Text: text, Evidence: evidence})
				more = true
			}
		}
	}
	unset, back := s.unsets(), s.backs(results)
	return more || unset || back
}

// removes keeps the acts that made what a kept act removes, if its line goes on, or ends well, only where something is to
// be removed: rm list && make. It reports whether it kept another act.
func (s *slice) removes() (more bool) {
	for i, a := range s.w.acts {
		if !s.kept[i] || a.Line == nil || a.failed {
			continue
		}
		for k := range a.Line.Calls {
			c := &a.Line.Calls[k]
			if c.Name != "rm" && c.Name != "rmdir" || c.Flag("-f", "--force", "--ignore-fail-on-non-empty") || len(c.Via) > 0 || !a.Line.Decides(c) {
				continue
			}
			for _, w := range shell.Operands(c.Args, "") {
				name, ok := shell.Resolve(w, c.Dir, a.home)
				if _, kept := s.makers(i, effects.Thing{Kind: effects.Path, Name: name, Access: effects.Remove}); !ok || kept >= 0 {
					continue
				}
				for _, o := range s.w.exact["path\x00\x00"+name] {
					if o.gone == i && o.removed && o.thing.Access == effects.Write {
						b := s.w.acts[o.act]
						s.keep(o.act, replay.Reason{Kind: "needed", Text: fmt.Sprintf("%q removes %s, and does no more if it is not there", replay.Brief(a.Command), name), Evidence: []schemas.Position{b.Position, a.Position}})
						more = true
					}
				}
			}
		}
	}
	return more
}

// unsets keeps the acts that unset variables which a kept act set and a later kept act would see. It
// reports whether it kept another act.
func (s *slice) unsets() (more bool) {
	for i := range s.w.acts {
		if !s.kept[i] {
			continue
		}
		for _, d := range s.w.acts[i].deps {
			if !d.removes || d.kind != replay.NeedEnvironment || s.kept[d.on] {
				continue
			}
			for j := range s.w.acts[:d.on] {
				if s.kept[j] && s.w.acts[j].Session == s.w.acts[d.on].Session && slices.Contains(s.w.acts[j].Sets, d.what) {
					s.keep(d.on, replay.Reason{Kind: "needed", Text: fmt.Sprintf("it takes back %s before %q", d.what, replay.Brief(s.w.acts[i].Command))})
					more = true
				}
			}
		}
	}
	return more
}

// makers reports whether some act made what the act remover removes. kept is the last kept act that did,
// -1 if none.
func (s *slice) makers(remover int, t effects.Thing) (made bool, kept int) {
	kept = -1
	failed, ok := s.w.failed[key(t)]
	failedBefore := ok && failed < remover
	made = failedBefore
	// If an act is known to have made the path, programs whose writes are unknown are not candidates.
	known := isPath(t) && !t.Tree && !t.Glob && slices.ContainsFunc(s.w.exact[key(t)], func(o *write) bool {
		return o.gone == remover && (o.thing.Access == effects.Write || o.thing.Sure > 0.9) && o.thing.Kind == effects.Path && o.thing.Sure >= 0.9
	})
	for j, b := range s.w.acts[:remover] {
		if b.around != nil && isPath(t) && within(t.Name, b.around.Below) && b.around.made(t.Name) {
			made = true // also if it failed, or if what it made is gone
		}
		for _, o := range b.writes {
			if s.mayHaveMade(remover, t, o, known, failedBefore && failed > j) {
				made = true
				if s.kept[j] {
					kept = j
				}
			}
		}
	}
	if kept < 0 {
		kept = s.madeAgain(remover, t)
	}
	made = made && !s.w.stoodBefore(remover, t)
	return made || kept >= 0, kept
}

// mayHaveMade reports whether a write may have made what the act remover removes. known means that an act is known to
// have made it, failedLater that a later act failed that would have made it.
func (s *slice) mayHaveMade(remover int, t effects.Thing, o *write, known, failedLater bool) bool {
	b, u := s.w.acts[o.act], o.thing
	single := isPath(t) && !t.Tree && !t.Glob
	looked := b.seen != nil && within(t.Name, b.seen.Below)
	opaque := u.Kind == "opaque"
	hides := opaque && isPath(t) && within(t.Name, u.Name) // a program whose writes are unknown may have made it
	switch {
	case u.Access == effects.Remove:
		return false
	case (u.Tree || u.Glob) && isPath(u) && single && u.Name != t.Name && looked && !b.seen.writes(t.Name):
		return false // it was seen that it wrote other files there
	case hides && looked:
		return b.seen.writes(t.Name)
	case opaque && t.Tree && o.gone == remover && within(u.Name, t.Name):
		return true
	case hides:
		return s.kept[o.act] && !known && t.Name != u.Name && !failedLater
	case t.Kind == effects.Products:
		return o.gone == remover || opaque && b.Built && within(u.Name, t.Name)
	case t.Kind == effects.Job:
		return u.Kind == effects.Job && o.gone == remover
	}
	code := s.w.acts[remover].ExitCode
	refs := t.Kind == u.Kind && (t.Kind == effects.Branch || t.Kind == effects.Tag) && t.Name != u.Name
	another := (code == nil || *code == 0) && (refs || single && isPath(u) && !within(u.Name, t.Name)) // of rm a b
	return o.gone == remover && !another || overlaps(t, u) && !(known && u.Tree)
}

// madeAgain returns the last kept act before another one that makes what that removes because an earlier run of make, or
// the like, which had made it is left out; -1 if there is none.
func (s *slice) madeAgain(remover int, t effects.Thing) int {
	for j, b := range s.w.acts[:remover] {
		if s.kept[j] || b.seen == nil || !remakes(b.Line) || t.Kind != effects.Products && (!isPath(t) || !b.seen.writes(t.Name)) {
			continue
		}
		for k, o := range slices.Backward(s.w.acts[:remover]) {
			if s.kept[k] && o.Line != nil && !o.failed && sameMaker(o.Line, b.Line) {
				return k
			}
		}
	}
	return -1
}

// sureOf says how sure a dependency of an act is: that a program may read a file since it lies in its directory, or since a word
// may name it, is no proof that it does.
func (a *act) sureOf(d dep) string {
	if d.sure <= 0.6 && (d.kind == replay.NeedFile || d.kind == replay.NeedDirectory) && !a.readsOperand(d.what) {
		return "may need"
	}
	return "needs"
}

func needText(d dep) string {
	switch d.kind {
	case replay.NeedEnvironment:
		switch d.what {
		case "*":
			return "it sets variables that are not known"
		case "option":
			return "it sets options of the shell"
		}
		return "it sets " + d.what
	case replay.NeedWorkingDir:
		return "it runs in " + d.what
	case replay.NeedDirectory:
		return "it made or filled " + d.what
	case replay.NeedPackage:
		return "it installed " + d.what
	case replay.NeedService:
		return "it has to do with the service on " + d.what
	case replay.NeedImage, replay.NeedContainer, replay.NeedBranch:
		return "it made the " + d.kind + " " + d.what
	case replay.NeedCommit:
		return "the state of its repository"
	}
	if d.sure <= 0.5 {
		return "it may have written " + d.what
	}
	return "it wrote " + d.what
}

// left returns the reason why an act is not in the plan.
func (s *slice) left(i int) replay.Left {
	a := s.w.acts[i]
	l := replay.Left{Intent: a.ID, Position: a.Position, Command: a.Command, Evidence: []schemas.Position{a.Position}}
	say := func(kind, why string, by ...int) replay.Left {
		l.Kind, l.Why = kind, why
		for _, j := range by {
			l.Evidence = append(l.Evidence, s.w.acts[j].Position)
		}
		return l
	}
	switch {
	case a.Own:
		return say(replay.LeftOwn, "it is a verb of Recount")
	case a.ended:
		return say(replay.LeftUnfinished, "it was interrupted")
	case a.failed:
		if a.Outcome != nil {
			l.Evidence = append(l.Evidence, *a.Outcome)
		}
		for j := i + 1; j < len(s.w.acts); j++ {
			if b := s.w.acts[j]; b.Template == a.Template && b.Workspace == a.Workspace && !b.failed && !b.ended {
				return say(replay.LeftFailed, fmt.Sprintf("it failed, and %q succeeded later", replay.Brief(b.Command)), j)
			}
		}
		return say(replay.LeftFailed, "it failed, and nothing is known to rest on it")
	case a.ownShell && len(a.writes) == 0:
		return say(replay.LeftUnrelated, "what it set in its shell ended with it")
	case a.Navigates:
		return say(replay.LeftNavigated, "it only changed the directory, which each step states")
	case a.Looks:
		return say(replay.LeftLooked, "it only displayed something")
	case a.Checks:
		return say(replay.LeftLooked, "it only checked something")
	case a.weak && a.Runs == "":
		return say(replay.LeftLooked, "it was seen to change nothing, and nothing is known to rest on it")
	case a.weak:
		return say(replay.LeftLooked, "it ran what was built, and nothing is known to rest on it")
	}
	if a.repeat >= 0 {
		return say(replay.LeftRepeated, "an earlier run of the same command made the same, and nothing was changed since", a.repeat)
	}
	gone, removed, removes, by := true, false, false, -1
	for _, o := range a.writes {
		switch {
		case o.thing.Access == effects.Remove:
			removes = true
		case o.gone < 0:
			gone = false
		default:
			removed = removed || o.removed
			by = o.gone
		}
	}
	if slices.ContainsFunc(s.w.backs, func(b *back) bool { return b.by == i }) {
		return say(replay.LeftUndone, "it puts back what steps changed that are left out")
	}
	switch {
	case gone && removed && by >= 0:
		return say(replay.LeftUndone, fmt.Sprintf("%q removed what it made, or took it back", replay.Brief(s.w.acts[by].Command)), by)
	case gone && by >= 0 && s.w.acts[by].Command == a.Command:
		return say(replay.LeftRepeated, "a later run of the same command made the same", by)
	case gone && by >= 0:
		return say(replay.LeftSuperseded, fmt.Sprintf("%q replaced what it made", replay.Brief(s.w.acts[by].Command)), by)
	case removes && by < 0:
		return say(replay.LeftUndone, "what it removed is not made")
	}
	return say(replay.LeftUnrelated, "nothing that is needed rests on it")
}
