package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// readsTree are subcommands of git whose output tells what is in the working tree.
var readsTree = words("diff status grep ls-files blame")

// repo adds the repository that a call of git works in: that of --git-dir or $GIT_DIR, or else the one around its
// directory. It returns its name, and the directory of its working tree.
func (f *finder) repo(c *shell.Call, a Access) (name, worktree string) {
	dir := f.repoDir(c, c.Dir)
	name, worktree = dir, dir
	if at, ok := f.toldByGit(c, dir, "--git-dir", "GIT_DIR"); ok {
		name = strings.TrimSuffix(at, "/.git")
		if tree, ok := f.toldByGit(c, dir, "--work-tree", "GIT_WORK_TREE"); ok {
			worktree = tree
		}
	}
	f.add(Thing{Kind: Repository, Name: "repository", Access: a, Repo: name})
	return name, worktree
}

// toldByGit returns the path that a call of git is told by a flag before its subcommand, or by a variable.
func (f *finder) toldByGit(c *shell.Call, dir, flag, variable string) (string, bool) {
	w, ok := shell.Word{}, false
	if value, known := f.value(variable); known {
		w, ok = shell.Word{Value: value}, true
	}
	for _, v := range c.Assigns {
		if v.Name == variable {
			w, ok = v.Value, true
		}
	}
	before := shell.Call{Args: c.Args[:len(c.Args)-len(c.After())]}
	if told, given := before.FlagValue(flag); given {
		w, ok = told, true
	}
	if !ok {
		return "", false
	}
	return shell.Resolve(f.expand(w), dir, f.c.Home)
}

