package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/replay/transform"
)

// withoutCd returns a line without the cd to its own directory that it begins with: agents write cd ~/app && git add f
// whether they are there or not.
func withoutCd(l *shell.Line, cwd, home string) *shell.Line {
	if l == nil || len(l.Calls) < 2 {
		return l
	}
	c := &l.Calls[0]
	if c.Name != "cd" || len(c.Args) != 1 || c.Inner || c.Apart || c.Maybe || c.Deferred {
		return l
	}
	if to, ok := shell.Resolve(c.Args[0], cwd, home); !ok || to != cwd {
		return l
	}
	rest := *l
	rest.Calls = l.Calls[1:]
	return &rest
}

// onlyGit returns the call of git if a line consists of one, beside calls that only display something: git add f && git
// status. after is what it is called with behind its subcommand.
func onlyGit(l *shell.Line) (call, after *shell.Call, ok bool) {
	if l == nil || len(l.Redirects) > 0 || l.Background {
		return nil, nil, false
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		if len(l.Calls) > 1 && (displays[c.Name] || c.Name == "git" && (effects.LooksByGit(c.Sub()) || c.Flag("--show-current-patch"))) {
			continue
		}
		if call != nil || c.Name != "git" || len(l.Calls) > 1 && (c.Maybe || c.Apart || c.Inner || c.Piped || c.Drained) {
			return nil, nil, false
		}
		call = c
	}
	if call == nil {
		return nil, nil, false
	}
	return call, &shell.Call{Name: "git", Args: call.After(), Dir: call.Dir}, true
}

// begins returns the subcommand of git that an act runs: of a line that is one call of it, or of a function that ends
// with one. It is empty for other acts.
func begins(a *act) string {
	if sub := gitSub(a.Line); sub != "" || a.Line == nil {
		return sub
	}
	outer := 0
	for _, c := range a.Line.Calls {
		if c.Inner {
			continue
		}
		if outer++; outer > 1 || !slices.Contains(a.Followed, c.Name) {
			return ""
		}
	}
	return a.Ends
}

// addsPlainly reports whether a line is a git add of paths without flags, which does nothing if there is
// nothing to add.
func addsPlainly(l *shell.Line) bool {
	c, here, ok := onlyGit(l)
	return ok && (c.Sub() == "add" || c.Sub() == "stage") &&
		!here.Flag("-f", "--force", "-N", "--intent-to-add", "-p", "--patch", "-i", "--interactive", "-e", "--edit", "--chmod", "-n", "--dry-run", "--renormalize", "--pathspec-from-file")
}

// stagesAgain marks staged paths as gone when a directory above them is staged as a whole.
func (w *world) stagesAgain(a *act, t effects.Thing) {
	if c, _, ok := onlyGit(a.Line); t.Kind != effects.Staged || !t.Tree || !ok || c.Sub() != "add" {
		return
	}
	if !addsPlainly(a.Line) {
		return
	}
	for _, list := range w.exact {
		for _, o := range list {
			if o.gone < 0 && o.act != a.at && o.thing.Kind == effects.Staged && o.thing.Access == effects.Write && covers(t, o.thing) && addsPlainly(w.acts[o.act].Line) {
				o.gone = a.at
			}
		}
	}
}

// refused reports whether git refused to continue a merge or rebase because nothing was staged since it
// stopped.
func (w *world) refused(a *act) bool {
	c, here, ok := onlyGit(a.Line)
	if !ok || !here.Flag("--continue") {
		return false
	}
	for _, b := range slices.Backward(w.acts) {
		if b.Cwd != a.Cwd && b.Workspace != a.Workspace {
			continue
		}
		switch sub := begins(b); {
		case sub == c.Sub() || sub == "pull" && (c.Sub() == "rebase" || c.Sub() == "merge"):
			return true
		case b.Looks || b.Navigates || b.Checks, len(b.Opaque) == 0 && len(b.Things) > 0 && !slices.ContainsFunc(b.Things, func(t effects.Thing) bool {
			return t.Kind == effects.Staged || t.Kind == effects.Commit || t.Kind == effects.Repository
		}):
		default:
			return false
		}
	}
	return false
}

