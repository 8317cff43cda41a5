package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// steady are the subcommands of git that change a branch, a file or a note of theirs if they do anything.
var steady = map[string]bool{
	"merge": true, "rebase": true, "cherry-pick": true, "revert": true, "pull": true, "am": true, "checkout": true, "switch": true,
	"stash": true, "fetch": true, "clean": true, "branch": true, "tag": true, "notes": true, "remote": true, "sparse-checkout": true,
	"update-ref": true, "symbolic-ref": true,
}

// moving are those that change files only together with a branch, HEAD or the stash. They remove names and put them
// back on their way, so that directories say nothing.
var moving = map[string]bool{"merge": true, "rebase": true, "cherry-pick": true, "revert": true, "am": true, "stash": true}

// displays has programs that may stand beside git in such a line.
var displays = map[string]bool{"cat": true, "ls": true, "head": true, "tail": true, "echo": true, "grep": true, "wc": true, "test": true, "true": true}

// idles takes a line of git for a look if it was seen to change nothing: a merge that was refused, a rebase onto what
// it is on already, a fetch without news. It reports whether it is one.
func (a *act) idles(s Seen) bool {
	if a.Line == nil || len(a.Line.Calls) == 0 || len(a.Line.Redirects) > 0 || a.Background || len(a.Sets)+len(a.Unsets) > 0 {
		return false
	}
	some, all := false, true // all of them are of moving
	for i := range a.Line.Calls {
		c := &a.Line.Calls[i]
		if c.Name != "git" && displays[c.Name] {
			continue
		}
		if c.Name == "git" && effects.LooksByGit(c.Sub()) {
			continue
		}
		if c.Name != "git" || !steady[c.Sub()] || c.Flag("--global") {
			return false
		}
		some, all = true, all && moving[c.Sub()]
	}
	for name, f := range s.Files {
		_, in, ok := strings.Cut(name, "/.git/")
		base := path.Base(in)
		switch {
		case !ok && (f.Was != f.Is || f.Was == ""), ok && !passing(name) && path.Ext(in) != ".lock" && (f.Was != f.Is || f.Was == ""):
			return false
		case ok && f.Is != absent && (base == "SQUASH_MSG" || strings.HasPrefix(base, "MERGE_")):
			return false
		}
	}
	if !some || !all && slices.ContainsFunc(s.Directories, func(dir string) bool {
		_, in, ok := strings.Cut(dir+"/", "/.git/")
		return !ok || in != "" && !strings.HasPrefix(in, "logs/") && !strings.HasPrefix(in, "objects/") // a branch that is gone
	}) {
		return false
	}
	for _, t := range a.Things {
		if t.Access != effects.Read && (t.Kind == effects.Staged && t.Name != "*" || t.Repo != "" && !within(t.Repo, s.Below) || t.Kind == effects.Remote || isPath(t) && !within(t.Name, s.Below)) {
			return false
		}
	}
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Access != effects.Read })
	a.Looks, a.observed, a.Opaque = true, true, nil
	return true
}

