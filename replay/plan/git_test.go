package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestGitPostconditions looks at what tells that a line of git was done: kind, target and the step that
// replaces it.
func TestGitPostconditions(t *testing.T) {
	lines := []string{
		"git init -q -b main .",
		"git config user.email ann@example.com",
		"git config set user.name 'Ann A'",
		"echo 1 > a.txt",
		"git add a.txt",
		"git commit -qm one",
		"git checkout -q -b feature",
		"echo 2 > b.txt",
		"git add .",
		"git commit -qm two",
		"git checkout -q main",
		"git merge -q --no-ff -m merged feature",
		"git add -f a.txt",
		"git add *.txt",
		"git config --global core.editor vi",
		"git checkout a.txt",
		"git switch --detach main",
		"git rebase --onto main feature",
		"git commit -qm three",
		"git revert --no-edit HEAD",
		"git cherry-pick feature",
		"git branch -d feature",
		"git tag -d v1",
		"git stash list -p",
		"git stash pop stash@{1}",
		"ln -s a.txt l",
		"git commit -q --allow-empty -m one",
		"git tag v2",
		"git tag -f -a v2 -m two",
		"git branch -f stable HEAD~1",
	}
	want := []string{
		"file/home/ann/app/.git branch=main", "setting=user.email=ann@example.com", "setting=user.name=Ann A", "", "staged=/home/ann/app/a.txt>5", "commit=one",
		"branch=feature head=feature>10", "", "staged=/home/ann/app>9", "commit=two",
		"head=main>", "commit:feature", "none=", "none=", "none=", "", "none=", "none=",
		"commit=three", `commit=Revert_"three"`, "picked=feature", "no-branch=feature", "no-tag=v1", "", "none=", "link=/home/ann/app/l", "none=",
		"tag=v2", "none=", "none=",
	}
	p := made(t, narrative(lines...), Request{All: true})
	for _, s := range p.Steps {
		i := -1
		for k, l := range lines {
			if l == s.Original {
				i = k
			}
		}
		if want[i] == "" {
			continue
		}
		for _, w := range strings.Fields(strings.ReplaceAll(want[i], "Ann A", "Ann_A")) {
			w = strings.NewReplacer("Ann_A", "Ann A", "t_\"", "t \"").Replace(w)
			found, has := false, []string{}
			for _, post := range s.Post {
				text := post.Kind + "=" + post.Target
				if post.Kind == replay.PostCommit && post.Hash != "" {
					text = post.Kind + ":" + post.Hash
				}
				if post.ReplacedBy != nil && (post.Kind == replay.PostHead || post.Kind == replay.PostStaged) {
					text += fmt.Sprintf(">%d", *post.ReplacedBy)
				}
				has = append(has, text)
				found = found || text == w || strings.HasSuffix(w, ">") && strings.HasPrefix(text, w[:len(w)-1]) || strings.HasPrefix(w, "file") && strings.HasSuffix(text, ".git")
			}
			if !found {
				t.Errorf("%s: %q, want %s", s.Original, has, w)
			}
		}
	}
}

// TestRemovalLeavesTheRepository checks that git rm -r . takes back nothing that was seen to change in .git.
func TestRemovalLeavesTheRepository(t *testing.T) {
	n := watched("git init", "git symbolic-ref HEAD refs/heads/next | .git/HEAD=1>2", "git rm -rq . && tar -xzf ../b.tgz", "git add -A && git commit -m two")
	var kept []string
	for _, s := range made(t, n, Request{}).Steps {
		kept = append(kept, s.Original)
	}
	if !slices.Contains(kept, "git symbolic-ref HEAD refs/heads/next") {
		t.Errorf("kept %q", kept)
	}
}

// TestEditorsOfGit has commands in which git opens an editor that an earlier command set, or that was recorded.
func TestEditorsOfGit(t *testing.T) {
	quick, slow := int64(30e6), int64(9e9)
	for _, c := range []struct {
		lines    []string
		took     int64
		env      map[string]string
		terminal bool
	}{
		{[]string{"git config core.editor ./msg", "git commit"}, slow, nil, false},
		{[]string{"git config core.editor vim", "git commit"}, quick, nil, true},
		{[]string{"git config core.editor ./msg", "git config --unset core.editor", "git commit"}, quick, nil, true},
		{[]string{"git config --global sequence.editor ./drop", "git rebase -i main"}, slow, nil, false},
		{[]string{"git config --global core.editor true", "git rebase -i --autosquash main"}, quick, nil, false},
		{[]string{"git config --global core.editor true", "git rebase -i --autosquash main"}, slow, nil, true},
		{[]string{"export GIT_EDITOR=true", "git rebase -i main"}, quick, nil, false},
		{[]string{"git rebase -i main"}, quick, map[string]string{"GIT_SEQUENCE_EDITOR": "true"}, false},
		{[]string{"git rebase -i main"}, slow, map[string]string{"GIT_SEQUENCE_EDITOR": "true"}, true},
		{[]string{"export GIT_SEQUENCE_EDITOR=vim", "git rebase -i main"}, quick, map[string]string{"GIT_SEQUENCE_EDITOR": "true"}, true},
	} {
		n := narrative(c.lines...)
		n.Env = map[string]map[string]string{"": c.env}
		n.Commands[len(c.lines)-1].Duration = &c.took
		p := made(t, n, Request{})
		last := p.Steps[len(p.Steps)-1]
		terminal := slices.ContainsFunc(last.Asks, func(a replay.Ask) bool { return a.Kind == replay.AskTerminal })
		if terminal != c.terminal || !terminal && len(c.lines) > 1 && len(last.Needs) == 0 {
			t.Errorf("%v: asks for a terminal %v, needs %v", c.lines, terminal, last.Needs)
		}
	}
}