// git adds what a call of git does. The files of a working tree that git writes are all of it.
func (f *finder) git(c *shell.Call) {
	sub, after := c.Sub(), c.After()
	here := shell.Call{Name: "git", Args: after, Dir: c.Dir}
	switch sub {
	case "":
		if !slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Dynamic }) {
			f.sees++
			return
		}
	case "init":
		f.initialised(c, &here)
		return
	case "clone":
		f.cloned(c, after)
		return
	}
	repo, worktree := f.repo(c, Read)
	dir := f.repoDir(c, c.Dir)
	here.Dir = dir
	thing := func(kind, name string, a Access) {
		f.add(Thing{Kind: kind, Name: name, Access: a, Repo: repo})
	}
	revision := func(w shell.Word) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w.Value, "^"), "origin/"), "..")
		if i := strings.IndexAny(name, "~^"); i > 0 {
			name = name[:i]
		}
		if strings.Contains(name, "bisect/") {
			thing(Bisect, "bisect", Read)
			return
		}
		thing(Branch, name, Read)
		thing(Tag, strings.TrimPrefix(name, "tags/"), Read)
	}
	tree := func() { f.add(Thing{Kind: Path, Name: worktree, Access: Update, Tree: true, Sure: 0.5}) }
	ws := shell.Operands(after, "-m -F -C -c --author --date --message -b -B -X -s --onto --depth -o -S -n --format --upstream")
	f.acts++
	switch sub {
	case "add", "stage":
		f.staged(&here, repo, ws, Write)
	case "rm":
		f.staged(&here, repo, ws, Update) // it refuses what the index does not have
		before := len(f.Things)
		for _, w := range ws {
			if !here.Flag("--cached") {
				f.path(w, dir, Remove, true)
			}
		}
		for i := before; i < len(f.Things); i++ {
			f.Things[i].Value = Tracked
		}
	case "mv":
		f.staged(&here, repo, ws, Write)
		if len(ws) > 1 {
			for _, w := range ws[:len(ws)-1] {
				f.path(w, dir, Remove, true)
			}
			f.path(ws[len(ws)-1], dir, Write, true)
		}
	case "commit":
		thing(Staged, "*", Read)
		thing(Settings, "*", Read)
		thing(Commit, "HEAD", Update)
		if here.Flag("-a", "--all") || len(ws) > 0 {
			f.add(Thing{Kind: Path, Name: worktree, Access: Read, Tree: true, Sure: 0.6})
		}
	case "reset":
		if here.Flag("--hard", "--soft", "--mixed", "--keep", "--merge") || len(ws) == 0 || len(ws) == 1 && isRevision(ws[0].Value) {
			for _, w := range ws {
				if !isRevision(w.Value) {
					revision(w)
				}
			}
			thing(Commit, "HEAD", Update)
			thing(Staged, "*", Update)
			if here.Flag("--hard", "--keep", "--merge") {
				tree()
			}
			break
		}
		f.staged(&here, repo, ws, Remove)
	case "restore":
		if here.Flag("-S", "--staged") {
			f.staged(&here, repo, ws, Remove)
			break
		}
		for _, w := range ws {
			f.path(w, dir, Update, true)
		}
		thing(Commit, "HEAD", Read)
	case "checkout", "switch":
		if name, ok := here.FlagValue("-b", "-B", "-c", "-C", "--orphan"); ok {
			thing(Branch, name.Value, Write)
			thing(Commit, "HEAD", Update)
			break
		}
		for i, w := range after {
			if w.Value == "--" {
				for _, p := range after[i+1:] {
					f.path(p, dir, Update, true)
					if name, _, ok := f.named(p, dir); ok {
						thing(Staged, name, Read)
					}
				}
				thing(Commit, "HEAD", Read)
				return
			}
		}
		for _, w := range ws {
			revision(w)
		}
		thing(Commit, "HEAD", Update)
		tree()
	case "merge", "rebase", "cherry-pick", "revert", "pull", "am", "apply":
		for _, w := range ws {
			revision(w)
		}
		if here.Flag("--continue") {
			thing(Staged, "*", Read) // what was resolved
		}
		if sub == "apply" || sub == "am" {
			f.readWords(&here, ws)
		}
		if sub != "apply" {
			thing(Commit, "HEAD", Update)
			thing(Settings, "*", Read)
		}
		if sub == "pull" {
			f.remote(c, ws)
			f.add(Thing{Kind: Fetched, Name: remoteOf(ws), Access: Read, Repo: repo})
		}
		tree()
	case "branch":
		switch {
		case here.Flag("-d", "-D", "--delete"):
			for _, w := range ws {
				thing(Branch, w.Value, Remove)
			}
		case here.Flag("-m", "-M"):
			if len(ws) > 0 {
				thing(Branch, ws[len(ws)-1].Value, Write)
			}
		case here.Flag("-a", "-r", "-v", "-vv", "--list", "--contains", "--merged", "--show-current", "--no-merged") || len(ws) == 0:
			f.acts--
			f.sees++
		default:
			thing(Branch, ws[0].Value, Write)
			thing(Commit, "HEAD", Read)
			for _, w := range ws[1:] {
				revision(w)
			}
		}
	case "tag":
		switch {
		case here.Flag("-d", "--delete"):
			for _, w := range ws {
				thing(Tag, w.Value, Remove)
			}
		case here.Flag("-l", "--list", "--contains", "-v", "-n") || len(ws) == 0:
			f.acts--
			f.sees++
		default:
			thing(Tag, ws[0].Value, Write)
			thing(Commit, "HEAD", Read)
			for _, w := range ws[1:] {
				revision(w)
			}
		}
	case "config":
		f.configured(&here, repo)
	case "remote":
		if len(ws) == 0 || ws[0].Value == "show" || ws[0].Value == "get-url" || here.Flag("-v") {
			f.acts--
			f.sees++
			break
		}
		switch what := ws[0].Value; {
		case what == "add" && len(ws) > 2:
			thing(Settings, "remote "+ws[1].Value, Write)
			f.remoteAt(ws[1].Value, ws[2], c.Dir, repo)
			if here.Flag("-f", "--fetch") {
				thing(Branch, "origin", Update)
			}
		case (what == "rm" || what == "remove") && len(ws) > 1:
			thing(Settings, "remote "+ws[1].Value, Remove)
			thing(Remote, ws[1].Value, Remove)
		case what == "set-url" && len(ws) > 2:
			thing(Settings, "remote", Update)
			f.remoteAt(ws[1].Value, ws[2], c.Dir, repo)
		default:
			thing(Settings, "remote", Update)
		}
	case "worktree":
		if len(ws) == 1 && ws[0].Value == "list" {
			f.acts--
			f.sees++
			break
		}
		f.worktree(&here, ws, thing)
	case "bisect":
		f.bisect(ws, thing)
	case "stash":
		if len(ws) > 0 && (ws[0].Value == "list" || ws[0].Value == "show") {
			f.acts--
			f.sees++
			break
		}
		thing("stash", "stash", Update)
		tree()
	case "fetch":
		thing(Settings, "*", Read)
		f.remote(c, ws)
		f.add(Thing{Kind: Fetched, Name: remoteOf(ws), Access: Read, Repo: repo})
		thing(Branch, "origin", Update)
	case "push":
		thing(Settings, "*", Read)
		thing(Commit, "HEAD", Read)
		for _, w := range ws { // a branch, or what is pushed to one: from:to
			from, _, _ := strings.Cut(strings.TrimPrefix(w.Value, "+"), ":")
			thing(Branch, from, Read)
		}
		f.remote(c, ws)
		f.add(Thing{Kind: "pushed", Name: "pushed", Access: Update, Repo: repo, Value: remoteOf(ws)})
	case "archive", "bundle", "format-patch":
		thing(Commit, "HEAD", Read)
		f.packed(&here, sub, ws)
	case "notes", "submodule", "sparse-checkout", "rerere", "replace":
		if shownByGit[sub][append(ws, shell.Word{})[0].Value] || sub == "replace" && here.Flag("-l", "--list") {
			f.acts--
			f.sees++
			break
		}
		thing(Commit, "HEAD", Update)
		tree()
	case "lfs", "gc", "clean", "filter-branch", "update-index", "update-ref":
		if sub == "filter-branch" {
			f.Uses = append(f.Uses, "FILTER_BRANCH_SQUELCH_WARNING") // without it it waits, and warns
		}
		thing(Commit, "HEAD", Update)
		tree()
	case "write-tree":
		thing(Staged, "*", Read)
	case "read-tree":
		name := worktree
		if w, ok := here.FlagValue("--prefix"); ok && !w.Dynamic {
			name = path.Join(worktree, w.Value)
		}
		f.add(Thing{Kind: Staged, Name: name, Access: Update, Tree: true, Repo: repo})
		if here.Flag("-u") {
			tree()
		}
	default:
		f.Known = false
		f.opaque(worktree) // an alias or an extension
		thing(Settings, "alias."+sub, Read)
		f.add(Thing{Kind: Settings, Name: "global alias." + sub, Access: Read, Repo: "~"})
	}
}

