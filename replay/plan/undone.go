package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// back is an act that restores files to a state before earlier acts: git restore f, mv b a after mv a b,
// cp f.orig f after cp f f.orig. Together they changed nothing, so all are left out of the slice. If a
// kept act read the files in between, the changes and the act that restores are kept.
type back struct {
	by    int      // the act that restores
	what  string   // the first file that it restores
	files []string // all of them
	of    []*write // the writes that it undoes
	from  int      // the first act whose writes it undoes
}

// and returns the back of the files of both; b may be nil.
func (b *back) and(o *back) *back {
	if b == nil {
		return o
	}
	b.files, b.of, b.from = append(b.files, o.files...), append(b.of, o.of...), min(b.from, o.from)
	return b
}

// putsBack returns what an act restores, nil if it is none of the known forms. It is called before the
// act's own writes are recorded.
func (w *world) putsBack(a *act) *back {
	if b := w.movesTreeBack(a); b != nil {
		return b
	}
	if c, here, ok := onlyGit(a.Line); ok && !a.Background && !c.Maybe && !c.Abroad {
		return w.restores(a, c, here)
	}
	if a.Line == nil || len(a.Line.Calls) != 1 || len(a.Line.Redirects) > 0 || a.Background || a.Line.Calls[0].Maybe || a.Line.Calls[0].Abroad {
		return nil
	}
	switch c := &a.Line.Calls[0]; c.Name {
	case "sed":
		return w.takesLine(a, c)
	case "mv", "cp":
		from, to, ok := oneToOne(a)
		if !ok {
			return nil
		}
		if c.Name == "mv" {
			if b := w.movesBack(a, from, to); b != nil {
				return b
			}
		}
		return w.copiesBack(a, from, to)
	}
	return nil
}

// put returns the last act that put something at an address and did nothing else, nil if there is none.
func (w *world) put(t effects.Thing) *act {
	for _, o := range slices.Backward(w.exact[key(t)]) {
		p := w.acts[o.act]
		if o.thing.Access == effects.Remove || o.gone >= 0 && o.removed {
			return nil
		}
		if o.gone >= 0 && p.writes[0].gone < 0 {
			return nil
		}
		for _, o := range p.writes {
			if o.thing.Kind != effects.Address && o.thing.Kind != effects.Port && o.thing.Kind != "opaque" {
				return nil
			}
		}
		return p
	}
	return nil
}

// putAgain marks as gone what an act puts at its address once more, before it is known what the act rests on: a
// PUT replaces all that was there.
func (w *world) putAgain(a *act) {
	for _, t := range a.Things {
		if t.Kind != effects.Address || a.failed || a.ended || slices.ContainsFunc(a.Things, keeps) {
			continue
		}
		if p := w.put(t); p != nil && !w.declined(a, t) {
			for _, o := range p.writes {
				if o.gone < 0 {
					o.gone = a.at
				}
			}
		}
	}
}

// keeps reports whether a thing is a file that is written, as that of an answer, which may tell what was there before.
func keeps(t effects.Thing) bool { return t.Kind == effects.Path && t.Access != effects.Read }

// declined reports whether a service did not take what an act puts at an address: it was seen to change nothing
// where the one that put something there before had changed files or folders.
func (w *world) declined(a *act, t effects.Thing) bool {
	all := w.exact[key(t)]
	if t.Kind != effects.Address || a.around == nil || len(a.around.Files)+len(a.around.Directories) > 0 || len(all) == 0 {
		return false
	}
	before := w.acts[all[len(all)-1].act].around
	return before != nil && len(before.Files)+len(before.Directories) > 0
}

// deletes returns the back of an act that deletes what earlier acts put at an address.
func (w *world) deletes(a *act) *back {
	for _, t := range a.Things {
		if t.Kind != effects.Address || t.Access != effects.Remove {
			continue
		}
		p := w.put(t)
		if p == nil || p.writes[0].gone != a.at {
			return nil
		}
		b := &back{by: a.at, what: t.Name, from: p.at}
		for _, o := range w.exact[key(t)] {
			b.of, b.from = append(b.of, w.acts[o.act].writes...), min(b.from, o.act)
		}
		return b
	}
	return nil
}

