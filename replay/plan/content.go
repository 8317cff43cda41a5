package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// version is a file as an act was seen to leave it.
type version struct {
	act int
	SeenFile
}

// backByContent returns the back of an act that leaves each file that it changes as an earlier act left it, or
// found it: sed -i that takes an earlier edit back, an editor that undoes, git checkout FILE. It returns nil if
// the act does more, or if others may have written the files in between. It is called before the act's own
// writes are recorded.
func (w *world) backByContent(a *act) *back {
	copies := a.onlyCopies()
	if a.seen == nil || len(a.Sets)+len(a.Unsets) > 0 || len(a.Opaque) > 0 && !copies || a.observed && len(a.seen.Directories) > 0 && !copies && !a.onlyEdits() || setsTimes(a) {
		return nil
	}
	if b := w.resetsBack(a); b != nil {
		return b
	}
	if copies && a.movesUnseen() {
		return nil
	}
	var commits *back
	sub := gitSub(a.Line)
	if _, here, ok := onlyGit(a.Line); ok && sub == "config" && here.Flag("-f", "--file") {
		sub = ""
	}
	switch sub {
	case "":
		only := !slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Access == effects.Update })
		for _, t := range a.Things {
			switch {
			case t.Access == effects.Read:
			case w.removesUnseen(a, t):
				return nil
			case copies && isPath(t) && (t.Glob || t.Partial || within(t.Name, a.seen.Below)):
			case t.Access == effects.Write && isPath(t) && !t.Tree && !t.Glob:
				return nil // it takes the place of what earlier acts wrote
			case !isPath(t) && t.Kind != effects.Mode, t.Access == effects.Remove && only, !within(t.Name, a.seen.Below):
				return nil
			}
		}
	case "checkout", "restore", "reset":
		if _, here, _ := onlyGit(a.Line); sub == "reset" && !here.Flag("--hard") {
			return nil
		}
		switch before := w.before(a); {
		case before == nil || a.GitHead == "", before.GitHead != a.GitHead && sub != "reset":
			return nil
		case before.GitHead != a.GitHead:
			if commits = w.commitsSince(a); commits == nil {
				return nil
			}
		}
	default:
		return nil
	}
	files, _ := a.seen.plainFiles()
	if a.Built && len(files) > 0 && !slices.ContainsFunc(files, func(name string) bool { return w.was(a, name) != a.seen.Files[name].Is }) {
		return nil // what a later compilation makes again counts as made by it
	}
	var all *back
	for _, name := range files {
		b := w.backTo(a, name)
		if b == nil {
			return nil
		}
		all = all.and(b)
	}
	if sub == "reset" && all != nil && w.stagedBefore(a, all.from) {
		return nil
	}
	if commits != nil && all != nil {
		all.of, all.from = append(all.of, commits.of...), min(all.from, commits.from)
	}
	return all
}

// movesUnseen reports whether an act moved files of which the recorder saw only that they are gone: those of a folder
// that gets another name stay as they are.
func (a *act) movesUnseen() bool {
	moves := slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name == "mv" })
	return moves && !slices.ContainsFunc(slices.Collect(maps.Values(a.seen.Files)), func(f SeenFile) bool { return f.Is != absent })
}

// removesUnseen reports whether an act removes a path at which earlier acts left something, though what went with it was
// not seen: the recorder did not know of it.
func (w *world) removesUnseen(a *act, t effects.Thing) bool {
	if t.Access != effects.Remove || !isPath(t) || t.Glob {
		return false
	}
	for name := range a.seen.Files {
		if within(name, t.Name) {
			return false
		}
	}
	return len(w.below(t.Name)) > 0 || slices.ContainsFunc(w.wide, func(o *write) bool {
		return o.gone < 0 && isPath(o.thing) && within(o.thing.Name, t.Name)
	})
}

// onlyCopies reports whether a line does nothing but copy, move and remove files.
func (a *act) onlyCopies() bool {
	if a.Line == nil || len(a.Line.Redirects) > 0 || a.Background {
		return false
	}
	some := false
	for _, c := range a.Line.Calls {
		some = some || c.Name == "cp" || c.Name == "mv"
		if c.Name != "cp" && c.Name != "mv" && c.Name != "rm" && !displays[c.Name] && c.Name != "[" && c.Name != "basename" && c.Name != "dirname" {
			return false
		}
	}
	return some
}

// onlyRemoves reports whether a line does nothing but remove files.
func (a *act) onlyRemoves() bool {
	return a.Line != nil && len(a.Line.Calls) > 0 && len(a.Line.Redirects) == 0 && !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return c.Name != "rm" && c.Name != "unlink"
	})
}

