package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// gitCall is a call of git in a repository: of any subcommand but init and clone.
type gitCall struct {
	f *finder
	// c is the whole call, and here what follows the subcommand, in the directory to which -C leads.
	c, here *shell.Call
	// repo is the name of the repository, and worktree the directory of its working tree.
	repo, worktree string
	// words are the operands of the subcommand sub.
	words []shell.Word
	sub   string
}

// judge adds what a subcommand does.
func (g *gitCall) judge(sub string) {
	g.sub = sub
	switch sub {
	case "add", "stage":
		g.staged(Write)
	case "rm":
		g.remove()
	case "mv":
		g.move()
	case "commit":
		g.commit()
	case "reset":
		g.reset()
	case "restore":
		g.restore()
	case "checkout", "switch":
		g.checkout()
	case "merge", "rebase", "cherry-pick", "revert", "pull", "am", "apply":
		g.merge(sub)
	case "branch":
		g.branch()
	case "tag":
		g.tag()
	case "config":
		g.config()
	case "remote":
		g.remote()
	case "worktree":
		g.worktrees()
	case "bisect":
		g.bisect()
	case "stash":
		if g.first("list", "show") {
			g.looks()
			return
		}
		g.add("stash", "stash", Update)
		g.add(Commit, "HEAD", Read)
		g.changesTree()
	case "fetch":
		g.add(Settings, "*", Read)
		g.fetch()
		g.add(Branch, "origin", Update)
	case "push":
		g.push()
	case "archive", "bundle", "format-patch":
		g.add(Commit, "HEAD", Read)
		g.pack(sub)
	case "notes":
		if shownByGit[sub][append(g.words, shell.Word{Value: "list"})[0].Value] {
			g.looks()
			return
		}
		g.add(Commit, "HEAD", Read)
		g.add("notes", "notes", Update)
	case "submodule", "sparse-checkout", "rerere", "replace":
		if shownByGit[sub][append(g.words, shell.Word{})[0].Value] || sub == "replace" && g.here.Flag("-l", "--list") {
			g.looks()
			return
		}
		g.add(Commit, "HEAD", Update)
		g.changesTree()
	case "lfs", "gc", "clean", "filter-branch", "update-index", "update-ref":
		if sub == "filter-branch" {
			g.f.Uses = append(g.f.Uses, "FILTER_BRANCH_SQUELCH_WARNING") // without it it waits, and warns
		}
		g.add(Commit, "HEAD", Update)
		g.changesTree()
	case "write-tree":
		g.add(Staged, "*", Read)
	case "read-tree":
		g.readTree()
	default:
		g.f.Known = false
		g.f.opaque(g.worktree) // an alias or an extension
		g.add(Settings, "alias."+sub, Read)
		g.f.add(Thing{Kind: Settings, Name: "global alias." + sub, Access: Read, Repo: "~"})
	}
}

// add adds a thing of the repository.
func (g *gitCall) add(kind, name string, a Access) {
	g.f.add(Thing{Kind: kind, Name: name, Access: a, Repo: g.repo})
}

// looks takes back that the call changes something.
func (g *gitCall) looks() {
	g.f.acts--
	g.f.sees++
	g.shows(g.sub)
}

// changesTree adds that files of the working tree change.
func (g *gitCall) changesTree() {
	g.f.add(Thing{Kind: Path, Name: g.worktree, Access: Update, Tree: true, Sure: 0.5})
}

// first reports whether the first operand is one of some words.
func (g *gitCall) first(any ...string) bool {
	return len(g.words) > 0 && slices.Contains(any, g.words[0].Value)
}

// revisions adds the branches and tags that words may name.
func (g *gitCall) revisions(words []shell.Word) {
	for _, w := range words {
		if strings.Contains(w.Value, "bisect/") {
			g.add(Bisect, "bisect", Read)
			continue
		}
		for _, name := range revisionsIn(w.Value) {
			switch name {
			case ":":
			case "stash":
				g.add("stash", "stash", Read)
			default:
				g.add(Branch, name, Read)
				g.add(Tag, name, Read)
			}
		}
	}
}

