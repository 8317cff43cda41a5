package effects

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// shown has, by subcommand of git, what it prints something of where it only looks: kinds of things of the repository,
// and "tree" for the working tree. Of a subcommand that is not listed it is the commits.
var shown = map[string]string{
	"describe": "commit tag", "name-rev": "commit tag branch", "status": "commit staged tree", "diff": "commit staged tree", "difftool": "commit staged tree",
	"ls-files": "commit staged tree", "grep": "commit staged tree", "blame": "commit tree", "annotate": "commit tree", "submodule": "commit staged tree",
	"apply": "staged tree", "clean": "commit staged tree", "check-ignore": "settings tree", "reflog": "commit stash",
	"for-each-ref": "commit branch tag stash notes", "show-ref": "commit branch tag stash notes", "fsck": "commit staged branch tag stash notes", "count-objects": "commit staged stash notes",
	"branch": "commit branch", "symbolic-ref": "commit branch", "worktree": "commit branch", "ls-remote": "commit branch tag", "tag": "tag", "stash": "stash",
	"notes": "commit notes", "config": "settings", "var": "settings", "remote": "settings remote", "bisect": "bisect", "help": "", "version": "", "bugreport": "",
}

// places are flags of git rev-parse that ask where a repository is, or what kind it is, whatever is in it.
const places = "--show-toplevel --show-cdup --show-prefix --git-dir --absolute-git-dir --git-common-dir --git-path --is-inside-work-tree --is-inside-git-dir " +
	"--is-bare-repository --is-shallow-repository --show-superproject-working-tree --show-object-format --show-ref-format --local-env-vars --parseopt --sq-quote --resolve-git-dir"

// shows adds what a call reads that prints something of the repository.
func (g *gitCall) shows(sub string) {
	f, here := g.f, g.here
	if sub == "rev-parse" && here.Flag(strings.Fields(places)...) {
		return
	}
	kept := f.keeps(g.c)
	see := func(kind, name string, sure float64) {
		f.see(Thing{Kind: kind, Name: name, Access: Read, Repo: g.repo, Sure: sure}, kept)
	}
	kinds, listed := shown[sub]
	if !listed {
		kinds = "commit"
	}
	words := g.words
	for _, kind := range strings.Fields(kinds) {
		switch {
		case kind == "tree":
			if here.Flag("--cached", "--staged") || sub == "diff" && betweenCommits(words) {
				continue
			}
			f.see(Thing{Kind: Path, Name: g.worktree, Access: Read, Tree: true, Sure: 0.6}, kept)
		case kind == Commit:
			see(Commit, "HEAD", 0)
		case kind == "stash" || kind == "notes" || kind == Bisect:
			see(kind, kind, 0)
		default:
			see(kind, "*", 0)
		}
	}
	switch sub {
	case "tag":
		if here.Flag("-n", "-v", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--sort", "--format") {
			see(Commit, "HEAD", 0)
		}
	case "stash", "notes", "submodule", "worktree", "bisect":
		words = words[min(1, len(words)):] // the first says what to show
	case "config":
		for _, w := range words {
			f.see(Thing{Kind: Settings, Name: "global " + w.Value, Access: Read, Repo: "~"}, kept)
		}
		return
	case "log", "show", "whatchanged", "rev-list", "shortlog", "rev-parse":
		g.decorated(sub, see)
	}
	for _, w := range words {
		if w.Dynamic || w.Glob {
			continue
		}
		for _, name := range revisionsIn(w.Value) {
			switch {
			case name == ":":
				see(Staged, "*", 0)
			case name == "stash":
				see("stash", "stash", 0)
			case name == "origin":
				see(Branch, name, 0)
			default:
				see(Branch, name, 0.6)
				see(Tag, name, 0.6)
			}
		}
	}
	if slices.ContainsFunc(g.c.Args, func(w shell.Word) bool { return strings.Contains(w.Value, "bisect/") }) {
		f.add(Thing{Kind: Bisect, Name: "bisect", Access: Read, Repo: g.repo})
	}
}

// decorated adds what a log shows beside the commits: names of branches and tags, and notes.
func (g *gitCall) decorated(sub string, see func(kind, name string, sure float64)) {
	format, given := "", g.here.Flag("--oneline")
	for _, flag := range []string{"--format", "--pretty"} {
		if w, ok := g.here.FlagValue(flag); ok {
			format, given = w.Value, true
		}
	}
	if g.here.Flag("--all", "--branches", "--tags", "--remotes", "--glob", "--decorate", "--source") || strings.Contains(format, "%d") || strings.Contains(format, "%D") {
		see(Branch, "*", 0)
		see(Tag, "*", 0)
	}
	if g.here.Flag("-g", "--walk-reflogs") {
		see("stash", "stash", 0)
	}
	file := slices.ContainsFunc(g.words, func(w shell.Word) bool { return strings.Contains(w.Value, ":") })
	if g.here.Flag("--notes") || strings.Contains(format, "%N") || !given && !file && (sub == "log" || sub == "show" || sub == "whatchanged") && !g.here.Flag("--no-notes") {
		see("notes", "notes", 0)
	}
}

// betweenCommits reports whether the operands of git diff are two commits, so that the working tree does not matter.
func betweenCommits(words []shell.Word) bool {
	commits := 0
	for _, w := range words {
		switch {
		case strings.Contains(w.Value, "..") && !strings.HasPrefix(w.Value, "../") && w.Value != "..":
			return true
		case isRevision(w.Value):
			commits++
		}
	}
	return commits > 1
}

// revisionsIn returns the names of branches and tags that a word may have: main~2, v1:f, ^main, v1..v2. ":" stands for
// the index, "stash" for the stash, and "origin" for what was fetched.
func revisionsIn(v string) (names []string) {
	for _, part := range strings.Split(strings.ReplaceAll(strings.TrimPrefix(v, "^"), "...", ".."), "..") {
		at, _, inside := strings.Cut(part, ":")
		if inside && (at == "" || len(at) == 1 && at[0] >= '0' && at[0] <= '3') {
			names = append(names, ":")
			continue
		}
		name := at
		if i := strings.IndexAny(name, "~^"); i >= 0 {
			name = name[:i]
		}
		name, upstream, _ := strings.Cut(name, "@{")
		for _, before := range []string{"refs/", "heads/", "tags/", "remotes/"} {
			name = strings.TrimPrefix(name, before)
		}
		if fetched, ok := strings.CutPrefix(name, "origin/"); ok || name == "FETCH_HEAD" || strings.HasPrefix(upstream, "u") {
			names = append(names, "origin")
			name = fetched
		}
		switch name {
		case "", "HEAD", "@", "FETCH_HEAD", ".", "/":
		default:
			names = append(names, name)
		}
	}
	return names
}
