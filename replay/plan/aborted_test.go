package plan

import "testing"

// TestAborted leaves out what was aborted, also where its line switched to a branch before and a later one switches there
// again.
func TestAborted(t *testing.T) {
	one := int32(1)
	for _, c := range []struct {
		begins string
		fails  bool
		lines  []string
		want   string
	}{
		{"git checkout -q feature && git rebase main", true, []string{"git status && git diff", "git rebase --abort", "git checkout -q feature && git rebase -X ours main"}, "0 1 2 3 4 5 9"},
		{"git checkout -q feature && git merge --no-ff --no-commit main && git diff --cached --stat", false, []string{"git merge --abort", "git checkout -q feature && git merge -q --ff-only main"}, "0 1 2 3 4 5 8"},
		{"git checkout -q feature && git cherry-pick main", true, []string{"git cherry-pick --abort", "git switch feature"}, "0 1 2 3 4 5 8"},
		{"git am 0001.patch", true, []string{"git am --show-current-patch=diff | head -20; git am --abort"}, "0 1 2 3 4 5"},
		{"git checkout -q feature && git rebase main", true, []string{"git rebase --abort", "git checkout -q other && git rebase main"}, "0 1 2 3 4 5 6 7 8"},
		{"git checkout -q feature && git rebase main", true, []string{"git rebase --abort", "git commit -q --allow-empty -m x", "git checkout -q feature"}, "0 1 2 3 4 5 6 7 8 9"},
		{"git checkout -q feature && git tag x && git rebase main", true, []string{"git rebase --abort", "git checkout -q feature"}, "0 1 2 3 4 5 6 7 8"},
	} {
		n := narrative(append([]string{"git init -q -b main .", "echo 1 > a", "git add a", "git commit -qm one", "git checkout -q -b feature", "git commit -qam two", c.begins}, c.lines...)...)
		for i := range n.Commands {
			n.Commands[i].GitHead = "c1"
			if i > 4 {
				n.Commands[i].GitHead = "c2"
			}
		}
		n.Commands[6].GitHead = "c3"
		if c.fails {
			n.Commands[6].ExitCode = &one
		}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%s, %q: kept %s, want %s", c.begins, c.lines, got, c.want)
		}
	}
}