// staged adds entries of the index for the operands.
func (g *gitCall) staged(a Access) {
	ws := g.words
	if g.here.Flag("-A", "--all", "-u", "--update", "-p", "--patch", "-i", "--interactive") && len(ws) == 0 {
		ws = []shell.Word{{Value: "."}}
	}
	for _, w := range ws {
		name, t, ok := g.f.named(w, g.here.Dir)
		if !ok {
			name, t = g.here.Dir, Thing{Tree: true}
		}
		tree := t.Tree || w.Value == "." || w.Value == ".." || strings.HasSuffix(w.Value, "/") || g.here.Flag("-A", "--all")
		g.f.add(Thing{Kind: Staged, Name: name, Access: a, Repo: g.repo, Sure: t.Sure, Tree: tree, Glob: t.Glob})
		if a != Remove {
			g.f.add(Thing{Kind: Path, Name: name, Access: Read, Tree: true, Glob: t.Glob, Sure: 0.9})
		}
	}
}

func (g *gitCall) remove() {
	g.staged(Update) // it refuses what the index does not have
	before := len(g.f.Things)
	for _, w := range g.words {
		if !g.here.Flag("--cached") {
			g.f.path(w, g.here.Dir, Remove, true)
		}
	}
	for i := before; i < len(g.f.Things); i++ {
		g.f.Things[i].Value = Tracked
	}
}

func (g *gitCall) move() {
	g.staged(Write)
	last := len(g.words) - 1
	if last < 1 {
		return
	}
	for _, w := range g.words[:last] {
		g.f.path(w, g.here.Dir, Remove, true)
	}
	g.f.path(g.words[last], g.here.Dir, Write, true)
}

func (g *gitCall) commit() {
	g.add(Staged, "*", Read)
	g.add(Settings, "*", Read)
	g.add(Commit, "HEAD", Update)
	if g.here.Flag("-a", "--all") || len(g.words) > 0 {
		g.f.add(Thing{Kind: Path, Name: g.worktree, Access: Read, Tree: true, Sure: 0.6})
	}
}

// reset moves the branch, or takes paths out of the index.
func (g *gitCall) reset() {
	if !g.here.Flag("--hard", "--soft", "--mixed", "--keep", "--merge") && len(g.words) > 0 && (len(g.words) > 1 || !isRevision(g.words[0].Value)) {
		g.staged(Remove)
		return
	}
	for _, w := range g.words {
		if !isRevision(w.Value) {
			g.revisions([]shell.Word{w})
		}
	}
	g.add(Commit, "HEAD", Update)
	g.add(Staged, "*", Update)
	if g.here.Flag("--hard", "--keep", "--merge") {
		g.changesTree()
	}
}

func (g *gitCall) restore() {
	if g.here.Flag("-S", "--staged") {
		g.staged(Remove)
		return
	}
	for _, w := range g.words {
		g.f.path(w, g.here.Dir, Update, true)
	}
	g.add(Commit, "HEAD", Read)
}

// checkout makes a branch, takes back paths, or goes to another commit.
func (g *gitCall) checkout() {
	if name, ok := g.here.FlagValue("-b", "-B", "-c", "-C", "--orphan"); ok {
		g.add(Branch, name.Value, Write)
		g.add(Commit, "HEAD", Update)
		return
	}
	if i := slices.IndexFunc(g.here.Args, func(w shell.Word) bool { return w.Value == "--" }); i >= 0 {
		for _, w := range g.here.Args[i+1:] {
			g.f.path(w, g.here.Dir, Update, true)
			if name, _, ok := g.f.named(w, g.here.Dir); ok {
				g.add(Staged, name, Read)
			}
		}
		g.add(Commit, "HEAD", Read)
		return
	}
	g.revisions(g.words)
	g.add(Commit, "HEAD", Update)
	g.changesTree()
}

