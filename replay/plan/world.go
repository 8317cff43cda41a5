package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// act is a command of the narrative with its effects.
type act struct {
	commands.Scanned
	effects.Effects
	text   string            // what it runs: Command, or what makes the change of a file that this stands for
	at     int               // its index in world.acts
	whole  *shell.Line       // its line as it was written; Line is without a cd that leads nowhere
	home   string            // the home directory of its user
	env    map[string]string // the variables that were recorded with it
	failed bool              // it failed and left nothing that counts
	ended  bool              // it was interrupted
	deps   []dep
	maybe  map[int]dep // possible dependencies, such as those of a program that reads a directory, by index
	above  bits        // the acts that it depends on, directly or indirectly
	repeat int         // the index of an earlier act that built the same, -1 if there is none
	writes []*write
	aborts int  // the index of the act that it aborts, which had switched to a branch before, 0 if there is none
	weak   bool // it only ran a program that the narrative built, to see its output
	// around is what changed while it ran, also by what runs in the background. seen is the same, nil if it is not known
	// for certain that the act did it. observed tells that it took the place of what the act might have written.
	around   *Seen
	seen     *Seen
	observed bool
	scripts  []string // its calls of scripts that the narrative wrote
	busy     bool     // something in the background ran meanwhile
	idle     bool     // it was seen to change nothing of its repository
	files    bool     // it was seen to put files of its repository back, by name
	apart    bool     // its shell ended with it; ownShell tells that it changed that
	ownShell bool
	earlier  bool // it ran before the narrative, and only told its shell something
	// untold says why the text is missing of the change that it stands for.
	untold string
	// unnamed are the files that it was seen to change and does not name, anew those of them that it does not go on from.
	unnamed, anew []string
}

// dep is a dependency of an act on an earlier one.
type dep struct {
	on   int     // the index of the earlier act
	kind string  // one of replay.Need…
	what string  // the path, variable or other thing that it needs
	sure float64 // the confidence, 0 to 1
	// removes is set if the earlier act only removed something, which matters only where that is there.
	removes bool
}

// write is something that an act makes, changes or removes.
type write struct {
	act   int
	thing effects.Thing
	// gone is the act that replaced or removed it, -1 while it is there; removed tells which.
	gone    int
	removed bool
	// left are the files that a build was seen to write and that no later one wrote again, nil if that is not known.
	left map[string]bool
}

// world is the state that the acts so far have left: what they wrote, and what is gone since.
type world struct {
	acts  []*act
	exact map[string][]*write // by key
	wide  []*write            // trees and patterns
	// opaque are writes of programs that may write anything below a directory, such as builds: one for
	// each command and directory, the newest run's.
	opaque  []*write
	failed  map[string]int // the things that failed acts would have written, with the last such act
	seen    map[string]int // paths that were read before any act wrote them, with the first reader
	repos   []string       // the repositories that the narrative made
	shells  map[string]*shellState
	texts   map[string]string // the content of files that acts wrote down, by path
	scripts map[string]bool   // files that acts wrote down, and that were changed since only by acts that say how
	older   map[string]string // what files said, by path, that were edited since or that unknown programs may have changed
	backs   []*back           // the acts that put files back as they were
	pipes   map[string]bool   // the pipes with a name that acts made
	// trees are the working trees that acts added, with their repositories.
	trees map[string]string
	// links are the symbolic links that are there, with the absolute paths that they lead to.
	links map[string]string
	// given are those of them that were there before, and that no act made or removed.
	given map[string]string
	// same are the names of one file that acts made, the oldest first.
	same []*sameFile
	// stashes are the pushes to the stash of a repository that were not taken out again, by repository.
	stashes map[string][]*back
	// moved are the directories that acts renamed, with all repositories that are in them.
	moved []move
	// finds means that a command of the narrative looks for what nothing in a repository refers to.
	finds bool
	// versions has how files were seen to change, by path.
	versions map[string][]version
}

func newWorld() *world {
	return &world{exact: map[string][]*write{}, failed: map[string]int{}, seen: map[string]int{}, shells: map[string]*shellState{}, texts: map[string]string{}, scripts: map[string]bool{}, older: map[string]string{}, versions: map[string][]version{}, stashes: map[string][]*back{}, trees: map[string]string{}, pipes: map[string]bool{}}
}