// drops returns the back of git stash drop of what the last push put on the stash, if the push was seen to leave files
// as they were before earlier acts: together they threw those changes away. It also notes what a push takes back.
func (w *world) drops(a *act) *back {
	c, here, ok := onlyGit(a.Line)
	at := slices.IndexFunc(a.Things, func(t effects.Thing) bool { return t.Kind == "stash" })
	if a.Line == nil || at < 0 {
		return nil
	}
	repo := a.Things[at].Repo
	all := w.stashes[repo]
	w.stashes[repo] = nil // what else is done to the stash is not followed
	if !ok || a.seen == nil || w.finds {
		return nil
	}
	ws := shell.Operands(here.Args, "-m --message")
	switch {
	case len(ws) == 0 || ws[0].Value == "push" || ws[0].Value == "save":
		b := &back{by: a.at, from: a.at}
		files, _ := a.seen.plainFiles()
		for _, name := range files {
			one := w.backTo(a, name)
			if one == nil || here.Flag("-p", "--patch", "-k", "--keep-index", "-S", "--staged") {
				b.by = -1 // it stays
				break
			}
			b = b.and(one)
		}
		w.stashes[repo] = append(all, b)
	case ws[0].Value == "drop" && (len(ws) == 1 || ws[1].Value == "0" || ws[1].Value == "stash@{0}") && len(all) > 0 && c.Dir != "":
		last := all[len(all)-1]
		w.stashes[repo] = all[:len(all)-1]
		if last.by < 0 || len(last.of) == 0 {
			return nil
		}
		b := &back{by: a.at, what: last.files[0], files: last.files, of: slices.Concat(last.of, w.acts[last.by].writes), from: last.from}
		return b
	}
	return nil
}

// takesLine returns the back of sed -i '$d' FILE that takes away the line which the last act that wrote the file
// appended to it.
func (w *world) takesLine(a *act, c *shell.Call) *back {
	ws := shell.Operands(c.Args, "")
	if len(c.Args) != 3 || c.Args[0].Value != "-i" || len(ws) != 2 || ws[0].Value != "$d" || ws[0].Dynamic {
		return nil
	}
	for _, t := range a.Things {
		if t.Kind != effects.Path || t.Access != effects.Update || t.Glob || t.Partial {
			continue
		}
		o := w.latest(t.Name)
		if o == nil || o.gone >= 0 || !appendsLine(w.acts[o.act].Line) {
			return nil
		}
		return w.since(a, t.Name, o.act)
	}
	return nil
}

// appendsLine reports whether a line is echo TEXT >> FILE, with one line of text.
func appendsLine(l *shell.Line) bool {
	if l == nil || len(l.Calls) != 1 || l.Calls[0].Name != "echo" || len(l.Redirects) != 1 || !l.Redirects[0].Appends() {
		return false
	}
	return !slices.ContainsFunc(l.Calls[0].Args, func(w shell.Word) bool {
		return w.Dynamic || w.Glob || strings.HasPrefix(w.Value, "-") || strings.Contains(w.Value, "\n")
	})
}

// oneToOne returns the source and the target of a cp or mv of a single path.
func oneToOne(a *act) (from, to string, ok bool) {
	if a.Line == nil || len(a.Line.Calls) != 1 || a.Line.Calls[0].Name != "cp" && a.Line.Calls[0].Name != "mv" || len(shell.Operands(a.Line.Calls[0].Args, "")) != 2 {
		return "", "", false
	}
	for _, t := range a.Things {
		switch {
		case t.Kind != effects.Path || t.Glob || t.Partial:
			return "", "", false
		case t.Access == effects.Read && from == "":
			from = t.Name
		case t.Access == effects.Write && t.Sure >= 0.9:
			to = t.Name
		}
	}
	return from, to, from != "" && to != "" && from != to
}

// movesBack returns the back of an mv that reverses an earlier mv, if nothing else was written to either
// path in between.
func (w *world) movesBack(a *act, from, to string) *back {
	o := w.latest(from)
	if o == nil || o.gone >= 0 || w.acts[o.act].Line == nil || w.acts[o.act].Line.Calls[0].Name != "mv" {
		return nil
	}
	if was, is, ok := oneToOne(w.acts[o.act]); !ok || was != to || is != from || w.touched(to, o.act+1, true) || w.touched(from, o.act+1, true) {
		return nil
	}
	b := &back{by: a.at, what: to, files: []string{to, from}, from: o.act}
	b.of = append(b.of, w.acts[o.act].writes...)
	return b
}

// copiesBack returns the back of an act that copies or moves an earlier copy of a file over it: it undoes
// what was written to the file since the copy was made.
func (w *world) copiesBack(a *act, from, to string) *back {
	o := w.latest(from)
	if o == nil || o.gone >= 0 || o.thing.Access == effects.Remove {
		return nil
	}
	p, start := w.acts[o.act], o.act+1
	was, is, copied := oneToOne(p)
	switch {
	case copied && o.thing.Access == effects.Write && p.Line.Calls[0].Name == "cp" && was == to && is == from:
	case p.Line != nil && len(p.Line.Calls) == 1 && keepsOriginal[p.Line.Calls[0].Name] && strings.HasPrefix(from, to+"."):
		start-- // the program itself made the copy, before it changed the file
	default:
		return nil
	}
	return w.since(a, to, start)
}

