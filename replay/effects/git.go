package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// repo adds the repository that a call of git works in: that of --git-dir or $GIT_DIR, or else the one around its
// directory. It returns its name, and the directory of its working tree.
func (f *finder) repo(c *shell.Call) (name, worktree string) {
	dir := f.repoDir(c, c.Dir)
	name, worktree = dir, dir
	if at, ok := f.toldByGit(c, dir, "--git-dir", "GIT_DIR"); ok {
		name = strings.TrimSuffix(at, "/.git")
		if tree, ok := f.toldByGit(c, dir, "--work-tree", "GIT_WORK_TREE"); ok {
			worktree = tree
		}
	}
	f.add(Thing{Kind: Repository, Name: "repository", Access: Read, Repo: name})
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
	f.acts++
	f.inRepository(c).judge(sub)
}

// inRepository returns a call of git in a repository, and adds that.
func (f *finder) inRepository(c *shell.Call) *gitCall {
	repo, worktree := f.repo(c)
	after := c.After()
	return &gitCall{
		f: f, c: c, repo: repo, worktree: worktree,
		here:  &shell.Call{Name: "git", Args: after, Dir: f.repoDir(c, c.Dir)},
		words: shell.Operands(after, "-m -F -C -c --author --date --message -b -B -X -s --onto --depth -o -S -n --format --upstream"),
	}
}

// LooksByGit reports whether a subcommand of git changes nothing.
func LooksByGit(sub string) bool { return lookingSubs["git"][sub] }

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
		if access == Read {
			f.add(Thing{Kind: Commit, Name: "HEAD", Access: Read, Repo: name, Sure: 0.8})
			f.add(Thing{Kind: Branch, Name: "*", Access: Read, Repo: name, Sure: 0.8})
			f.add(Thing{Kind: Tag, Name: "*", Access: Read, Repo: name, Sure: 0.8})
		}
	}
}

// remoteOf returns the remote that a push or a fetch is told of, or that of a clone.
func remoteOf(ws []shell.Word) string {
	if len(ws) == 0 || ws[0].Dynamic {
		return "origin"
	}
	return ws[0].Value
}