// merge brings in what is elsewhere: commits, or patches.
func (g *gitCall) merge(sub string) {
	g.revisions(g.words)
	if g.here.Flag("--continue") {
		g.add(Staged, "*", Read) // what was resolved
	}
	if sub == "apply" || sub == "am" {
		g.f.readWords(g.here, g.words)
	}
	if sub != "apply" {
		g.add(Commit, "HEAD", Update)
		g.add(Settings, "*", Read)
	}
	if sub == "pull" {
		g.fetch()
	}
	g.changesTree()
}

func (g *gitCall) branch() {
	switch {
	case g.here.Flag("-d", "-D", "--delete"):
		if !g.here.Flag("-D", "-f", "--force") {
			g.add(Commit, "HEAD", Read) // it has to be merged
		}
		for _, w := range g.words {
			g.add(Branch, w.Value, Remove)
		}
	case g.here.Flag("-m", "-M"):
		if len(g.words) > 0 {
			g.add(Branch, g.words[len(g.words)-1].Value, Write)
		}
	case g.here.Flag("-a", "-r", "-v", "-vv", "--list", "--contains", "--no-contains", "--merged", "--show-current", "--no-merged", "--points-at") || len(g.words) == 0:
		g.looks()
	default:
		g.begin(Branch)
	}
}

func (g *gitCall) tag() {
	switch {
	case g.here.Flag("-d", "--delete"):
		for _, w := range g.words {
			g.add(Tag, w.Value, Remove)
		}
	case g.here.Flag("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-v", "-n") || len(g.words) == 0:
		g.looks()
	default:
		g.begin(Tag)
	}
}

// begin adds a branch or a tag that the first operand names, at the revision that the others name.
func (g *gitCall) begin(kind string) {
	g.add(kind, g.words[0].Value, Write)
	g.add(Commit, "HEAD", Read)
	g.revisions(g.words[1:])
}

// config shows, sets or removes settings.
func (g *gitCall) config() {
	f, here := g.f, g.here
	ws := shell.Operands(here.Args, "-f --file --type --default")
	file, inFile := here.FlagValue("-f", "--file")
	unset := here.Flag("--unset", "--unset-all", "--remove-section")
	if !unset && (here.Flag("-l", "--list", "--get", "--get-all", "--get-regexp", "--show-origin") || len(ws) < 2 || ws[0].Value == "list" || ws[0].Value == "get") {
		g.looks()
		if inFile {
			f.path(file, here.Dir, Read, false)
		}
		return
	}
	if inFile {
		f.path(file, here.Dir, Update, false)
		return
	}
	if len(ws) == 0 {
		return // git says what is missing
	}
	name := ws[0].Value
	if name == "set" && len(ws) > 1 {
		name = ws[1].Value
	}
	access, value := Write, ""
	if unset {
		access = Remove
	} else if w := f.expand(ws[len(ws)-1]); !w.Dynamic {
		value = w.Value
	}
	if here.Flag("--global") {
		if f.c.Home != "" {
			f.add(Thing{Kind: Settings, Name: "global " + name, Access: access, Repo: "~", Value: value})
		}
		return
	}
	f.add(Thing{Kind: Settings, Name: name, Access: access, Repo: g.repo, Value: value})
}

func (g *gitCall) remote() {
	ws := g.words
	if len(ws) == 0 || g.first("show", "get-url") || g.here.Flag("-v") {
		g.looks()
		return
	}
	switch {
	case g.first("add") && len(ws) > 2:
		g.add(Settings, "remote "+ws[1].Value, Write)
		g.f.remoteAt(ws[1].Value, ws[2], g.c.Dir, g.repo)
		if g.here.Flag("-f", "--fetch") {
			g.add(Branch, "origin", Update)
		}
	case g.first("rm", "remove") && len(ws) > 1:
		g.add(Settings, "remote "+ws[1].Value, Remove)
		g.add(Remote, ws[1].Value, Remove)
	case g.first("set-url") && len(ws) > 2:
		g.add(Settings, "remote", Update)
		g.f.remoteAt(ws[1].Value, ws[2], g.c.Dir, g.repo)
	default:
		g.add(Settings, "remote", Update)
	}
}