// gitSetting returns the KEY=VALUE that a git config line sets in the repository.
func gitSetting(text, in string) (string, bool) {
	l, err := shell.Read(text, in, "")
	if err != nil {
		return "", false
	}
	c, here, ok := onlyGit(l)
	if !ok || c.Sub() != "config" || here.Flag("--add", "--replace-all", "--global", "--system", "--file", "-f", "--worktree", "--type", "--bool", "--int", "--path", "--unset", "--unset-all") {
		return "", false
	}
	ws := shell.Operands(here.Args, "")
	if len(ws) == 3 && ws[0].Value == "set" {
		ws = ws[1:]
	}
	if len(ws) != 2 || ws[0].Dynamic || ws[1].Dynamic || ws[1].Glob || strings.ContainsAny(ws[0].Value, "=\n") || strings.Contains(ws[1].Value, "[redacted:") {
		return "", false
	}
	return ws[0].Value + "=" + ws[1].Value, true
}

// moves adds the postconditions of a line that moves HEAD to a branch or merges a branch into it. It
// reports false for other lines.
func (b *builder) moves(i int, a *act, add func(replay.Postcondition, effects.Thing)) bool {
	c, here, ok := onlyGit(a.Line)
	if !ok {
		return false
	}
	head := func(name string) bool {
		p := replay.Postcondition{Kind: replay.PostHead, Target: b.m.Name(transform.Branch, name)}
		add(p, effects.Thing{Kind: headOf, Repo: a.Cwd, Name: name})
		return true
	}
	switch c.Sub() {
	case "cherry-pick":
		ok := len(here.Args) == 1 && !here.Args[0].Dynamic && b.isBranch(here.Args[0].Value)
		if ok {
			name := here.Args[0].Value
			add(replay.Postcondition{Kind: replay.PostPicked, Target: b.m.Name(transform.Branch, name)}, branchOf(a, name))
		}
		return ok
	case "revert":
		subject, ok := b.subjectBefore(i, a)
		if ok = ok && len(here.Args) == 2 && here.Flag("--no-edit") && shell.Operands(here.Args, "")[0].Value == "HEAD"; ok {
			message := `Revert "` + subject + `"`
			add(replay.Postcondition{Kind: replay.PostCommit, Target: message}, effects.Thing{Kind: "message", Name: message})
		}
		return ok
	case "checkout", "switch":
		if name, ok := here.FlagValue("-b", "-c"); ok {
			return !name.Dynamic && head(name.Value)
		}
		if len(here.Args) == 0 || here.Flag("-B", "-C", "--orphan", "--detach", "-d", "-f", "--force", "-m", "--merge", "-p", "--patch", "--theirs", "--ours", "-t", "--track", "--discard-changes") {
			return false
		}
		ws := shell.Operands(here.Args, "")
		return len(ws) == 1 && !ws[0].Dynamic && b.isBranch(ws[0].Value) && head(ws[0].Value)
	case "merge", "rebase":
		if here.Flag("--abort", "--continue", "--skip", "--quit", "--squash", "--no-commit", "--onto", "-i", "--interactive", "--root", "-x", "--exec", "--autosquash") {
			return false
		}
		ws := shell.Operands(here.Args, "-m -X -s -F --strategy --strategy-option")
		if len(ws) != 1 || ws[0].Dynamic || !b.isBranch(ws[0].Value) {
			return false
		}
		add(replay.Postcondition{Kind: replay.PostCommit, Hash: b.m.Name(transform.Branch, ws[0].Value)}, branchOf(a, ws[0].Value))
		return true
	}
	return false
}

// branchOf returns the branch that an act names, unless the branch is removed later: then its name proves
// nothing.
func branchOf(a *act, name string) effects.Thing {
	for _, t := range a.Things {
		if t.Kind == effects.Branch && t.Name == name {
			return t
		}
	}
	return effects.Thing{Kind: "taken", Repo: a.Cwd, Name: name}
}

// subjectBefore returns the subject of the commit at HEAD when an act runs, if the last act before it
// that moves HEAD is a commit whose message is known.
func (b *builder) subjectBefore(i int, a *act) (string, bool) {
	for j := i - 1; j >= 0; j-- {
		o := b.w.acts[j]
		if !slices.ContainsFunc(o.Things, func(t effects.Thing) bool { return t.Kind == effects.Commit && t.Access != effects.Read }) {
			continue
		}
		if _, _, ok := onlyGit(o.Line); !ok || o.Cwd != a.Cwd || o.failed || !b.s.kept[j] {
			return "", false
		}
		subject, ok := commitMessage(o.Line)
		return subject, ok && subject != "" && !strings.Contains(subject, `"`)
	}
	return "", false
}