// triesStashed takes a line for a look that stashes what was changed, tries something without it and pops it again, if
// all files were seen to be as before: git stash -q && make check; git stash pop. Where the narrative has to do with other
// places too, only programs count of which it is known that they write nothing.
func (a *act) triesStashed(s Seen, away nearness) bool {
	if a.Line == nil || len(a.Line.Calls) < 3 || len(a.Line.Redirects) > 0 || a.Background || len(a.Sets)+len(a.Unsets) > 0 || a.Elsewhere {
		return false
	}
	begun, ended := false, false
	for i := range a.Line.Calls {
		c := &a.Line.Calls[i]
		first := shell.Call{Name: c.Name, Args: c.After()}
		does := ""
		if c.Name == "git" && c.Sub() == "stash" && !c.Inner && !c.Apart && !c.Deferred && !c.Abroad {
			if does = "push"; len(first.Args) > 0 && !strings.HasPrefix(first.Args[0].Value, "-") {
				does = first.Args[0].Value
			}
		}
		switch {
		case does == "push" && !begun:
			begun = true
		case does == "pop" && len(first.Args) == 1 && begun && !ended:
			ended = true
		case c.Name == "git" && !effects.LooksByGit(c.Sub()):
			return false
		case c.Name != "git" && away != nothingBeside && effects.MayWrite(c, a.home): // where nobody looked
			return false
		}
	}
	if !begun || !ended {
		return false
	}
	files, _ := s.plainFiles()
	for name, f := range s.Files {
		switch _, in, git := strings.Cut(name, "/.git/"); {
		case !git && (cached(name) || f.Was == f.Is && f.Is != "" && f.Is != absent):
		case git && (passing(name) || in == "refs/stash" && (f.Is == absent || f.Was == f.Is && f.Is != "")):
		default:
			return false
		}
	}
	for _, dir := range s.Directories {
		if _, _, git := strings.Cut(dir+"/", "/.git/"); !git && !cached(dir+"/") && !s.tells(dir, files) {
			return false
		}
	}
	for _, t := range a.Things {
		ofStash := t.Kind == "stash" || t.Kind == effects.Commit || t.Kind == effects.Staged || t.Kind == effects.Repository
		if t.Access != effects.Read && !ofStash && !(t.Kind == effects.Path && t.Access == effects.Update && t.Tree && within(s.Below, t.Name)) {
			return false
		}
	}
	if slices.ContainsFunc(a.Opaque, func(dir string) bool { return !within(dir, s.Below) }) {
		return false
	}
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Access != effects.Read })
	a.Reads, a.Looks, a.observed, a.Opaque = append(a.Reads, a.Opaque...), true, true, nil
	return true
}

// names replaces patterns of files that an act writes or removes by the files that it was seen to write or to remove,
// and what git checkout may do by the files that it was seen to put back.
func (a *act) names(s Seen) {
	if files := a.checkedOut(s); files != nil {
		a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Kind != effects.Repository })
		for _, name := range files {
			a.Things = append(a.Things, effects.Thing{Kind: effects.Path, Name: name, Access: effects.Update, Sure: 0.95})
		}
		a.files = true
		return
	}
	patches := a.Line != nil && len(a.Line.Calls) == 1 && a.Line.Calls[0].Name == "patch"
	var things []effects.Thing
	for _, t := range a.Things {
		var files []string
		for name, f := range s.Files {
			if (t.Glob || patches && t.Tree && t.Access == effects.Update) && t.Kind == effects.Path && t.Access != effects.Read && (t.Access == effects.Remove) == (f.Is == absent) && covers(t, effects.Thing{Kind: effects.Path, Name: name}) {
				files = append(files, name)
			}
		}
		if len(files) == 0 || len(files) > maxSeenWrites {
			things = append(things, t)
			continue
		}
		slices.Sort(files)
		for _, name := range files {
			things = append(things, effects.Thing{Kind: effects.Path, Name: name, Access: t.Access, Sure: 0.95})
		}
	}
	a.Things = things
}

// checkedOut returns the files of git checkout FILE if it names them all, and nothing else was seen to change, such
// as HEAD.
func (a *act) checkedOut(s Seen) (files []string) {
	c, here, ok := onlyGit(a.Line)
	if !ok || c.Sub() != "checkout" || len(here.Args) == 0 {
		return nil
	}
	for _, w := range here.Args {
		name, ok := shell.Resolve(w, c.Dir, a.home)
		switch f := s.Files[name]; {
		case w.Value == "-q" || w.Value == "--quiet":
		case !ok || f.Is == "" || f.Is == absent || strings.HasPrefix(w.Value, "-"):
			return nil
		default:
			files = append(files, name)
		}
	}
	for name := range s.Files {
		if strings.Contains(name, "/.git/") && !passing(name) || !strings.Contains(name, "/.git/") && !slices.Contains(files, name) {
			return nil
		}
	}
	return files
}
