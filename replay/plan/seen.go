package plan

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Seen is what changed below a directory while a command ran: all of it.
type Seen struct {
	Below    string
	LookedAt time.Time
	// Files has what each changed file was and what it was left as.
	Files map[string]SeenFile
	// Directories are those whose entries changed.
	Directories []string
	// Remembered tells that the recorder knew what was there before, but for large files.
	Remembered bool
	// New are the files of Files, in such directories, that a recorder which knew the others did not know.
	New []string
	// Sizes are the lengths in bytes of the files of Files that are there.
	Sizes map[string]int64
}

// SeenFile is the content and the mode of a file before and after a command, in a form that can be compared;
// "" where it is not known.
type SeenFile struct{ Was, Is string }

// absent is the state of a file that is not there.
const absent = "absent"

// saw stores what a recorder saw of a command.
func (n *Narrative) saw(id schemas.EventID, c *recountv1.Changes) {
	if c == nil {
		return
	}
	s := Seen{Below: c.GetBelow(), LookedAt: c.GetLookedAt().AsTime(), Files: map[string]SeenFile{}, Sizes: map[string]int64{}, Directories: c.GetDirectories(), Remembered: c.GetRemembered()}
	state := func(hash []byte, mode uint32) string {
		if len(hash) == 0 {
			return ""
		}
		return fmt.Sprintf("%x %o", hash, mode)
	}
	for _, f := range c.GetFiles() {
		is := state(f.GetSha256(), f.GetMode())
		if f.GetRemoved() {
			is = absent
		}
		was := state(f.GetWasSha256(), f.GetWasMode())
		s.Files[f.GetPath()] = SeenFile{was, is}
		s.Sizes[f.GetPath()] = f.GetSize()
		if was == "" && is != "" && is != absent && f.GetSize() <= maxRemembered && slices.Contains(s.Directories, path.Dir(f.GetPath())) {
			s.New = append(s.New, f.GetPath())
		}
	}
	n.Seen[id] = s
}

// maxRemembered is the length of the largest file that recorders remember; see package recording.
const maxRemembered = 256 << 10

// maxSeenWrites is how many files of a program are listed as its writes. Of more the directory that has them
// all counts.
const maxSeenWrites = 32

// observe replaces what a program may write by what it was seen to write. What it may read stays. away tells
// that the narrative has to do with places that were not looked at, where it may have written too, and clean
// that it ran in the background and is known to have written nothing. repository tells that the directory which was
// looked at has its repository in it.
func (a *act) observe(s Seen, away nearness, clean, repository bool) {
	if !clean && a.Background || !a.Background && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return t.Kind == effects.Job || t.Kind == effects.Port
	}) {
		return // it, or what it speaks to, may write later
	}
	a.seen = &s
	if repository && (a.idles(s) || a.triesStashed(s, away)) {
		a.idle = true
		return
	}
	a.names(s)
	a.takesBack(s)
	all, ok := s.plainFiles()
	if !ok && len(a.Opaque) > 0 {
		a.seen = nil // what it did to the repository is not known
	}
	a.unwritten()
	through := a.onlyRemoves() && len(s.Directories) > 0                // if not there, then where a link led
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { // rm -f of what is not there
		return !through && t.Kind == effects.Path && t.Access == effects.Remove && !t.Glob && !t.Partial && within(path.Dir(t.Name), s.Below) && !a.wrote(t.Name) && !slices.Contains(s.Directories, path.Dir(t.Name))
	})
	if !ok {
		return
	}
	files := slices.DeleteFunc(slices.Clone(all), cached)
	if (a.Looks || a.Checks) && len(files) > 0 {
		builds := a.Checks && a.Remakes
		a.Looks, a.Checks = false, false // it did more than that, of whatever it read
		if !slices.Contains(a.Reads, a.Cwd) {
			a.Reads = append(a.Reads, a.Cwd)
		}
		if builds { // make check, which built what it checked
			a.Built, a.observed, a.Opaque = true, true, []string{ancestor(files)}
			return
		}
		a.add(files, s)
		return
	}
	if a.Shows && len(all)+len(s.Directories) == 0 && !a.namesPlaces() {
		a.Looks, a.observed, a.Opaque = true, true, nil
		if !slices.Contains(a.Reads, a.Cwd) {
			a.Reads = append(a.Reads, a.Cwd)
		}
		return
	}
	elsewhere := a.Elsewhere && len(all)+len(s.Directories) == 0
	names := a.namesPlaces() || installs(a)
	if elsewhere || away != nothingBeside && (names || len(files) == 0 && (away != namedBeside || callsUnknown(a))) {
		if len(a.Opaque) > 0 && len(files) == 0 && !slices.ContainsFunc(s.Directories, func(dir string) bool { return !s.tells(dir, all) }) {
			a.Opaque = slices.DeleteFunc(a.Opaque, func(dir string) bool { return within(dir, s.Below) })
			a.Opaque = append(a.Opaque, a.besides(away, s.Below)...) // what it made, if anything, is not here
			if !slices.Contains(a.Reads, a.Cwd) {
				a.Reads = append(a.Reads, a.Cwd)
			}
			a.weak = !elsewhere && away == ranBeside && !names
		}
		return
	}
	if a.Built && !slices.ContainsFunc(files, func(name string) bool { f := s.Files[name]; return f.Is == "" || f.Was != f.Is }) {
		files = nil // it made again what was there
	}
	if slices.ContainsFunc(s.Directories, func(dir string) bool { return !s.tells(dir, all) && !a.refills(dir, all) }) {
		return // it made a directory that has no file, or removed something
	}
	unnamed := slices.DeleteFunc(slices.Clone(files), a.writesByName)
	var opaque []string
	for _, dir := range a.Opaque {
		if !within(dir, s.Below) {
			opaque = append(opaque, dir)
			continue
		}
		if !a.NamesReads && !slices.Contains(a.Reads, dir) {
			a.Reads = append(a.Reads, dir)
		}
		a.observed = true
		if common := ancestor(unnamed); a.Built && common != "" || len(files) > maxSeenWrites {
			if !within(common, dir) {
				common = dir
			}
			opaque = append(opaque, common)
		}
	}
	if a.Opaque = opaque; (a.observed || len(opaque) == 0 && !a.Looks && !a.Checks) && !a.Built && len(files) <= maxSeenWrites {
		if !a.observed { // of links to one file that is removed, the others have another time
			files = slices.DeleteFunc(files, func(name string) bool { f := s.Files[name]; return f.Was == f.Is && f.Is != "" })
		}
		a.add(files, s)
	}
}

