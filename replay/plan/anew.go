package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// A program that is run again and again makes most of its files anew each time, and no word of its line says so: what
// was seen is that it changed them. The contents that its runs found and left tell it.

// run is a command, by its index, that was seen to change a file.
type run struct {
	at int
	SeenFile
}

// madeAnew returns, for commands, the files that they were seen to change and did not go on from: only runs of the same
// programs ever wrote such a file, from the first on, which made it, and two of them show that what it had been did not
// matter. Of a file that others write nothing is known.
func (o *observer) madeAnew(home func(commands.Scanned) string) map[schemas.EventID][]string {
	files := map[string][]run{}
	looked := map[[2]string]bool{} // the sessions in which a directory was looked at
	for i, c := range o.all {
		place := [2]string{c.Session, o.seen[c.ID].Below}
		isNew := looked[place] && o.remembers[place[1]] && c.Duration != nil && time.Duration(*c.Duration) < clockLag
		looked[place] = true
		for name, f := range o.seen[c.ID].Files {
			// A recorder knows what is in a directory since it looked there first. That a file was added to it is not seen
			// where the command took no time.
			before := files[name]
			if f.Was == "" && (len(before) == 0 && isNew && o.seen[c.ID].Sizes[name] <= maxRemembered || len(before) > 0 && before[len(before)-1].Is == absent) {
				f.Was = absent
			}
			if !strings.Contains(name, "/.git/") && !cached(name) {
				files[name] = append(files[name], run{i, f})
			}
		}
	}
	lines := map[int][]string{}
	programs := func(at int) []string {
		if _, known := lines[at]; !known {
			lines[at] = programs(o.all[at], home(o.all[at]))
		}
		return lines[at]
	}
	out := map[schemas.EventID][]string{}
	for name, runs := range files {
		for len(runs) > 1 {
			n := chain(runs, programs)
			if forgets(runs[:n]) {
				for _, r := range runs[1:n] {
					id := o.all[r.at].ID
					out[id] = append(out[id], name)
				}
			}
			runs = runs[max(n, 1):]
		}
	}
	return out
}

// chain returns how many of the runs that changed a file, the oldest first, are of the same programs, where the first
// made the file and each found what the one before it had left.
func chain(runs []run, programs func(at int) []string) (n int) {
	if runs[0].Was != absent || runs[1].Was != runs[0].Is {
		return 0
	}
	first := programs(runs[0].at)
	for i, r := range runs {
		if i > 0 && r.Was != runs[i-1].Is || r.Is == absent || r.Is == "" || !sameRuns(programs(r.at), first) {
			break
		}
		n++
	}
	return n
}

// forgets reports whether two runs one after the other show that a program does not go on from what it finds in a file:
// the second left what was there, though it wrote it.
func forgets(runs []run) bool {
	for i := 1; i < len(runs); i++ {
		if runs[i-1].Is == runs[i].Is {
			return true
		}
	}
	return false
}

// sameRuns reports whether of the programs that two commands run those of one are among those of the other.
func sameRuns(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(p string) bool { return !slices.Contains(b, p) })
}

// programs returns the calls of a command that may write what their words do not say, with all that they are told.
func programs(c commands.Scanned, home string) (found []string) {
	l, err := shell.ReadIn(c.Command, c.Shell, c.Cwd, home, nil)
	if err != nil {
		return nil
	}
	for i := range l.Calls {
		if call := &l.Calls[i]; !call.Deferred && effects.MayWrite(call, home) {
			found = append(found, spelled(call))
		}
	}
	return found
}

// spelled returns a call as text: where it runs, with which variables and words.
func spelled(c *shell.Call) string {
	words := []string{c.Dir}
	for _, v := range c.Assigns {
		words = append(words, v.Name+"="+v.Value.Text)
	}
	words = append(words, c.Head.Text)
	for _, w := range c.Args {
		words = append(words, w.Text)
	}
	return strings.Join(words, "\x00")
}

// makesAnew notes which of the files that an act was seen to change and does not name it does not go on from: those of
// which the runs of its programs show it, and those that its line removed first.
func (a *act) makesAnew(shown []string) {
	for _, name := range a.unnamed {
		if slices.Contains(shown, name) || a.removesFirst(name) {
			a.anew = append(a.anew, name)
		}
	}
}

// needsNot reports whether an act does not go on from what it finds in a file: it makes it anew, or removes it first.
func (a *act) needsNot(name string) bool {
	return slices.Contains(a.anew, name) || len(a.anew) > 0 && a.removes() && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return t.Access == effects.Remove && t.Tree && !t.Glob && within(name, t.Name) && slices.ContainsFunc(a.anew, func(of string) bool { return within(of, t.Name) })
	})
}

// showsOwn reports whether what an act reads of a file is what it made itself: a program that makes it anew comes first.
func (a *act) showsOwn(name string) bool {
	c := a.first()
	return slices.Contains(a.anew, name) && c != nil && !c.Drained && effects.MayWrite(c, a.home)
}

// removesFirst reports whether an act begins with a removal of a file, which was seen to be there afterwards.
func (a *act) removesFirst(name string) bool {
	return a.seen != nil && a.seen.has(name) && a.removes() && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return t.Access == effects.Remove && isPath(t) && !t.Glob && t.Sure >= 0.9 && within(name, t.Name)
	})
}

// refills reports whether an act removes, in a directory, another one that was seen to have files afterwards.
func (a *act) refills(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		return a.removesFirst(name) && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return t.Access == effects.Remove && path.Dir(t.Name) == dir && name != t.Name && within(name, t.Name)
		})
	})
}

// removes reports whether the first call of an act is rm.
func (a *act) removes() bool {
	c := a.first()
	return c != nil && c.Name == "rm"
}

// first returns the first call of an act that does more than to go somewhere, nil if there is none.
func (a *act) first() *shell.Call {
	if a.Line == nil {
		return nil
	}
	i := slices.IndexFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name != "cd" })
	if i < 0 {
		return nil
	}
	return &a.Line.Calls[i]
}

// repeated returns the index of an earlier run of the same build with no write in between, -1 if there
// is none, or if a file grew meanwhile.
func (w *world) repeated(a *act) int {
	if !a.Built || len(a.Opaque) == 0 {
		return -1
	}
	for i := len(w.opaque) - 1; i >= 0; i-- {
		o := w.opaque[i]
		if o.gone >= 0 || o.thing.Name != a.Opaque[0] || o.thing.Repo != product(a) {
			continue
		}
		for _, b := range w.acts[o.act+1 : a.at] {
			if len(b.writes) > 0 {
				return -1
			}
		}
		if w.grows(a, o.act) {
			return -1
		}
		return o.act
	}
	return -1
}

// grows reports whether a build was seen to add to a file that an earlier run of it left, though nothing but it wrote
// meanwhile: each run adds to a log.
func (w *world) grows(a *act, earlier int) bool {
	before := w.acts[earlier].seen
	if a.seen == nil || before == nil {
		return false
	}
	for _, b := range w.acts[earlier+1 : a.at] {
		if len(b.writes) > 0 && !(b.Built && product(b) == product(a)) {
			return false
		}
	}
	for name, f := range a.seen.Files {
		was, ok := before.Files[name]
		if ok && was.Is != "" && f.Is != "" && f.Was != f.Is && a.seen.Sizes[name] > before.Sizes[name] && !cached(name) && !strings.Contains(name, "/.git/") {
			return true
		}
	}
	return false
}
