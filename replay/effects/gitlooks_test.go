package effects

import (
	"slices"
	"strings"
	"testing"
)

// TestLooksOfGit has what a call of git reads beside its repository, where what it prints is kept.
func TestLooksOfGit(t *testing.T) {
	for command, want := range map[string]string{
		"git log --oneline":                    "commit HEAD",
		"git log":                              "commit HEAD; notes notes",
		"git log v1..rel -- f":                 "branch f; branch rel; branch v1; commit HEAD; notes notes; tag f; tag rel; tag v1",
		"git log --format=%h --all":            "branch *; commit HEAD; tag *",
		"git log --format='%h%d'":              "branch *; commit HEAD; tag *",
		"git log --oneline origin/main":        "branch main; branch origin; commit HEAD; tag main",
		"git rev-list --count @{u}..HEAD":      "branch origin; commit HEAD",
		"git rev-parse --short HEAD":           "commit HEAD",
		"git rev-parse --show-toplevel":        "",
		"git show v1:f":                        "branch v1; commit HEAD; tag v1",
		"git show :f":                          "commit HEAD; staged *",
		"git show -s --format=%s stash@{1}":    "commit HEAD; stash stash",
		"git cat-file -p HEAD~2:f":             "commit HEAD",
		"git describe --tags":                  "commit HEAD; tag *",
		"git tag -l":                           "tag *",
		"git tag --merged HEAD":                "commit HEAD; tag *",
		"git branch --show-current":            "branch *; commit HEAD",
		"git stash list":                       "stash stash",
		"git stash show -p":                    "stash stash",
		"git status":                           "commit HEAD; path /w; staged *",
		"git diff HEAD~1":                      "commit HEAD; path /w; staged *",
		"git diff HEAD~2 HEAD~1":               "commit HEAD; staged *",
		"git diff --no-index a b":              "path /w/a; path /w/b",
		"git ls-files":                         "commit HEAD; path /w; staged *",
		"git notes show":                       "commit HEAD; notes notes",
		"git reflog":                           "commit HEAD; stash stash",
		"git config --get user.name":           "settings *; settings global user.name",
		"git remote -v":                        "remote *; settings *",
		"git archive v1":                       "branch v1; commit HEAD; tag v1",
		"git bundle create - --all":            "branch *; commit HEAD; tag *",
		"git format-patch --stdout main..next": "branch main; branch next; commit HEAD; tag main; tag next",
		"git version":                          "",
	} {
		var got []string
		for _, th := range of("x=$(" + command + ")").Things {
			if th.Access == Read && th.Kind != Repository {
				got = append(got, th.Kind+" "+th.Name)
			}
		}
		if slices.Sort(got); strings.Join(got, "; ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", command, strings.Join(got, "; "), want)
		}
	}
}

// TestKept has lines that keep what git log prints, or let it decide, and lines that only show it.
func TestKept(t *testing.T) {
	for command, want := range map[string]bool{
		"git log": false, "git log | head -3": false, "git log > f": true, "git log | head -3 > f": true, "git log | tee f": true,
		"git log > /dev/null": false, "touch a; git log": false, "git log | xargs rm": true, "git log | xargs echo": false,
		"git log | while read a b; do echo $a; done": false, "git log | while read a b; do touch $a; done": true,
		"for r in a b; do git log $r | wc -l >> f; done": true, "cat f | while read r; do git log $r > $r.log; echo $r; done": true,
		"{ date; git log; } > f": true, "echo $(git log)": true, "diff <(git log) f": true, "git log | grep -q x && touch a": true,
		"f() { git log; }; f": false, "f() { git log; }; f > g": true, "sh -c 'git log' > f": true, "if git log -q v1; then touch a; fi": true,
		"git log | head > f; ls | wc": true, "git log | head; ls | wc > f": false,
	} {
		if got := slices.ContainsFunc(of(command).Things, func(t Thing) bool { return t.Kind == Commit }); got != want {
			t.Errorf("%s: kept %t, want %t", command, got, want)
		}
	}
}