// add adds an act: it finds the acts that this one depends on, then records what it leaves.
func (w *world) add(a *act) {
	a.at, a.repeat = len(w.acts), -1
	w.acts = append(w.acts, a)
	w.leavesRemoved(a)
	w.beginsAgain(a)
	w.place(a)
	a.scripts = w.own(a)
	w.judgeRun(a)
	w.putAgain(a)
	w.compilesAgain(a)
	if a.Background && !a.failed && !a.ended {
		w.restarts(a)
	}
	if !a.failed && !a.ended {
		w.amendsAgain(a)
		w.switchesAgain(a)
	}
	w.rests(a)
	if a.failed || a.ended {
		w.versioned(a)
		for _, t := range a.Things {
			if t.Access != effects.Read && t.Access != effects.Remove {
				w.failed[key(t)] = a.at
			}
		}
		return
	}
	w.leaves(a)
}

// leavesRemoved lets an act whose directory an earlier one removed begin where its own first call goes: cd ~/app && make.
func (w *world) leavesRemoved(a *act) {
	if a.Line == nil || len(a.Line.Calls) < 2 || !w.removedAfter(-1, effects.Thing{Kind: effects.Path, Name: a.Cwd}) {
		return
	}
	c := &a.Line.Calls[0]
	if to := shell.Operands(c.Args, ""); c.Name == "cd" && len(to) == 1 && !c.Inner && !c.Apart && !c.Maybe {
		if dir, ok := shell.Resolve(to[0], "", a.home); ok && strings.HasPrefix(dir, "/") {
			a.Cwd = dir
		}
	}
}

// place sets Thing.Repo: the repository of commits, branches and the like, the session of jobs.
func (w *world) place(a *act) {
	own := map[string]bool{} // the repositories that it makes
	for _, t := range a.Things {
		own[t.Repo] = own[t.Repo] || t.Kind == effects.Repository && t.Access == effects.Write
	}
	for i := range a.Things {
		t := &a.Things[i]
		switch t.Kind {
		case effects.Job:
			t.Repo = a.Session
		case effects.Repository, effects.Settings, effects.Staged, effects.Commit, effects.Branch, effects.Tag, effects.Bisect, effects.Remote, effects.Fetched, "stash", "notes", "pushed":
			if !own[t.Repo] {
				t.Repo = w.repo(t.Repo, a.Workspace, t)
			}
		}
	}
	w.remotes(a)
	if slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return (t.Kind == effects.Port || t.Kind == effects.Job) && t.Access == effects.Update
	}) {
		a.Opaque = append(a.Opaque, w.served(a.Session)...)
	}
	w.stirs(a)
	if len(w.served(a.Session)) == 0 {
		a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Address }) // of a service of others
	}
	if a.Waits && !a.Background && len(w.shell(a.Session).jobs) > 0 {
		// It waits for what runs in the background.
		for i := range a.Things {
			if a.Looks && a.Things[i].Kind == effects.Port {
				a.Things[i].Access = effects.Update
			}
		}
		a.Things = append(a.Things, effects.Thing{Kind: effects.Job, Name: "&", Access: effects.Update, Repo: a.Session, Sure: 0.7})
		a.Looks = false
	}
}

// repo returns the repository that a directory is in: the nearest that the narrative made, else the
// workspace.
func (w *world) repo(dir, workspace string, t *effects.Thing) string {
	if dir == "~" || t.Kind == effects.Repository && t.Access == effects.Write {
		return dir
	}
	best := ""
	for tree := dir; len(tree) > 1; tree = path.Dir(tree) {
		if of := w.trees[tree]; of != "" {
			return of
		}
	}
	for _, r := range w.repos {
		if within(dir, r) && len(r) > len(best) {
			best = r
		}
	}
	switch {
	case best != "":
		return best
	case workspace != "" && within(dir, workspace):
		return workspace
	}
	return dir
}

// judgeRun sets weak for an act that only ran a program that the narrative built.
func (w *world) judgeRun(a *act) {
	if a.Runs == "" || a.observed {
		return
	}
	for _, o := range w.exact["path\x00\x00"+a.Runs] {
		a.weak = a.weak || o.gone < 0 && w.acts[o.act].Built
	}
	for _, o := range append(slices.Clone(w.opaque), w.wide...) {
		if b := w.acts[o.act]; o.gone < 0 && b.Built && within(a.Runs, o.thing.Name) {
			a.weak = true
		}
	}
}

