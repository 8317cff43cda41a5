package transform

import (
	"slices"
	"strings"
)

// branches returns where a branch certainly stands in a word of git or gh: where a revision or the name of a branch is
// taken. It also reports whether the word may name the branch otherwise.
func branches(v, name string, at place) (sure []int, unsure bool) {
	if at.call == nil || at.index < 0 {
		return nil, v == name
	}
	before := ""
	if at.index > 0 {
		before = at.call.Args[at.index-1].Value
	}
	flag, value, assigned := strings.Cut(v, "=")
	assigned = assigned && strings.HasPrefix(v, "-")
	switch sub := at.call.Sub(); {
	case strings.ContainsAny(v, " \n"):
		return nil, false
	case at.call.Name == "gh":
		if takesBranch(flag, "gh") && assigned {
			return inValue(flag, value, name)
		}
		if takesBranch(before, "gh") {
			return inRevision(v, name, false)
		}
		return nil, v == name
	case at.call.Name != "git":
		return nil, v == name
	case at.index < len(at.call.Args)-len(at.call.After()):
		if key, value, _ := strings.Cut(v, "="); strings.EqualFold(key, "init.defaultBranch") && value == name {
			return []int{len(key) + 1}, false
		}
		return nil, false // git -C main
	case assigned:
		if takesBranch(flag, sub) {
			return inValue(flag, value, name)
		}
		return nil, false
	case takesBranch(before, sub):
		return inRevision(v, name, false)
	case takesOther(before, sub):
		return nil, v == name
	default:
		return ofOperand(v, name, sub, at)
	}
}

// inValue is inRevision for the value of --flag=value.
func inValue(flag, value, name string) (sure []int, unsure bool) {
	sure, unsure = inRevision(value, name, false)
	for i := range sure {
		sure[i] += len(flag) + len("=")
	}
	return sure, unsure
}

// ofOperand is branches for an operand of a subcommand of git.
func ofOperand(v, name, sub string, at place) (sure []int, unsure bool) {
	n := 0 // operands before it
	args := at.call.Args[:at.index]
	for i := len(at.call.Args) - len(at.call.After()); i < len(args); i++ {
		switch w := args[i].Value; {
		case w == "--":
			return nil, false // a path
		case takesBranch(w, sub), takesOther(w, sub):
			i++
		case !strings.HasPrefix(w, "-"):
			n++
		}
	}
	switch {
	case fileSubs[sub]:
		return nil, false
	case sub == "config":
		if strings.HasPrefix(v, "branch."+name+".") {
			return []int{len("branch.")}, false
		}
		if n > 0 && (strings.EqualFold(args[len(args)-1].Value, "init.defaultBranch") || strings.HasPrefix(v, "refs/heads/")) {
			return inRevision(v, name, false)
		}
		return nil, v == name
	case (sub == "checkout" || sub == "reset" || sub == "archive" || sub == "ls-tree") && n > 0, sub == "worktree" && n == 1:
		return nil, false // a path
	case sub == "push" || sub == "fetch" || sub == "pull":
		if n == 0 {
			return nil, v == name // the remote
		}
		return inRevision(v, name, true)
	case sub == "tag" && n == 0, !revisionSubs[sub]:
		sure, unsure = inRevision(v, name, false)
		return nil, unsure || len(sure) > 0
	}
	return inRevision(v, name, false)
}

// fileSubs has the subcommands of git whose operands are files or addresses.
var fileSubs = map[string]bool{
	"add": true, "stage": true, "rm": true, "mv": true, "clean": true, "commit": true, "restore": true, "ls-files": true, "apply": true, "am": true, "init": true,
	"clone": true, "check-ignore": true, "check-attr": true, "hash-object": true, "update-index": true, "mergetool": true, "submodule": true, "lfs": true,
}

