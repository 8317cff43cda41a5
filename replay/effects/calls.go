package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// call adds what one call does. What xargs and find give it are names that are not known.
func (f *finder) call(c *shell.Call) {
	c = f.given(c)
	acts, checks, things, known := f.acts, f.checks, len(f.Things), f.Known
	f.Known = true
	f.judgeRounds(c)
	if f.acts > acts && (!f.Known || compilers[c.Name]) || f.checks > checks && remaking[c.Name] {
		f.product(c)
	}
	f.Known = f.Known && known
	f.does = f.does || f.acts > acts && !shows(c)
	for _, v := range c.Assigns {
		// GIT_SEQUENCE_EDITOR=../seq.sh: a path that the program is told of; also "sh ../seq.sh".
		if sh, script, two := strings.Cut(v.Value.Value, " "); two && (sh == "sh" || sh == "bash") && strings.HasSuffix(v.Name, "_EDITOR") {
			v.Value.Value, v.Value.Text, v.Value.Node = script, script, nil
		}
		if name, ok := shell.Resolve(v.Value, c.Dir, f.c.Home); ok && !v.Unknown && strings.Contains(v.Value.Value, "/") && !strings.ContainsAny(v.Value.Value, ": \n") {
			f.add(Thing{Kind: Path, Name: name, Access: Read, Sure: 0.6})
			if text, known := f.content(name); known && strings.HasSuffix(v.Name, "_EDITOR") && c.Name == "git" && isShell(text) {
				list := shell.Word{Value: path.Join(f.repoDir(c, c.Dir), ".git/rebase-merge/git-rebase-todo")}
				f.follow(&shell.Call{Name: path.Base(name), Head: v.Value, Dir: c.Dir}, name, text, []shell.Word{list}, false)
			}
		}
	}
	f.mentions(c)
	if f.acts == acts || !slices.ContainsFunc(c.Via, func(v string) bool { return v == "xargs" || v == "find" || v == "parallel" }) {
		return
	}
	given := false
	for i := things; i < len(f.Things); i++ {
		t := &f.Things[i]
		before, _, ok := strings.Cut(t.Name, "{}")
		if !ok || !strings.Contains(before, "/") {
			continue
		}
		t.Name, t.Tree, t.Partial, t.Sure = path.Clean(before[:strings.LastIndexByte(before, '/')+1]), true, true, 0.6
		if given = true; t.Access == Write {
			t.Access = Update
		}
	}
	if !given {
		f.opaque(c.Dir)
		f.Elsewhere = f.Elsewhere || !slices.ContainsFunc(f.Line.Calls[:min(f.at, len(f.Line.Calls))], func(o shell.Call) bool { return lists[o.Name] })
	}
}

// lists has programs that print names which are in the line, or below directories that are.
var lists = words("find fd fdfind ls git grep egrep rg ag echo printf seq")

// here reports whether a call runs a program of its own directory, or of the one above, by its path.
func here(c *shell.Call) bool {
	name, ok := strings.CutPrefix(c.Head.Value, "./")
	if !ok {
		name, ok = strings.CutPrefix(c.Head.Value, "../")
	}
	return ok && !strings.Contains(name, "/")
}

func (f *finder) judgeCall(c *shell.Call) {
	if c.Abroad {
		return // what it changes is elsewhere; the program that goes there is judged by itself
	}
	if c.Name == "" {
		f.Known = false
		f.acts++
		f.ran(c)
		f.opaque(c.Dir)
		return
	}
	if c.Name == "recount" || c.Name == "recount-record" {
		f.Own = f.Own || f.at == 0
	}
	f.ports(c)
	if c.Wraps && c.Name != "find" && !strings.HasPrefix(c.Name, "docker") && !strings.HasPrefix(c.Name, "podman") {
		if c.Name == "ssh" || c.Name == "kubectl" {
			f.acts++
		}
		return
	}
	if _, own := f.body(c.Name); own && f.inside(c) {
		return // a function may have the name of a program
	}
	if f.c.fish() && ofFish[c.Name] {
		f.sees++
		return
	}
	if here(c) && (interactive[c.Name] || editors[c.Name]) {
		own := *c
		own.Name = c.Head.Value // and so may a program of one's own
		c = &own
	}
	if c.Flag("--help", "--version") && len(c.Args) == 1 {
		f.sees++
		return
	}
	if f.terminal(c) {
		f.Interactive = c.Name
	}
	if displays(c) {
		f.sees++
		f.reads(c.Dir)
		if c.Name == "git" {
			f.looksByGit(c)
		}
		return
	}
	if f.setsOwn(c) {
		return
	}
	if f.looksBySub(c) {
		return
	}
	if f.inside(c) || f.cleans(c) {
		return
	}
	f.byName(c)
}