// takesBack leaves out the files that a line made and removed again, also with a directory around them: they were seen
// neither before it nor after it. So are directories.
func (a *act) takesBack(s Seen) {
	for _, made := range slices.Clone(a.Things) {
		f, changed := s.Files[made.Name]
		if !isPath(made) || made.Access != effects.Write || made.Tree || made.Glob || !within(made.Name, s.Below) || changed && f.Is != absent || slices.Contains(s.Directories, made.Name) {
			continue
		}
		last := len(a.Things) - 1
		for last >= 0 && a.Things[last] != made {
			last--
		}
		again := func(t effects.Thing) bool {
			return made.Kind == effects.Path && isPath(t) && t.Name == made.Name && t.Access == effects.Remove
		}
		around := func(t effects.Thing) bool {
			return isPath(t) && t.Access == effects.Remove && (t.Name == made.Name || t.Tree) && !t.Glob && within(made.Name, t.Name)
		}
		if slices.ContainsFunc(a.Things, again) || slices.ContainsFunc(a.Things[last+1:], around) {
			a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t == made || again(t) && !changed })
		}
	}
}

// unwritten takes a program's named writes for reads if it was seen to change none of them: jar --describe-module
// --file f. One that took no time may have written before the clock of file times went on: of that only what is guessed
// counts.
func (a *act) unwritten() {
	quick := a.Duration == nil || time.Duration(*a.Duration) < clockLag
	some, acts := false, len(a.Opaque)+len(a.Sets)+len(a.Unsets) > 0
	for i := range a.Things {
		t := &a.Things[i]
		switch {
		case t.Access == effects.Read:
		case quick && t.Sure != effects.Guessed:
			acts = true
		case t.Kind == effects.Path && t.Access != effects.Remove && !t.Glob && !strings.Contains(t.Name+"/", "/.git/") && !a.wrote(t.Name) && !slices.Contains(a.seen.Directories, path.Dir(t.Name)):
			t.Access, some = effects.Read, true
		default:
			acts = true
		}
	}
	a.Looks = a.Looks || some && !acts
}

// clockLag is more than the clock of file times may lag behind, on a machine that is busy.
const clockLag = 50 * time.Millisecond

// tells reports whether changed files say why the entries of a directory changed: one is in it, or a directory in
// it is new with all that it has.
func (s Seen) tells(dir string, files []string) bool {
	return strings.Contains(dir+"/", "/.git/") || slices.ContainsFunc(files, func(name string) bool { return path.Dir(name) == dir }) ||
		slices.ContainsFunc(s.Directories, func(sub string) bool {
			some := false
			return path.Dir(sub) == dir && !slices.ContainsFunc(files, func(name string) bool {
				below := within(name, sub)
				some = some || below
				return below && s.Files[name].Was != "" && s.Files[name].Was != absent
			}) && some
		})
}