// leaves records what an act leaves: variables and functions of its shell, and its writes.
func (w *world) leaves(a *act) {
	w.leavesVariables(a)
	w.addsTree(a)
	if a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name == "mkfifo" }) {
		for _, t := range a.Things {
			w.pipes[t.Name] = w.pipes[t.Name] || isPath(t) && t.Access == effects.Write
		}
	}
	w.writesDown(a)
	w.notesSame(a)
	w.notesLinks(a)
	if s := w.shell(a.Session); a.Background {
		s.jobs = append(s.jobs, a.at)
	}
	if w.popsAtOnce(a) || w.givesUp(a) {
		defer func() {
			for _, o := range a.writes {
				o.gone, o.removed = a.at, true
			}
		}()
	}
	w.awaits(a)
	for _, restores := range []func(*act) *back{w.putsBack, w.deletes, w.drops, w.backByContent} {
		if b := restores(a); b != nil {
			defer w.undo(a, b)
			break
		}
	}
	w.versioned(a)
	a.makesAndRemoves()
	w.moves(a)
	// What is removed goes first: mv a b.
	for _, t := range a.Things {
		if t.Access == effects.Remove {
			w.remove(a, t)
		}
	}
	for _, t := range a.Things {
		if t.Access == effects.Read || t.Access == effects.Remove {
			continue
		}
		if t.Kind == effects.Repository && t.Access == effects.Write {
			w.repos = append(w.repos, t.Repo)
		}
		o := &write{act: a.at, thing: t, gone: -1}
		if (t.Access == effects.Write || slices.Contains(a.anew, t.Name)) && !t.Glob && !w.declined(a, t) {
			w.replace(a, t)
		}
		a.writes = append(a.writes, o)
		if t.Tree || t.Glob {
			w.wide = append(w.wide, o)
		} else {
			w.exact[key(t)] = append(w.exact[key(t)], o)
		}
	}
	w.removesProducts(a)
	w.remakesProducts(a)
	if a.repeat = w.repeated(a); a.repeat < 0 {
		for _, dir := range a.Opaque {
			w.leavesOpaque(a, dir)
		}
	}
}

// leavesOpaque records that an act may have written anything below a directory.
func (w *world) leavesOpaque(a *act, dir string) {
	o := &write{act: a.at, thing: effects.Thing{Kind: "opaque", Name: dir, Repo: product(a)}, gone: -1}
	for _, old := range w.opaque {
		// A build makes the same again; another program may add to what it did.
		if a.Built && old.act != a.at && old.gone < 0 && (old.thing.Name == dir && old.thing.Repo == product(a) || w.rebuilds(a, old)) && !w.grows(a, old.act) {
			old.gone = a.at
		}
	}
	for _, old := range w.opaque {
		if a.Remakes && a.seen != nil && old.gone < 0 && len(old.left) > 0 {
			maps.DeleteFunc(old.left, func(name string, _ bool) bool { return a.seen.has(name) })
		}
	}
	if o.left = a.products(); o.left != nil {
		maps.DeleteFunc(o.left, func(name string, _ bool) bool { return !within(name, dir) })
	}
	a.writes = append(a.writes, o)
	w.opaque = append(w.opaque, o)
}

// has reports whether a file was seen to be written.
func (s *Seen) has(name string) bool {
	f, ok := s.Files[name]
	return ok && f.Is != absent
}

// popsAtOnce reports whether an act pops the stash that the last act with effects had pushed, so that
// both together did nothing. It marks the writes of the push as gone.
func (w *world) popsAtOnce(a *act) bool {
	if stashed(a.Line) != "pop" {
		return false
	}
	for i := a.at - 1; i >= 0; i-- {
		b := w.acts[i]
		if len(b.writes) == 0 {
			continue
		}
		if does := stashed(b.Line); b.Cwd != a.Cwd || does != "push" {
			return false
		}
		for _, o := range b.writes {
			if o.gone < 0 {
				o.gone, o.removed = a.at, true
			}
		}
		return true
	}
	return false
}

// replace marks what a write of a whole file or thing overwrites.
func (w *world) replace(a *act, t effects.Thing) {
	if t.Kind == effects.Directory || t.Sure < 0.9 || t.Kind == effects.Job || t.Kind == effects.Repository {
		return // a directory that is made again keeps what is in it
	}
	for _, o := range w.exact[key(t)] {
		if o.gone < 0 && o.thing.Kind != effects.Directory {
			o.gone = a.at
		}
		if !isPath(t) || t.Tree || t.Sure <= 0.9 {
			continue
		}
		for _, of := range w.acts[o.act].writes {
			if of.gone < 0 && path.Dir(of.thing.Name) == t.Name && alternative(w.acts[o.act], of.thing) {
				of.gone = a.at // the path is a file, so the earlier act wrote it and nothing below it
			}
		}
	}
	w.stagesAgain(a, t)
}