// looksBySub judges a call whose subcommand only looks or checks; it returns false for any other.
func (f *finder) looksBySub(c *shell.Call) bool {
	sub := c.Sub()
	if (sub == "" || !lookingSubs[c.Name][sub]) && (len(c.Args) == 0 || !lookingSubs[c.Name][c.Args[0].Value]) {
		return false
	}
	if checkingSubs[sub] {
		if f.covers(c) {
			return false
		}
		f.checks++
		return true
	}
	f.sees++
	if c.Name == "git" {
		f.looksByGit(c)
	}
	return true
}

// looksByGit adds what a call of git reads that only shows something.
func (f *finder) looksByGit(c *shell.Call) {
	if g := f.inRepository(c); c.Flag("--no-index") {
		f.readTrees(c, g.words)
	} else {
		g.shows(c.Sub())
	}
}

// other judges a program without rules of its own.
func (f *finder) other(c *shell.Call, words []shell.Word) {
	switch {
	case editors[c.Name]:
		f.acts++
		for _, w := range words {
			f.path(w, c.Dir, Update, false)
		}
	case checking[c.Name] && !f.covers(c), builders[c.Name] && f.tests(c), compilers[c.Name] && compilesNothing(c):
		f.checks++
		f.reads(c.Dir)
	case compilers[c.Name]:
		f.acts++
		f.Built = true
		f.reads(c.Dir)
		f.compile(c)
	case byResources[c.Name]:
		f.acts++
		f.reads0(c)
	case looking[c.Name]:
		f.sees++
		f.reads0(c)
	case interactive[c.Name]:
		f.sees++
	case shells[c.Name] && f.oneLine(c):
	case f.bare(c):
		f.strange = true // the path of a program alone
	case f.edits(c):
	case c.Name == "go" && f.goBuilds(c):
	default:
		f.strange = !builders[c.Name] && !shells[c.Name] && !portReaders[c.Name]
		f.Known = false
		f.acts++
		f.destination(c)
		f.Built = f.Built || builders[c.Name]
	}
}

func (f *finder) remove(c *shell.Call, words []shell.Word, tree bool) {
	f.acts++
	if len(words) == 0 {
		f.opaque(c.Dir) // given by xargs
	}
	for _, w := range words {
		if strings.Contains(w.Value, "{}") {
			f.opaque(c.Dir)
			continue
		}
		f.path(w, c.Dir, Remove, tree)
	}
}

// withParents returns the directories that rmdir removes: with -p also those around each, as far as the word has them.
func withParents(c *shell.Call, words []shell.Word) (all []shell.Word) {
	parents := c.Name == "rmdir" && c.Flag("-p", "--parents") && !c.Flag("--ignore-fail-on-non-empty")
	for _, w := range words {
		all = append(all, w)
		for parents && !w.Dynamic && !w.Glob && w.Value != "" {
			if w.Value = path.Dir(path.Clean(w.Value)); w.Value == "." || w.Value == "/" || path.Base(w.Value) == ".." {
				break
			}
			all = append(all, w)
		}
	}
	return all
}

func (f *finder) readWords(c *shell.Call, words []shell.Word) {
	for _, w := range words {
		f.path(w, c.Dir, Read, false)
	}
}

func (f *finder) readTrees(c *shell.Call, words []shell.Word) {
	for _, w := range words {
		f.path(w, c.Dir, Read, true)
	}
}

// reads0 adds the operands that look like paths of a program that reads; those it knows by name
// were recorded.
func (f *finder) reads0(c *shell.Call) {
	operands := shell.Operands(c.Args, "")
	for _, w := range operands {
		for _, w := range f.items(w) {
			f.mayRead(c, w)
		}
	}
	f.listed(c, operands)
}

func (f *finder) mayRead(c *shell.Call, w shell.Word) {
	tree := walks(c)
	if w.Dynamic || w.Glob {
		if e := f.expand(w); strings.Contains(e.Value, "/") || w.Glob && !w.Dynamic {
			if name, t, ok := f.named(w, c.Dir); ok {
				t.Kind, t.Name, t.Access, t.Tree = Path, name, Read, t.Tree || tree && !t.Glob
				f.add(t)
			}
		}
		return
	}
	if v := w.Value; !w.Quoted && v != "" && v != "-" && !strings.HasPrefix(v, "+") && !strings.Contains(v, "://") {
		if name, ok := shell.Resolve(w, c.Dir, f.c.Home); ok && !wordsOnly[c.Name] {
			f.add(Thing{Kind: Path, Name: name, Access: Read, Tree: tree, Sure: 0.6})
		}
	}
}

// walking are programs that look into the directories that they are told.
var walking = words("diff colordiff ls dir ll la l exa eza lsd tree du rg ag ack cloc tokei")

// walks reports whether a call looks into the directories that it is told.
func walks(c *shell.Call) bool {
	return walking[c.Name] && !(c.Name == "ls" && c.Flag("-d")) || strings.HasSuffix(c.Name, "grep") && c.Flag("-r", "-R", "--recursive", "--dereference-recursive")
}