// writesByName reports whether an act is known to write a file by what it names.
func (a *act) writesByName(name string) bool {
	return slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return isPath(t) && t.Access != effects.Read && (t.Name == name || covers(t, effects.Thing{Kind: effects.Path, Name: name}))
	})
}

// add adds the files that an act was seen to change to its effects.
func (a *act) add(files []string, s Seen) {
	for _, name := range files {
		if a.writesByName(name) && !a.removesFirst(name) {
			continue
		}
		access := effects.Update
		if s.Files[name].Is == absent {
			access = effects.Remove
		}
		a.Things = append(a.Things, effects.Thing{Kind: effects.Path, Name: name, Access: access, Sure: 0.95})
		a.unnamed = append(a.unnamed, name)
	}
}

// cached reports whether a file is one that interpreters and test runners can make again.
func cached(name string) bool { return commands.CachedFile(name) }

// searchPath matches a setting of the path of programs, which is no place to write to.
var searchPath = regexp.MustCompile(`\bPATH=\S+`)

// namesPlaces reports whether an act names the home directory, or a place above its own directory, to a program that
// may write there. Where its programs are says nothing, nor what it is known to do with a file.
func (a *act) namesPlaces() bool {
	return len(a.places()) > 0 || strings.Contains(a.withoutPrograms(), "../")
}

// places returns the places that an act names from the home directory on, see namesPlaces.
func (a *act) places() []string { return homePlaces(a.withoutPrograms(), a.home) }

// withoutPrograms returns the text of an act without the paths of its programs, the places where they are searched,
// the files that it redirects to, and the words of programs of which it is known what they write.
func (a *act) withoutPrograms() string {
	text := searchPath.ReplaceAllString(a.Command, "")
	if a.whole != nil {
		for _, rd := range a.whole.Redirects {
			text = strings.Replace(text, rd.Target.Text, "", 1)
		}
		for i := range a.whole.Calls {
			c := &a.whole.Calls[i]
			if strings.Contains(c.Head.Text, "/") {
				text = strings.Replace(text, c.Head.Text, "", 1)
			}
			if effects.MayWrite(c, a.home) {
				continue
			}
			for _, w := range c.Args {
				if strings.Contains(w.Text, "/") {
					text = strings.Replace(text, w.Text, "", 1)
				}
			}
		}
	}
	return text
}

// besides returns where an act may have written in the home directory beside what was looked at: the places that it
// names, if those and others that commands name are all that the narrative has to do with there.
func (a *act) besides(away nearness, below string) []string {
	places := slices.DeleteFunc(a.places(), func(name string) bool { return !isBeside(name, a.home, below) })
	if away != namedBeside || len(places) == 0 {
		return []string{a.home}
	}
	return places
}

// movedHead reports whether HEAD of an act's repository is another one than after the act before.
func (w *world) movedHead(a *act) bool {
	before := w.before(a)
	return a.GitHead != "" && before != nil && before.Cwd == a.Cwd && before.GitHead != "" && before.GitHead != a.GitHead
}

// made reports whether a file that was not known to be there, or one below it, was seen to be written.
func (s *Seen) made(name string) bool {
	for f, state := range s.Files {
		if within(f, name) && state.Is != absent && (state.Was == "" || state.Was == absent) {
			return true
		}
	}
	return false
}

// writes reports whether a file, or one below it, was seen to be written.
func (s *Seen) writes(name string) bool {
	for f, state := range s.Files {
		if within(f, name) && state.Is != absent {
			return true
		}
	}
	return false
}

// plainFiles returns the changed files that are no part of a repository of git, sorted. ok is false if git
// changed more than its index, which commands that only look refresh.
func (s Seen) plainFiles() (files []string, ok bool) {
	ok = true
	for name := range s.Files {
		if !strings.Contains(name, "/.git/") {
			files = append(files, name)
		} else if path.Base(name) != "index" {
			ok = false
		}
	}
	slices.Sort(files)
	return files, ok
}

// ancestor returns the directory that has all files, "" if there are none.
func ancestor(files []string) string {
	if len(files) == 0 {
		return ""
	}
	dir := path.Dir(files[0])
	for _, name := range files[1:] {
		for !within(name, dir) {
			dir = path.Dir(dir)
		}
	}
	return dir
}

// wrote reports whether an act may have written a path, as far as it was seen.
func (a *act) wrote(name string) bool {
	if a.seen == nil || !within(name, a.seen.Below) {
		return true
	}
	if _, ok := a.seen.Files[name]; ok {
		return true
	}
	for f := range a.seen.Files {
		if within(f, name) {
			return true
		}
	}
	return slices.Contains(a.seen.Directories, name)
}