// stashed returns "push" if a line stashes all changes, "pop" if it pops the last stash, and otherwise "".
func stashed(l *shell.Line) string {
	c, here, ok := onlyGit(l)
	if !ok || c.Sub() != "stash" {
		return ""
	}
	does := "push"
	for i, a := range here.Args {
		switch v := a.Value; {
		case i == 0 && (v == "push" || v == "pop"):
			does = v
		case v == "-q", v == "--quiet", v == "--index" && does == "pop", v == "-u" && does == "push", v == "--include-untracked" && does == "push":
		default:
			return ""
		}
	}
	return does
}

// headOf is the kind of thing that HEAD is; see replacer.
const headOf = "head"

// isBranch reports whether a name can be that of a branch rather than a path.
func (b *builder) isBranch(name string) bool {
	if slices.Contains([]string{"main", "master", "trunk", "develop"}, name) {
		return true
	}
	for _, a := range b.w.acts {
		for _, t := range a.Things {
			if t.Kind == effects.Branch && t.Access == effects.Write && t.Name == name {
				return true
			}
		}
	}
	return false
}

// moveAfter returns the next act of the plan after i that moves HEAD to another branch in the same
// directory, -1 if none does.
func (b *builder) moveAfter(i int, t effects.Thing) int {
	for j := i + 1; j < len(b.w.acts); j++ {
		a := b.w.acts[j]
		if !b.s.kept[j] || a.Cwd != t.Repo {
			continue
		}
		if c, _, ok := onlyGit(a.Line); ok && (c.Sub() == "checkout" || c.Sub() == "switch") {
			return j
		}
	}
	return -1
}

// committer returns the first kept act after i that commits what was staged, -1 if none does or t is nothing staged.
func (b *builder) committer(i int, t effects.Thing) int {
	if t.Kind != effects.Staged {
		return -1
	}
	for j := i + 1; j < len(b.w.acts); j++ {
		a := b.w.acts[j]
		if _, here, ok := onlyGit(a.Line); ok && b.s.kept[j] && !a.failed && gitSub(a.Line) == "commit" && !here.Flag("--amend") && slices.ContainsFunc(a.Things, func(c effects.Thing) bool {
			return c.Kind == effects.Commit && c.Access == effects.Update && c.Repo == t.Repo
		}) {
			return j
		}
	}
	return -1
}

// committedAlready reports whether an act makes an empty commit with the message of one that a kept act before it made.
func (b *builder) committedAlready(i int, message string) bool {
	_, here, ok := onlyGit(b.w.acts[i].Line)
	return ok && here.Flag("--allow-empty") && slices.ContainsFunc(b.w.acts[:i], func(a *act) bool {
		before, ok := commitMessage(a.Line)
		return ok && b.s.kept[a.at] && before == message
	})
}

// beginsAgain takes what git init does to a repository that was there already for what it was seen to do, or else for
// something in its directory: it copies new templates and changes nothing else.
func (w *world) beginsAgain(a *act) {
	for i := range a.Things {
		t := &a.Things[i]
		if a.failed || t.Kind != effects.Repository || t.Access != effects.Write || !a.begins(t.Repo) {
			continue
		}
		looked := a.seen != nil && within(t.Repo, a.seen.Below)
		if looked && (a.seen.has(path.Join(t.Repo, ".git/HEAD")) || a.seen.has(path.Join(t.Repo, "HEAD"))) || !looked && !w.hasRepository(a, t.Repo) {
			continue
		}
		repo := t.Repo
		t.Access = effects.Read
		a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool {
			return t.Access == effects.Write && (isPath(t) && (t.Name == repo || t.Name == path.Join(repo, ".git")) || t.Kind == effects.Branch && t.Repo == repo)
		})
		if !looked {
			a.Things = append(a.Things, effects.Thing{Kind: effects.Path, Name: path.Join(repo, ".git"), Access: effects.Update, Tree: true, Sure: 0.7})
			return
		}
		some := false
		for _, name := range slices.Sorted(maps.Keys(a.seen.Files)) {
			if within(name, repo) && !passing(name) {
				a.Things = append(a.Things, effects.Thing{Kind: effects.Path, Name: name, Access: effects.Update, Sure: 0.95})
				some = true
			}
		}
		if _, _, only := onlyGit(a.Line); only && !some {
			a.Looks = true
		}
		return
	}
}