// copies judges cp, mv, install, ln and rsync.
func (f *finder) copies(c *shell.Call) {
	f.acts++
	if c.Name == "install" && c.Flag("-d", "--directory") {
		f.directories(c, "-m -o -g --mode --owner --group")
		return
	}
	ws := shell.Operands(c.Args, "-m -o -g -S -t --mode --owner --group --suffix --target-directory -e --exclude --include")
	var dest shell.Word
	into := false
	switch t, ok := c.FlagValue("-t", "--target-directory"); {
	case ok && c.Name != "rsync":
		dest, into = t, true
	case len(ws) < 2:
		if c.Name == "ln" && len(ws) == 1 {
			dest, into = shell.Word{Value: "."}, true
			break
		}
		f.opaque(c.Dir)
		return
	default:
		dest, ws = ws[len(ws)-1], ws[:len(ws)-1]
	}
	tree := c.Flag("-r", "-R", "-a", "--recursive", "--archive") || c.Name == "mv"
	for _, w := range ws {
		switch c.Name {
		case "mv":
			f.path(w, c.Dir, Read, true)
			f.path(w, c.Dir, Remove, true)
		case "ln":
			f.path(w, f.linksFrom(c, dest, into), Read, false)
		default:
			f.path(w, c.Dir, Read, tree)
		}
	}
	to, t, ok := f.named(dest, c.Dir)
	if !ok || c.Name == "rsync" && strings.Contains(dest.Value, ":") {
		f.opaque(c.Dir)
		return
	}
	if c.Name == "rsync" {
		f.add(Thing{Kind: Path, Name: to, Access: Update, Tree: true, Sure: 0.8})
		return
	}
	// Into a directory if it is one by its name, or if there are several.
	into = into || strings.HasSuffix(dest.Value, "/") || dest.Value == "." || dest.Value == ".." || len(ws) > 1 || t.Tree
	for _, w := range ws {
		base, link := path.Base(w.Value), ""
		if e := f.expand(w); c.Name == "ln" && c.Flag("-s", "--symbolic") && !c.Flag("-r", "--relative") && !e.Dynamic && !e.Glob && (e.Value == "" || e.Value[0] != '~') {
			link = e.Value
		}
		same := ""
		if c.Name == "ln" && !c.Flag("-s", "--symbolic") || c.Name == "cp" && c.Flag("-l", "--link") {
			same, _ = shell.Resolve(w, c.Dir, f.c.Home)
		}
		known := !w.Dynamic && !w.Glob && base != "." && base != ".." && base != "/"
		if strings.HasSuffix(w.Value, "/.") {
			known = false
		}
		switch {
		case t.Tree || into && !known:
			f.add(Thing{Kind: Path, Name: to, Access: Update, Tree: true, Sure: 0.7})
		case into:
			f.add(Thing{Kind: Path, Name: path.Join(to, base), Access: Write, Tree: tree, Value: link, Same: same})
		default:
			// It may be a directory that is there.
			f.add(Thing{Kind: Path, Name: to, Access: Write, Tree: tree, Sure: 0.9, Value: link, Same: same})
			if known && !c.Flag("-T", "--no-target-directory") && !(c.Name == "ln" && c.Flag("-n", "--no-dereference")) {
				f.add(Thing{Kind: Path, Name: path.Join(to, base), Access: Write, Tree: tree, Sure: 0.5, Value: link, Same: same})
			}
		}
	}
}

// linksFrom returns the directory from which the target of ln counts: for a symbolic link, that in which the link is.
func (f *finder) linksFrom(c *shell.Call, dest shell.Word, into bool) string {
	if !c.Flag("-s", "--symbolic") || c.Flag("-r", "--relative") {
		return c.Dir
	}
	to, _, ok := f.named(dest, c.Dir)
	if !ok {
		return c.Dir
	}
	if into || strings.HasSuffix(dest.Value, "/") || dest.Value == "." || dest.Value == ".." {
		return to
	}
	return path.Dir(to)
}

// notHere keeps in mind that words are names in another directory than that of the call.
func (f *finder) notHere(c *shell.Call, dir string, files []shell.Word) {
	for _, w := range files {
		if dir != c.Dir {
			f.noPath(c, w)
		}
	}
}

// noPath keeps in mind that a word only seems to name a path in the directory of the call.
func (f *finder) noPath(c *shell.Call, w shell.Word) {
	if name, _, ok := f.named(w, c.Dir); ok {
		if f.elsewhere == nil {
			f.elsewhere = map[string]bool{}
		}
		f.elsewhere[name] = true
	}
}

// compilesNothing reports whether a compiler only says what is wrong with a file.
func compilesNothing(c *shell.Call) bool {
	w, ok := c.FlagValue("-o")
	return ok && w.Value == "/dev/null" || c.Flag("-fsyntax-only")
}