// onlyEdits reports whether a line does nothing but edit files, beside looking for them: git grep -l a | xargs sed -i s/a/b/.
// sed -i puts a new file in the place of the old one, so that it changes directories too.
func (a *act) onlyEdits() bool {
	if a.Line == nil || len(a.Line.Redirects) > 0 || a.Background {
		return false
	}
	some := false
	for i := range a.Line.Calls {
		c := &a.Line.Calls[i]
		edits := c.Name == "sed" || c.Name == "perl"
		some = some || edits
		if !edits && c.Name != "xargs" && !displays[c.Name] && (c.Name != "git" || !effects.LooksByGit(c.Sub())) {
			return false
		}
	}
	files, _ := a.seen.plainFiles()
	return some && !slices.ContainsFunc(a.seen.Directories, func(dir string) bool { return !a.seen.tells(dir, files) })
}

// compilesAgain marks what earlier compilations wrote into a directory as gone if an act was seen to write all of it
// again, before it is known what the act rests on.
func (w *world) compilesAgain(a *act) {
	if a.seen == nil || a.failed || a.ended || !a.Remakes || len(a.Opaque) > 0 {
		return
	}
	for _, o := range w.wide {
		b := w.acts[o.act]
		if b == a || o.gone >= 0 || o.thing.Access != effects.Update || !o.thing.Tree || !isPath(o.thing) || !b.Built || !b.Remakes || b.seen == nil || len(b.Opaque) > 0 {
			continue
		}
		files, _ := b.seen.plainFiles()
		if len(files) > 0 && !slices.ContainsFunc(files, func(name string) bool { return !a.seen.has(name) }) {
			o.gone = a.at
		}
	}
}

// commitsSince returns what was staged and committed since HEAD was what an act leaves, nil if something else moved it
// in between.
func (w *world) commitsSince(a *act) *back {
	b := &back{by: a.at, from: a.at}
	for p := w.before(a); p != nil; p = w.before(p) {
		if p.GitHead == a.GitHead {
			return b
		}
		commits, adds := onlyCommits(p.Line)
		if before := w.before(p); (before == nil || before.GitHead != p.GitHead) && !commits {
			return nil
		}
		if !commits && !adds {
			continue
		}
		b.from = p.at
		for _, o := range p.writes {
			if o.gone < 0 && (o.thing.Kind == effects.Commit || o.thing.Kind == effects.Staged) {
				b.of = append(b.of, o)
			}
		}
	}
	return nil
}

// onlyCommits reports whether what git does in a line is to commit, or to add files.
func onlyCommits(l *shell.Line) (commits, adds bool) {
	if l == nil {
		return false, false
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		here := shell.Call{Args: c.After()}
		switch sub := c.Sub(); {
		case c.Name != "git" || effects.LooksByGit(sub):
		case sub == "commit" && !here.Flag("--amend"):
			commits = true
		case sub == "add":
			adds = true
		default:
			return false, false
		}
	}
	return commits, adds
}

// setsTimes reports whether an act sets the times of files, which archives and builds go by.
func setsTimes(a *act) bool {
	return a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return c.Name == "touch" && c.Flag("-d", "--date", "-t", "-r", "--reference")
	})
}

// before returns the act before another one in the same workspace, nil if there is none.
func (w *world) before(a *act) *act {
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.Workspace == a.Workspace {
			return b
		}
	}
	return nil
}

// resets has the commands of git whose traces git reset --hard removes from HEAD, the index and the files.
var resets = map[string]bool{"add": true, "rm": true, "mv": true, "commit": true, "rebase": true, "cherry-pick": true, "revert": true, "merge": true, "am": true, "read-tree": true, "reset": true}

// resetsBack returns the back of git reset --hard that leaves HEAD and every file as they were before the commands just
// before it, if all of those only did what it takes back: git reset --hard HEAD^ and git reset --hard HEAD@{1}, or a
// rebase that was not wanted.
func (w *world) resetsBack(a *act) *back {
	if c, here, ok := onlyGit(a.Line); !ok || c.Sub() != "reset" || !here.Flag("--hard") || a.GitHead == "" {
		return nil
	}
	b := &back{by: a.at, what: "HEAD"}
	is := maps.Clone(a.seen.Files) // what each file is left as, with what it was before
	var beside []string
	for i := a.at - 1; i > 0; i-- {
		p := w.acts[i]
		if p.Looks || p.Navigates {
			continue
		}
		if p.Workspace != a.Workspace || p.seen == nil || p.Background {
			return nil
		}
		if !onlyGitOf(p.Line, resets) { // it stays, as long as it has to do with other files
			if _, plain := p.seen.plainFiles(); !plain || p.Line == nil || len(p.Opaque) > 0 {
				return nil
			}
			for name := range p.seen.Files {
				beside = append(beside, name)
			}
			continue
		}
		for name, f := range p.seen.Files {
			left, known := is[name]
			if !known {
				left = f
			}
			is[name] = SeenFile{w.was(p, name), left.Is}
		}
		b.of, b.from = append(b.of, p.writes...), i
		if start := w.before(p); start != nil && start.GitHead == a.GitHead && len(p.writes) > 0 {
			break
		}
	}
	if len(b.of) == 0 || w.before(w.acts[b.from]) == nil || w.before(w.acts[b.from]).GitHead != a.GitHead || w.stagedBefore(a, b.from) {
		return nil
	}
	for name, f := range is {
		if strings.Contains(name, "/.git/") {
			continue
		}
		if f.Was == "" || f.Was != f.Is || slices.Contains(beside, name) {
			return nil
		}
		b.files = append(b.files, name)
	}
	slices.Sort(b.files)
	return b
}