// hasRepository reports whether the acts before one tell that a directory has a repository: the last of them that names
// something below its .git found or left it there.
func (w *world) hasRepository(a *act, dir string) bool {
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.ExitCode != nil && *b.ExitCode != 0 {
			continue
		}
		for _, t := range b.Things {
			if isPath(t) && within(t.Name, path.Join(dir, ".git")) {
				return t.Access != effects.Remove
			}
			if isPath(t) && t.Access == effects.Remove && within(dir, t.Name) {
				return false
			}
		}
	}
	return false
}

// amendsAgain marks an amended commit as replaced where an act amends it once more with a message of its own, and nothing
// was done to the repository in between.
func (w *world) amendsAgain(a *act) {
	if !amends(a) {
		return
	}
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.failed || b.ended || len(b.writes) == 0 {
			continue
		}
		if _, here, _ := onlyGit(b.Line); amends(b) && b.Cwd == a.Cwd && !here.Flag("-a", "--all") && len(shell.Operands(here.Args, "-m --message")) == 0 {
			for _, o := range b.writes {
				o.gone = a.at
			}
		}
		return
	}
}

// amends reports whether an act does nothing but amend a commit, with a message and what was staged.
func amends(a *act) bool {
	c, here, ok := onlyGit(a.Line)
	return ok && c.Sub() == "commit" && here.Flag("--amend") && here.Flag("-m", "--message") &&
		!here.Flag("--author", "--date", "--reset-author", "-C", "-c", "--reuse-message", "-s", "--signoff", "--trailer")
}

// remotes adds the repositories of this machine that an act pushes to or fetches from by the name of a remote, which an
// earlier act gave them.
func (w *world) remotes(a *act) {
	for _, t := range a.Things {
		name, access := t.Name, effects.Read
		switch t.Kind {
		case "pushed":
			name, access = t.Value, effects.Update
		case effects.Fetched:
		default:
			continue
		}
		for _, o := range slices.Backward(w.exact[key(effects.Thing{Kind: effects.Remote, Repo: t.Repo, Name: name})]) {
			if o.thing.Access != effects.Remove && o.gone < 0 && strings.HasPrefix(o.thing.Value, "/") {
				a.Things = append(a.Things, effects.Thing{Kind: effects.Path, Name: o.thing.Value, Access: access, Tree: true, Sure: 0.8})
				if access == effects.Read {
					repo := w.repo(o.thing.Value, a.Workspace, &o.thing)
					a.Things = append(a.Things, effects.Thing{Kind: effects.Commit, Name: "HEAD", Access: access, Repo: repo, Sure: 0.8})
				}
				break
			}
		}
	}
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Fetched })
}

// addsTree notes the working tree that an act adds to a repository.
func (w *world) addsTree(a *act) {
	adds := a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		after := c.After()
		return c.Name == "git" && c.Sub() == "worktree" && len(after) > 0 && after[0].Value == "add"
	})
	at := slices.IndexFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Commit })
	for _, t := range a.Things {
		if adds && at >= 0 && t.Kind == effects.Path && t.Access == effects.Write && t.Tree {
			w.trees[t.Name] = a.Things[at].Repo
		}
	}
}

// makesAndRemoves leaves out the tags and branches that an act makes and removes again: git tag x && git tag -d x.
func (a *act) makesAndRemoves() {
	for i := 0; i < len(a.Things); i++ {
		t := a.Things[i]
		if t.Access != effects.Write || t.Kind != effects.Tag && t.Kind != effects.Branch {
			continue
		}
		for j := i + 1; j < len(a.Things); j++ {
			if a.Things[j].Access == effects.Remove && key(a.Things[j]) == key(t) {
				a.Things = slices.Delete(slices.Delete(slices.Clone(a.Things), j, j+1), i, i+1)
				i--
				break
			}
		}
	}
}

// setting returns what the acts so far set of git for a directory: by its repository, or for the user. It is "" if they
// did not, or what they set is not known.
func (w *world) setting(name, dir string) string {
	last := func(t effects.Thing) *write {
		for _, o := range slices.Backward(w.exact[key(t)]) {
			if o.gone < 0 && o.thing.Access == effects.Write {
				return o
			}
		}
		return nil
	}
	for ; len(dir) > 1; dir = path.Dir(dir) {
		if o := last(effects.Thing{Kind: effects.Settings, Repo: dir, Name: name}); o != nil {
			return o.thing.Value
		}
	}
	if o := last(effects.Thing{Kind: effects.Settings, Repo: "~", Name: "global " + name}); o != nil {
		return o.thing.Value
	}
	return ""
}