// revisionSubs has those whose operands before -- are revisions or branches, where they are no longer names of files.
var revisionSubs = map[string]bool{
	"branch": true, "checkout": true, "switch": true, "merge": true, "rebase": true, "cherry-pick": true, "revert": true, "reset": true, "log": true, "show": true, "diff": true,
	"tag": true, "worktree": true, "rev-parse": true, "rev-list": true, "merge-base": true, "describe": true, "archive": true, "ls-tree": true, "cat-file": true,
	"format-patch": true, "range-diff": true, "cherry": true, "shortlog": true, "whatchanged": true, "bundle": true, "name-rev": true, "symbolic-ref": true,
	"update-ref": true, "show-ref": true, "show-branch": true, "diff-tree": true, "difftool": true, "bisect": true, "notes": true, "ls-remote": true,
}

// branchFlags are the flags of git and gh with a branch or a revision as their value, by subcommand; those of "" are of
// all.
var branchFlags = map[string]string{
	"":         "--onto --contains --no-contains --merged --no-merged --points-at --set-upstream-to --upstream --orphan --source --initial-branch --branch --reuse-message --reedit-message --fixup",
	"checkout": "-b -B", "switch": "-c -C --create --force-create", "worktree": "-b -B", "clone": "-b", "init": "-b", "restore": "-s", "commit": "-c -C",
	"gh": "-B --base -H --head --ref --branch",
}

// otherFlags are those with another value.
var otherFlags = map[string]string{
	"":       "-F --file --message --author --date --grep -G -L --since --until --after --before --format --pretty -X --strategy --strategy-option --depth -o --output --prefix -O -x --exec",
	"commit": "-m -t --template", "merge": "-m -s", "tag": "-m", "stash": "-m", "notes": "-m", "cherry-pick": "-m -s", "revert": "-m -s", "rebase": "-s", "pull": "-s",
	"log": "-S", "diff": "-S", "show": "-S", "push": "--repo --receive-pack",
}

func takesBranch(flag, sub string) bool { return hasFlag(branchFlags, flag, sub) }

func takesOther(flag, sub string) bool { return hasFlag(otherFlags, flag, sub) }

// hasFlag reports whether a word is one of some flags, or several with one of them as the last: -qb.
func hasFlag(flags map[string]string, flag, sub string) bool {
	if len(flag) > 2 && flag[0] == '-' && flag[1] != '-' {
		flag = "-" + flag[len(flag)-1:]
	}
	return strings.HasPrefix(flag, "-") && (slices.Contains(strings.Fields(flags[""]), flag) || slices.Contains(strings.Fields(flags[sub]), flag))
}

// heads are what may stand before the name of a branch.
var heads = []string{"refs/heads/", "heads/", "refs/remotes/origin/", "remotes/origin/", "origin/", "refs/remotes/upstream/", "remotes/upstream/", "upstream/"}

// inRevision returns where a branch stands in a revision, as in main, origin/main~2, dev..main and main:file, or in a
// refspec. It also reports whether it may be that of another remote: fork/main.
func inRevision(v, name string, refspec bool) (sure []int, unsure bool) {
	for at := 0; ; {
		n := strings.Index(v[at:], name)
		if n < 0 {
			return sure, unsure && len(sure) == 0
		}
		from := at + n
		at = from + len(name)
		before, after := v[:from], v[at:]
		if after != "" && !slices.ContainsFunc([]string{":", "..", "~", "^", "@{"}, func(s string) bool { return strings.HasPrefix(after, s) }) {
			continue
		}
		if !refspec && strings.Contains(before, ":") {
			return sure, unsure && len(sure) == 0 // a path
		}
		start := strings.LastIndexAny(before, ":^+") + 1
		if i := strings.LastIndex(before, ".."); i >= 0 {
			start = max(start, i+len(".."))
		}
		switch remote := before[start:]; {
		case remote == "" || slices.Contains(heads, remote):
			sure = append(sure, from)
		case strings.Count(remote, "/") == 1 && strings.HasSuffix(remote, "/"):
			unsure = true
		}
	}
}