// LooksByGit reports whether a subcommand of git changes nothing.
func LooksByGit(sub string) bool { return lookingSubs["git"][sub] }

// shownByGit has, by subcommand, what follows it where it only shows something.
var shownByGit = map[string]map[string]bool{
	"notes": words("show list get-ref"), "submodule": words("status summary"), "sparse-checkout": words("list check-rules"), "rerere": words("status diff remaining"),
}

// packed adds what archive, bundle and format-patch write.
func (f *finder) packed(c *shell.Call, sub string, ws []shell.Word) {
	w, ok := c.FlagValue("-o", "--output", "--output-directory")
	switch {
	case sub == "bundle" && len(ws) > 1 && (ws[0].Value == "verify" || ws[0].Value == "list-heads"):
		f.acts--
		f.sees++
		f.path(ws[1], c.Dir, Read, false)
	case sub == "bundle" && len(ws) > 1:
		f.path(ws[1], c.Dir, Write, false)
	case ok:
		access, tree := Write, false
		if sub == "format-patch" {
			access, tree = Update, true
		}
		f.path(w, c.Dir, access, tree)
	case sub == "archive":
		f.acts--
		f.sees++
	case sub == "format-patch" && !c.Flag("--numbered-files", "--suffix"):
		f.add(Thing{Kind: Path, Name: path.Join(c.Dir, "*.patch"), Access: Write, Glob: true, Sure: 0.9})
	default:
		f.opaque(c.Dir)
	}
}