// worktrees adds the working tree that is made or removed.
func (g *gitCall) worktrees() {
	ws := g.words
	switch {
	case len(ws) == 1 && g.first("list"):
		g.looks()
	case len(ws) < 2 || !g.first("add", "remove", "move"):
		g.add(Settings, "worktrees", Update)
	case g.first("add"):
		g.f.path(ws[1], g.here.Dir, Write, true)
		g.add(Commit, "HEAD", Read)
		if name, ok := g.here.FlagValue("-b", "-B"); ok {
			g.add(Branch, name.Value, Write)
		}
		for _, w := range ws[2:] {
			g.add(Branch, w.Value, Read)
		}
	default:
		g.f.path(ws[1], g.here.Dir, Remove, true)
		if len(ws) > 2 {
			g.f.path(ws[2], g.here.Dir, Write, true)
		}
	}
}

// bisect adds the state of a search, which its reset takes back.
func (g *gitCall) bisect() {
	g.add(Commit, "HEAD", Read)
	switch append(g.words, shell.Word{})[0].Value {
	case "log", "view", "visualize", "terms", "help", "":
		g.looks()
		g.add(Bisect, "bisect", Read)
	case "reset":
		g.add(Bisect, "bisect", Remove)
	case "start":
		g.add(Bisect, "bisect", Write)
	default:
		g.add(Bisect, "bisect", Update)
	}
}

// fetch adds another repository that is read, and what was fetched from it before.
func (g *gitCall) fetch() {
	g.f.remote(g.c, g.words)
	g.f.add(Thing{Kind: Fetched, Name: remoteOf(g.words), Access: Read, Repo: g.repo})
}

func (g *gitCall) push() {
	g.add(Settings, "*", Read)
	g.add(Commit, "HEAD", Read)
	for _, w := range g.words { // a branch, or what is pushed to one: from:to
		from, _, _ := strings.Cut(strings.TrimPrefix(w.Value, "+"), ":")
		g.add(Branch, from, Read)
	}
	g.f.remote(g.c, g.words)
	g.f.add(Thing{Kind: "pushed", Name: "pushed", Access: Update, Repo: g.repo, Value: remoteOf(g.words)})
}

// shownByGit has, by subcommand, what follows it where it only shows something.
var shownByGit = map[string]map[string]bool{
	"notes": words("show list get-ref"), "submodule": words("status summary"), "sparse-checkout": words("list check-rules"), "rerere": words("status diff remaining"),
}

// pack adds what archive, bundle and format-patch write.
func (g *gitCall) pack(sub string) {
	f, dir := g.f, g.here.Dir
	w, ok := g.here.FlagValue("-o", "--output", "--output-directory")
	named := g.words
	if sub == "bundle" {
		named = named[min(2, len(named)):]
	}
	g.revisions(named)
	if g.here.Flag("--all", "--branches", "--tags") {
		g.add(Branch, "*", Read)
		g.add(Tag, "*", Read)
	}
	switch {
	case sub == "bundle" && len(g.words) > 1 && g.first("verify", "list-heads"):
		g.looks()
		f.path(g.words[1], dir, Read, false)
	case sub == "bundle" && len(g.words) > 1:
		f.path(g.words[1], dir, Write, false)
	case ok && sub == "format-patch":
		f.path(w, dir, Update, true)
	case ok:
		f.path(w, dir, Write, false)
	case sub == "archive":
		g.looks()
	case sub == "format-patch" && !g.here.Flag("--numbered-files", "--suffix"):
		f.add(Thing{Kind: Path, Name: path.Join(dir, "*.patch"), Access: Write, Glob: true, Sure: 0.9})
	default:
		f.opaque(dir)
	}
}

func (g *gitCall) readTree() {
	name := g.worktree
	if w, ok := g.here.FlagValue("--prefix"); ok && !w.Dynamic {
		name = path.Join(g.worktree, w.Value)
	}
	g.f.add(Thing{Kind: Staged, Name: name, Access: Update, Tree: true, Repo: g.repo})
	if g.here.Flag("-u") {
		g.changesTree()
	}
}
