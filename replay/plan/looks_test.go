package plan

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestWhatIsLookedAt plans the last line of narratives in a repository that was there before: what it prints of the
// history, the branches, the index, the stash or a directory is that of the steps before it, and of no others.
func TestWhatIsLookedAt(t *testing.T) {
	edit, commit := "echo b >> f", "git commit -qam second"
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"the log":                        {[]string{edit, commit, "git log --format=%s > subj"}, "0 1 2"},
		"the log, displayed":             {[]string{edit, commit, "git log --format=%s"}, "0 1 2"},
		"the log of a branch":            {[]string{edit, commit, "git branch rel", "git branch other", "git log rel > subj"}, "0 1 2 4"},
		"the log, without the stash":     {[]string{edit, commit, "git stash -q", "git log --format=%s > subj"}, "0 1 3"},
		"the log, without notes":         {[]string{edit, commit, "git notes add -m n", "git log --format=%s > subj"}, "0 1 3"},
		"the log, with notes":            {[]string{edit, commit, "git notes add -m n", "git log > subj"}, "0 1 2 3"},
		"the log, through a pipe":        {[]string{edit, commit, "git log --oneline | wc -l > count"}, "0 1 2"},
		"the log, through tee":           {[]string{edit, commit, "git log --oneline | tee subj"}, "0 1 2"},
		"the log, in a shell":            {[]string{edit, commit, "sh -c 'git log -1 --format=%s' > last"}, "0 1 2"},
		"the log, in a function":         {[]string{edit, commit, "last() { git log -1; }", "last > last"}, "0 1 2 3"},
		"the log beside what is done":    {[]string{edit, commit, "echo a > g && git log --oneline | head -3", "cat g > h"}, "2 3"},
		"a question that decides":        {[]string{edit, commit, "git diff --quiet HEAD~1 || echo a > g"}, "0 1 2"},
		"where the repository is":        {[]string{edit, commit, "ROOT=$(git rev-parse --show-toplevel)", "echo $ROOT > g"}, "2 3"},
		"the latest commit":              {[]string{edit, commit, "git rev-parse HEAD > id"}, "0 1 2"},
		"a version":                      {[]string{edit, commit, "git tag v1", "git tag v2", "git tag -d v2", "VERSION=$(git describe)-$(git rev-list --count HEAD)", "echo $VERSION > v"}, "0 1 2 5 6"},
		"a tag that was there before":    {[]string{"git tag -d v0", "git tag > tags"}, "0 1"},
		"tags":                           {[]string{"git tag v1", "git branch b", "git tag -l > tags"}, "0 2"},
		"branches":                       {[]string{edit, commit, "git branch b", "git tag v1", "git branch --list > branches"}, "0 1 2 4"},
		"all refs":                       {[]string{"git branch b", "git tag v1", "git for-each-ref > refs"}, "0 1 2"},
		"a file of a commit":             {[]string{edit, commit, "git show HEAD~1:f > old"}, "0 1 2"},
		"a file of a commit of a branch": {[]string{edit, commit, "git checkout -q -b rel", "git cat-file -p rel:f > old"}, "0 1 2 3"},
		"a file of the index":            {[]string{edit, "git add f", "git show :f > staged"}, "0 1 2"},
		"the stash":                      {[]string{edit, "git stash -q", "git stash list > l"}, "0 1 2"},
		"what the stash has":             {[]string{edit, "git stash -q", "git show stash@{0} > l"}, "0 1 2"},
		"operations":                     {[]string{edit, commit, "git reflog > l"}, "0 1 2"},
		"a note":                         {[]string{"git notes add -m n", "git notes show > note"}, "0 1"},
		"the state":                      {[]string{edit, commit, "echo c >> f", "git add f", "git status --short > st"}, "0 1 2 3 4"},
		"changes since a commit":         {[]string{edit, commit, "git diff HEAD~2 > d"}, "0 1 2"},
		"changes between two commits":    {[]string{edit, commit, "echo c > g", "git diff HEAD~1..HEAD > d"}, "0 1 3"},
		"who wrote a line":               {[]string{edit, commit, "git blame -s f | cut -c10- > blame"}, "0 1 2"},
		"an archive":                     {[]string{edit, commit, "git archive HEAD f | tar -xO > f0"}, "0 1 2"},
		"an archive of a tag":            {[]string{edit, commit, "git tag v1", "git archive -o v1.tar v1"}, "0 1 2 3"},
		"patches":                        {[]string{edit, commit, "git format-patch --stdout HEAD~1 > p"}, "0 1 2"},
		"a bundle of all":                {[]string{edit, commit, "git tag v1", "git branch b", "git bundle create all.bundle --all"}, "0 1 2 3 4"},
		"a setting":                      {[]string{"git config user.name Eve", "git config user.name > name"}, "0 1"},
		"a clone":                        {[]string{edit, commit, "git clone -q . c"}, "0 1 2"},
		"a listing":                      {[]string{"touch a", "touch d/b", "mkdir e", "echo x > e/y", "ls > l"}, "0 2 4"},
		"a listing of what is left":      {[]string{"touch a", "rm a", "rm b", "rm d/c", "ls > l"}, "2 4"},
		"a listing, displayed":           {[]string{"touch a", "ls"}, "0 1"},
		"a listing beside what is done":  {[]string{"touch a", "echo x > b && ls", "cat b > c"}, "1 2"},
		"a listing of a variable":        {[]string{"touch a", "n=$(ls | wc -l); echo $n > n"}, "0 1"},
		"a listing after a build":        {[]string{"make", "ls > l"}, "0 1"},
		"all below a directory":          {[]string{"touch d/b", "rm d/c", "find . > l"}, "0 1 2"},
		"what words are in files":        {[]string{"echo x > d/b", "grep -r x > l"}, "0 1"},
	} {
		n := narrative(c.lines...)
		n.Goals = []schemas.EventID{id(len(c.lines) - 1)}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%s: kept %s, want %s of %s", name, got, c.want, strings.Join(c.lines, "; "))
		}
	}
}

// TestLooksKeepTheirPlace checks that steps which may run at the same time do not include one that looks at something
// and one that changes it later, or removed it before.
func TestLooksKeepTheirPlace(t *testing.T) {
	for _, lines := range [][]string{
		{"git log > l", "git commit -qam second"},
		{"git branch > l", "git branch b"},
		{"ls > l", "touch a"},
		{"rm a", "ls > l"},
		{"rm d/a", "git diff --no-index d e > p; true"},
		{"tar cf d.tar d", "rm d/a"},
		{"git commit -qam second", "git branch -d b"},
		{"git add a", "git add b"},
		{"cat *.txt > all", "echo b > b.txt"},
	} {
		p := made(t, narrative(lines...), Request{All: true})
		if len(p.Steps[1].Needs) == 0 {
			t.Errorf("%q may run beside %q", p.Steps[1].Original, p.Steps[0].Original)
		}
	}
	if p := made(t, narrative("git log > l", "touch a"), Request{All: true}); len(p.Steps[1].Needs) > 0 {
		t.Errorf("%q waits for %q: %v", p.Steps[1].Original, p.Steps[0].Original, p.Steps[1].Needs)
	}
}