// worktree adds the working tree that is made or removed.
func (f *finder) worktree(c *shell.Call, ws []shell.Word, thing func(kind, name string, a Access)) {
	if len(ws) < 2 || ws[0].Value != "add" && ws[0].Value != "remove" && ws[0].Value != "move" {
		thing(Settings, "worktrees", Update)
		return
	}
	if ws[0].Value == "add" {
		f.path(ws[1], c.Dir, Write, true)
		thing(Commit, "HEAD", Read)
		if name, ok := c.FlagValue("-b", "-B"); ok {
			thing(Branch, name.Value, Write)
		}
		for _, w := range ws[2:] {
			thing(Branch, w.Value, Read)
		}
		return
	}
	f.path(ws[1], c.Dir, Remove, true)
	if len(ws) > 2 {
		f.path(ws[2], c.Dir, Write, true)
	}
}

// bisect adds the state of a search, which its reset takes back.
func (f *finder) bisect(ws []shell.Word, thing func(kind, name string, a Access)) {
	thing(Commit, "HEAD", Read)
	switch sub := append(ws, shell.Word{})[0].Value; sub {
	case "log", "view", "visualize", "terms", "help", "":
		f.acts--
		f.sees++
		thing(Bisect, "bisect", Read)
	case "reset":
		thing(Bisect, "bisect", Remove)
	case "start":
		thing(Bisect, "bisect", Write)
	default:
		thing(Bisect, "bisect", Update)
	}
}

// staged adds entries of the index for paths.
func (f *finder) staged(c *shell.Call, repo string, ws []shell.Word, a Access) {
	if c.Flag("-A", "--all", "-u", "--update", "-p", "--patch", "-i", "--interactive") && len(ws) == 0 {
		ws = []shell.Word{{Value: "."}}
	}
	for _, w := range ws {
		name, t, ok := f.named(w, c.Dir)
		if !ok {
			name, t = c.Dir, Thing{Tree: true}
		}
		f.add(Thing{Kind: Staged, Name: name, Access: a, Repo: repo, Sure: t.Sure, Tree: t.Tree || w.Value == "." || w.Value == ".." || strings.HasSuffix(w.Value, "/") || c.Flag("-A", "--all"), Glob: t.Glob})
		if a != Remove {
			f.add(Thing{Kind: Path, Name: name, Access: Read, Tree: true, Glob: t.Glob, Sure: 0.9})
		}
	}
}

func isRevision(v string) bool {
	return v == "HEAD" || strings.HasPrefix(v, "HEAD~") || strings.HasPrefix(v, "HEAD^") || strings.HasPrefix(v, "origin/") || strings.HasPrefix(v, "@")
}

func (f *finder) initialised(c, here *shell.Call) {
	f.acts++
	dir := f.repoDir(c, c.Dir)
	if at, ok := f.toldByGit(c, dir, "--git-dir", "GIT_DIR"); ok {
		f.add(Thing{Kind: Repository, Name: "repository", Access: Write, Repo: strings.TrimSuffix(at, "/.git")})
		f.add(Thing{Kind: Path, Name: at, Access: Write, Tree: true})
		return
	}
	if ws := shell.Operands(here.Args, "-b --initial-branch --template --separate-git-dir"); len(ws) > 0 {
		if d, ok := shell.Resolve(f.expand(ws[0]), dir, f.c.Home); ok {
			dir = d
			f.add(Thing{Kind: Directory, Name: dir, Access: Write, Sure: 0.8})
		}
	}
	f.add(Thing{Kind: Repository, Name: "repository", Access: Write, Repo: dir})
	if b, ok := here.FlagValue("-b", "--initial-branch"); ok {
		f.add(Thing{Kind: Branch, Name: b.Value, Access: Write, Repo: dir})
	}
	if here.Flag("--bare") {
		f.add(Thing{Kind: Path, Name: dir, Access: Write, Tree: true})
		return
	}
	f.add(Thing{Kind: Path, Name: path.Join(dir, ".git"), Access: Write, Tree: true})
}