// remove marks the writes that a removal takes away, and records the removal as a write of its own.
func (w *world) remove(a *act, t effects.Thing) {
	if t.Kind == effects.Job {
		s := w.shell(a.Session)
		for _, i := range s.jobs {
			for _, o := range w.acts[i].writes {
				if (o.thing.Kind == effects.Job || o.thing.Kind == effects.Port) && o.gone < 0 {
					o.gone, o.removed = a.at, true
				}
			}
		}
		for _, o := range w.exact["job\x00"+a.Session+"\x00&"] {
			if o.gone < 0 {
				o.gone, o.removed = a.at, true
			}
		}
	}
	take := func(o *write) {
		if isPath(o.thing) && o.thing.Tree && isPath(t) && !within(o.thing.Name, t.Name) {
			return // only a part of what the earlier act made
		}
		if t.Value == effects.Tracked && (o.thing.Repo != "" || strings.Contains(o.thing.Name+"/", "/.git/")) {
			return // git rm -r . leaves the repository
		}
		if o.gone < 0 && o.thing.Access != effects.Remove && (covers(t, o.thing) || t.Tree && isPath(t) && within(w.repoNow(o), t.Name) && w.began(o.thing.Repo, a.at) || isPath(t) && (isPath(o.thing) || o.thing.Kind == effects.Mode) && within(o.thing.Name, t.Name)) {
			o.gone, o.removed = a.at, true
		}
	}
	if t.Kind == effects.Bisect {
		// Ending a bisection also undoes what it did to the tree.
		for _, o := range w.exact[key(t)] {
			for _, of := range w.acts[o.act].writes {
				take(of)
			}
		}
	}
	if t.Kind == effects.Products {
		for _, o := range w.opaque {
			if a.seen != nil && len(o.left) > 0 {
				continue // it was seen which of its files are removed, see removesProducts
			}
			if o.gone < 0 && w.acts[o.act].Built && within(o.thing.Name, t.Name) {
				o.gone, o.removed = a.at, true
			}
		}
	}
	if isPath(t) && !t.Tree && !t.Glob {
		for _, o := range w.exact["mode\x00\x00"+t.Name] {
			if o.gone < 0 {
				o.gone, o.removed = a.at, true
			}
		}
	}
	if t.Tree && isPath(t) && t.Value != effects.Tracked {
		of := t.Name
		if t.Glob && path.Base(of) == "*" {
			of = path.Dir(of) // rm -rf build/*
		}
		for _, o := range w.opaque {
			if o.gone < 0 && within(o.thing.Name, of) && (!installs(w.acts[o.act]) || !within(o.thing.Name, w.acts[o.act].Cwd)) {
				o.gone, o.removed = a.at, true
			}
		}
	}
	if t.Tree || t.Glob || t.Kind == effects.Staged {
		for _, list := range w.exact {
			for _, o := range list {
				take(o)
			}
		}
		for _, o := range w.wide {
			take(o)
		}
	} else {
		for _, o := range w.exact[key(t)] {
			take(o)
			for _, of := range w.acts[o.act].writes {
				if o.gone == a.at && isPath(t) && path.Dir(of.thing.Name) == t.Name && alternative(w.acts[o.act], of.thing) {
					take(of) // the path was a file, so there was nothing below it
				}
			}
		}
		// What a pattern or a tree wrote stays: whether this was all of it is not known.
	}
	o := &write{act: a.at, thing: t, gone: -1}
	a.writes = append(a.writes, o)
	w.exact[key(t)] = append(w.exact[key(t)], o)
}

// began reports whether an act before at cloned a repository, or began it, so that all of it is in its directory.
func (w *world) began(repo string, at int) bool {
	return slices.ContainsFunc(w.acts[:at], func(a *act) bool { return !a.failed && a.begins(repo) })
}

// begins reports whether an act clones a repository, or begins it.
func (a *act) begins(repo string) bool {
	return a.Line != nil && slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return t.Kind == effects.Repository && t.Access == effects.Write && t.Repo == repo
	}) && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return c.Name == "git" && (c.Sub() == "clone" || c.Sub() == "init")
	})
}

// installs reports whether an act puts what it built somewhere else, as make install and npm link do.
func installs(a *act) bool {
	return a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return slices.ContainsFunc(c.Args, func(w shell.Word) bool {
			return strings.Contains(w.Value, "install") || packs[c.Name] && (w.Value == "link" || w.Value == "-g" || w.Value == "--global")
		})
	})
}

// packs are programs that install packages also beside a project.
var packs = map[string]bool{"npm": true, "yarn": true, "pnpm": true, "bun": true}

// bits is a set of indexes of acts.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bits) add(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b *bits) join(o bits) {
	for len(*b) < len(o) {
		*b = append(*b, 0)
	}
	for i, x := range o {
		(*b)[i] |= x
	}
}