// stagedBefore reports whether acts before another one staged what files do not tell of, a removal or a submodule, and did
// not commit it: git reset --hard takes that back too.
func (w *world) stagedBefore(a *act, from int) bool {
	for _, p := range slices.Backward(w.acts[:from]) {
		if p.Workspace != a.Workspace || p.failed {
			continue
		}
		if p.GitHead != a.GitHead {
			return false
		}
		sub := gitSub(p.Line)
		if (sub == "rm" || sub == "mv" || sub == "submodule") && slices.ContainsFunc(p.writes, func(o *write) bool { return o.gone < 0 }) {
			return true
		}
	}
	return false
}

// onlyGitOf reports whether a line consists of calls of git, of some subcommands or only looking.
func onlyGitOf(l *shell.Line, subs map[string]bool) bool {
	return l != nil && len(l.Calls) > 0 && len(l.Redirects) == 0 && !slices.ContainsFunc(l.Calls, func(c shell.Call) bool {
		return c.Name != "git" || !subs[c.Sub()] && !effects.LooksByGit(c.Sub()) || c.Flag("-C", "--git-dir", "--work-tree")
	})
}

// backTo returns the back of one file, with no writes if it is as it was before the act; nil if there is none.
func (w *world) backTo(a *act, name string) *back {
	f := a.seen.Files[name]
	if f.Is == "" {
		return nil
	}
	f.Was = w.was(a, name)
	if f.Was == f.Is {
		if of := w.versions[name]; len(of) > 0 && (w.acts[of[len(of)-1].act].failed || w.acts[of[len(of)-1].act].ended) {
			return nil // it is as a command left it that failed and is left out
		}
		return &back{by: a.at, what: name, files: []string{name}, from: a.at}
	}
	before, anew := f.Was, false
	versions := w.versions[name]
	for i, v := range slices.Backward(versions) {
		if before == "" || v.Is != before {
			return nil // it was changed by what is not known
		}
		anew = anew || before == absent
		if before = v.Was; before != f.Is {
			continue
		}
		if anew && i > 0 && w.acts[versions[i-1].act].Command == a.Command {
			return nil // a command made it, it was removed, and the same command makes it anew: the second run counts
		}
		return w.since(a, name, v.act)
	}
	return nil
}

// versioned stores the versions of the files that an act was seen to change.
func (w *world) versioned(a *act) {
	if a.seen == nil {
		return
	}
	for name, f := range a.seen.Files {
		f.Was = w.was(a, name)
		w.versions[name] = append(w.versions[name], version{a.at, f})
	}
}

// was returns what a file was before an act that was seen to change it: absent if the act before it that changed
// it removed it.
func (w *world) was(a *act, name string) string {
	f := a.seen.Files[name]
	if f.Was != "" {
		return f.Was
	}
	for _, v := range slices.Backward(w.versions[name]) {
		if v.act < a.at {
			if v.Is == absent {
				return absent
			}
			break
		}
	}
	return ""
}

// onlyMode reports whether an act was seen to leave the content of a file as it was: chmod +x run && ./run.
func (a *act) onlyMode(name string) bool {
	if a.seen == nil {
		return false
	}
	f := a.seen.Files[name]
	was, _, _ := strings.Cut(f.Was, " ")
	is, _, _ := strings.Cut(f.Is, " ")
	return was != "" && was == is
}

// cameFrom returns the directory that the shell of an act was in before, if the act uses it: cd -, ~-, $OLDPWD.
func (w *world) cameFrom(a *act) string {
	if a.Line == nil || !slices.Contains(a.Uses, "OLDPWD") && !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return c.Name == "prevd" || slices.ContainsFunc(c.Args, func(v shell.Word) bool {
			return c.Name == "cd" && v.Value == "-" || v.Text == "~-" || strings.HasPrefix(v.Text, "~-/")
		})
	}) {
		return ""
	}
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.Session == a.Session && b.Cwd != a.Cwd && !a.apart {
			return b.Cwd
		}
	}
	return ""
}

// statusBefore returns the exit code of the command before an act in its shell, "" if it is not known.
func (w *world) statusBefore(a *act) string {
	if a.apart {
		return "0"
	}
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.Session != a.Session || a.Session == "" {
			continue
		}
		if b.ExitCode == nil {
			return ""
		}
		return strconv.Itoa(int(*b.ExitCode))
	}
	return ""
}