// movesTreeBack returns the back of rm -r DIR && mv COPY DIR, where COPY is as an earlier cp -r DIR COPY left it: it
// undoes what was written below the directory since, and the copy.
func (w *world) movesTreeBack(a *act) *back {
	if a.Line == nil || len(a.Line.Calls) != 2 || len(a.Line.Redirects) > 0 || a.Line.Calls[0].Name != "rm" || a.Line.Calls[1].Name != "mv" {
		return nil
	}
	removed := shell.Operands(a.Line.Calls[0].Args, "")
	moved := shell.Operands(a.Line.Calls[1].Args, "")
	if len(removed) != 1 || len(moved) != 2 {
		return nil
	}
	dir, ok := shell.Resolve(removed[0], a.Line.Calls[0].Dir, a.home)
	to, known := shell.Resolve(moved[1], a.Line.Calls[1].Dir, a.home)
	from, also := shell.Resolve(moved[0], a.Line.Calls[1].Dir, a.home)
	o := w.latest(from)
	if !ok || !known || !also || dir != to || o == nil || o.gone >= 0 || !o.thing.Tree {
		return nil
	}
	p := w.acts[o.act]
	if was, is, copied := oneToOne(p); !copied || p.Line.Calls[0].Name != "cp" || was != dir || is != from || w.touched(from, o.act+1, true) {
		return nil
	}
	b := &back{by: a.at, what: dir, files: []string{dir, from}, of: slices.Clone(p.writes), from: o.act}
	for _, c := range w.acts[o.act+1:] {
		for _, o := range c.writes {
			t := o.thing
			switch inside := isPath(t) && !t.Glob && within(t.Name, dir) || t.Kind == effects.Mode && within(t.Name, dir); {
			case inside && t.Sure >= 0.9:
				b.of = append(b.of, o)
			case inside, t.Kind == "opaque" && !c.weak && (within(dir, t.Name) || within(t.Name, dir)), isPath(t) && (t.Tree || t.Glob) && overlaps(t, effects.Thing{Kind: effects.Path, Name: dir, Tree: true}):
				return nil
			}
		}
	}
	return b
}

// keepsOriginal has the programs that can keep the old version of a file beside it, under a longer name.
var keepsOriginal = map[string]bool{"patch": true, "sed": true, "perl": true}

// restores returns the back of git restore or git checkout -- FILE: it undoes what was written to the
// files since they were last added to the index.
func (w *world) restores(a *act, c, here *shell.Call) *back {
	first := slices.IndexFunc(here.Args, func(v shell.Word) bool { return v.Value != "-q" && v.Value != "--quiet" })
	switch sub := c.Sub(); {
	case sub == "restore" && !here.Flag("-S", "--staged", "-s", "--source", "-p", "--patch", "-m", "--merge", "--ours", "--theirs", "--pathspec-from-file"):
	case sub == "checkout" && first >= 0 && here.Args[first].Value == "--", a.files:
	default:
		return nil
	}
	var all *back
	for _, t := range a.Things {
		if t.Kind != effects.Path || t.Access != effects.Update {
			continue
		}
		if t.Glob || t.Partial {
			return nil
		}
		b := w.since(a, t.Name, w.staged(a, t.Name)+1)
		if b == nil {
			return nil
		}
		all = all.and(b)
	}
	return all
}

// staged returns the last act before a that added a file to the index, -1 if none did.
func (w *world) staged(a *act, name string) int {
	for i := a.at - 1; i >= 0; i-- {
		b := w.acts[i]
		if b.failed || b.ended {
			continue
		}
		for _, t := range b.Things {
			if t.Kind == effects.Staged && t.Access == effects.Write && (t.Tree && within(name, t.Name) || t.Name == name || within(name, t.Name)) {
				return i
			}
		}
		if c, here, ok := onlyGit(b.Line); ok && c.Sub() == "commit" && here.Flag("-a", "--all") {
			return i
		}
	}
	return -1
}