// repoDir returns the directory to which -C leads a call of git that begins in dir.
func (f *finder) repoDir(c *shell.Call, dir string) string {
	before := c.Args[:len(c.Args)-len(c.After())]
	for i := 0; i+1 < len(before); i++ {
		if before[i].Value == "-C" {
			if d, ok := shell.Resolve(f.expand(before[i+1]), dir, f.c.Home); ok {
				return d
			}
		}
	}
	return dir
}

func (f *finder) cloned(c *shell.Call, after []shell.Word) {
	f.acts++
	ws := shell.Operands(after, "-b --branch --depth -o --origin -c --config --reference --filter -j --jobs")
	if len(ws) == 0 {
		return
	}
	dest := shell.Word{Value: strings.TrimSuffix(path.Base(strings.TrimSuffix(ws[0].Value, "/")), ".git"), Dynamic: ws[0].Dynamic}
	if i := strings.LastIndexByte(dest.Value, ':'); i >= 0 {
		dest.Value = dest.Value[i+1:]
	}
	if len(ws) > 1 {
		dest = ws[1]
	}
	if name, ok := shell.Resolve(f.expand(dest), c.Dir, f.c.Home); ok {
		f.add(Thing{Kind: Path, Name: name, Access: Write, Tree: true})
		f.add(Thing{Kind: Repository, Name: "repository", Access: Write, Repo: name})
		f.remoteAt("origin", ws[0], c.Dir, name)
	} else {
		f.opaque(c.Dir)
	}
	f.remote(c, ws[:1])
}

// remoteAt adds a remote with where it is: a path or an address of this machine, or "" if it is another one.
func (f *finder) remoteAt(name string, url shell.Word, dir, repo string) {
	t := Thing{Kind: Remote, Name: name, Access: Write, Repo: repo}
	switch w := f.expand(url); {
	case loopbackURL.MatchString(w.Value):
		t.Value = w.Value
	case strings.ContainsAny(w.Value, "/.") && !strings.Contains(w.Value, ":"):
		t.Value, _ = shell.Resolve(w, dir, f.c.Home)
	}
	f.add(t)
}

// loopbackURL matches addresses of services of this machine.
var loopbackURL = lazyregexp.New(`^(git|https?|ssh)://([^/@]*@)?(127\.[\d.]+|localhost|\[::1\])(:\d+)?/`)

// remote adds another repository of this machine that is fetched from or pushed to.
func (f *finder) remote(c *shell.Call, ws []shell.Word) {
	if len(ws) == 0 {
		return
	}
	v := ws[0].Value
	if strings.Contains(v, "://") && !strings.HasPrefix(v, "file://") || strings.Contains(v, "@") {
		return
	}
	v = strings.TrimPrefix(v, "file://")
	if !strings.ContainsAny(v, "/.") {
		return // the name of a remote
	}
	access := Read
	if c.Sub() == "push" {
		access = Update
	}
	f.path(shell.Word{Value: v, Dynamic: ws[0].Dynamic, Quoted: ws[0].Quoted}, f.repoDir(c, c.Dir), access, true)
	if name, ok := shell.Resolve(shell.Word{Value: v}, f.repoDir(c, c.Dir), f.c.Home); ok {
		f.add(Thing{Kind: Repository, Name: "repository", Access: Read, Repo: name, Sure: 0.8})
	}
}

// remoteOf returns the remote that a push or a fetch is told of, or that of a clone.
func remoteOf(ws []shell.Word) string {
	if len(ws) == 0 || ws[0].Dynamic {
		return "origin"
	}
	return ws[0].Value
}

// configured judges git config.
func (f *finder) configured(here *shell.Call, repo string) {
	ws := shell.Operands(here.Args, "-f --file --type --default")
	file, inFile := here.FlagValue("-f", "--file")
	unset := here.Flag("--unset", "--unset-all", "--remove-section")
	if !unset && (here.Flag("-l", "--list", "--get", "--get-all", "--get-regexp", "--show-origin") || len(ws) < 2 || ws[0].Value == "list" || ws[0].Value == "get") {
		f.acts--
		f.sees++
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
	f.add(Thing{Kind: Settings, Name: name, Access: access, Repo: repo, Value: value})
}