// since returns a back with the writes to a file from act start on, nil if there are none or if other
// acts may have written the file too.
func (w *world) since(a *act, name string, start int) *back {
	b := &back{by: a.at, what: name, files: []string{name}, from: start}
	for _, kind := range []string{effects.Path, effects.Mode} {
		for _, o := range w.exact[kind+"\x00\x00"+name] {
			switch {
			case o.act < start:
			case o.thing.Kind != effects.Path || o.thing.Sure < 0.9 || o.thing.Tree && o.thing.Access != effects.Remove:
				return nil
			default:
				b.of = append(b.of, o)
			}
		}
	}
	for _, o := range w.opaque {
		// A builder that was seen to change this file alone.
		if p := w.acts[o.act]; o.act >= start && p.Built && o.gone < 0 && p.seen != nil {
			if files, ok := p.seen.plainFiles(); ok && len(files) == 1 && files[0] == name {
				b.of = append(b.of, p.writes...)
			}
		}
	}
	if len(b.of) == 0 || w.touched(name, start, false) {
		return nil
	}
	return b
}

// touched reports whether an act from start on may have written a path or something below it. Acts that
// name the path itself count only if exactly is set.
func (w *world) touched(name string, start int, exactly bool) bool {
	for _, b := range w.acts[start:] {
		for _, o := range b.writes {
			t := o.thing
			switch {
			case t.Kind == "opaque":
				if within(name, t.Name) && !b.Built && !b.weak {
					return true
				}
			case !isPath(t) && t.Kind != effects.Mode:
			case t.Name == name && !t.Glob:
				if exactly {
					return true
				}
			case within(t.Name, name) && !(t.Sure == 0.5 && path.Dir(t.Name) == name), (t.Tree || t.Glob) && overlaps(t, effects.Thing{Kind: t.Kind, Name: name}):
				return true
			}
		}
	}
	return false
}

// latest returns the last write of a path, nil if there is none.
func (w *world) latest(name string) *write {
	list := w.exact["path\x00\x00"+name]
	for _, o := range slices.Backward(w.wide) {
		if isPath(o.thing) && o.thing.Name == name && o.thing.Tree && !o.thing.Glob && (len(list) == 0 || list[len(list)-1].act < o.act) {
			return o
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// undo marks the writes that an act undoes as gone, and its own too; writes that those had replaced are
// there again.
func (w *world) undo(a *act, b *back) {
	taken := map[*write]bool{}
	acts := map[int]bool{a.at: true}
	for _, o := range b.of {
		taken[o] = true
		acts[o.act] = true
	}
	again := func(o *write) {
		if o.act < b.from && o.gone >= b.from && acts[o.gone] && (isPath(o.thing) || o.thing.Kind == effects.Mode || o.thing.Kind == "opaque") &&
			slices.ContainsFunc(b.files, func(name string) bool { return within(o.thing.Name, name) }) {
			o.gone, o.removed = -1, false
		}
	}
	for _, list := range w.exact {
		for _, o := range list {
			again(o)
		}
	}
	for _, o := range slices.Concat(w.wide, w.opaque) {
		again(o)
	}
	for o := range taken {
		o.gone, o.removed = a.at, true
	}
	for _, o := range a.writes {
		o.gone, o.removed = a.at, true
	}
	w.backs = append(w.backs, b)
}

// afterBacks makes an act depend on those that restored the files it reads.
func (w *world) afterBacks(a *act, t effects.Thing) {
	if !isPath(t) {
		return
	}
	for _, b := range w.backs {
		for _, name := range b.files {
			if within(t.Name, name) || overlaps(t, effects.Thing{Kind: effects.Path, Name: name}) {
				a.needs(dep{b.by, replay.NeedFile, name, 0.6, true})
			}
		}
	}
}

// backs keeps the acts that restore files which a kept act changed, if the result or a later kept act
// needs that. It reports whether it kept another act.
func (s *slice) backs(results bool) (more bool) {
	for _, b := range s.w.backs {
		if s.kept[b.by] {
			continue
		}
		at := slices.IndexFunc(b.of, func(o *write) bool { return s.kept[o.act] })
		if at < 0 {
			continue
		}
		wanted := results
		for j := b.by + 1; j < len(s.w.acts) && !wanted; j++ {
			wanted = s.kept[j] && slices.ContainsFunc(s.w.acts[j].deps, func(d dep) bool { return d.on == b.by })
		}
		if wanted {
			did := s.w.acts[b.of[at].act]
			s.keep(b.by, replay.Reason{
				Kind: "result", Text: fmt.Sprintf("it puts back %s, which %q changed", b.what, replay.Brief(did.Command)),
				Evidence: []schemas.Position{s.w.acts[b.by].Position, did.Position},
			})
			more = true
		}
	}
	return more
}
