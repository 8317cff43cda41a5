package plan

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// narratives checks which lines of narratives that were looked at are steps.
func narratives(t *testing.T, cases map[string]struct {
	lines []string
	want  string
},
) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := made(t, watched(c.lines...), Request{})
			if got := kept(p); got != c.want {
				t.Errorf("kept %s, want %s", got, c.want)
				for _, s := range p.Steps {
					t.Logf("kept %q: %v", s.Original, s.Why)
				}
			}
		})
	}
}

// TestGitThatDidNothing checks that commands of git which were seen to change nothing are left out, however they ended.
func TestGitThatDidNothing(t *testing.T) {
	repo := []string{"git init -q . | .git/HEAD=1 .git/config=1", "echo a > f | f=1", "git add f | .git/index=1", "git commit -qm one | .git/refs/heads/main=1 .git/logs/HEAD=1"}
	with := func(lines ...string) []string { return append(append([]string{}, repo...), lines...) }
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"a fetch without news":              {with("git fetch -q | .git/FETCH_HEAD=1", "echo b > x | x=1"), "0 1 2 3 5"},
		"a fetch with news":                 {with("git fetch -q | .git/refs/remotes/origin/main=1", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a rebase onto what it is on":       {with("git rebase --autosquash main | .git/ORIG_HEAD=1 .git/logs/HEAD=2", "echo b > x | x=1"), "0 1 2 3 5"},
		"a rebase that moved and came back": {with("git rebase -i HEAD~1 | .git/HEAD=1>1 .git/logs/HEAD=2 .git/ORIG_HEAD=1 f=1>1 ./ .git/ .git/refs/heads/", "echo b > x | x=1"), "0 1 2 3 5"},
		"a rebase that stopped":             {with("git rebase -i HEAD~1 | .git/HEAD=1>2 .git/rebase-merge/done=1 .git/", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a merge that it takes back itself": {with("git merge -q --no-commit side && cat f && git merge --abort | f=1>1 .git/index=2 .git/ORIG_HEAD=1", "echo b > x | x=1"), "0 1 2 3 5"},
		"one whose files were written anew": {with("git merge -q --no-commit side && git diff --cached && git merge --abort | f=1>1 .git/index=2 .git/ORIG_HEAD=1 .", "echo b > x | x=1"), "0 1 2 3 5"},
		"a stash that is popped at once":    {with("git stash -q && git stash show -p |head -3; git stash pop -q | f=1>1 .git/index=2 .git/ORIG_HEAD=1 .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 5"},
		"a trial without what is stashed":   {with("git stash -q && ./check 2>&1 |tail -3; git stash pop | f=1>1 .git/index=2 -.git/refs/stash .git/ORIG_HEAD=1 .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 5"},
		"a trial with tests":                {with("cd ~/app && git stash -q && python3 -m unittest tests.test_report 2>&1 |tail -3; git stash pop | f=1>1 .git/index=2 .git/AUTO_MERGE=1 .git/logs/HEAD=1>2 .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 5"},
		"a trial that changed a file":       {with("git stash -q && ./check; git stash pop | f=1>1 g=1>2 .git/index=2 -.git/refs/stash .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a trial that removed something":    {with("git stash -q && ./check; git stash pop | f=1>1 .git/index=2 -.git/refs/stash .git/refs/ d/ .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a trial whose stash stays":         {with("git stash -q && ./check; git stash pop | f=1>1 .git/index=2 .git/refs/stash=1 .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a trial that commits":              {with("git stash -q && ./check; git commit -qm x --allow-empty; git stash pop | f=1>1 .git/index=2 -.git/refs/stash .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a trial that names a place":        {with("git stash -q && ./check --cache ~/.cache/x; git stash pop | f=1>1 .git/index=2 -.git/refs/stash .git/refs/ .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a stash alone":                     {with("git stash -q | f=1>2 .git/refs/stash=1 .", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a branch that is gone":             {with("git update-ref -d refs/original/refs/heads/main | .git/refs/original/refs/heads/ .git/logs/ .git/", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a merge that began":                {with("git merge -q --no-commit -s ours side | .git/MERGE_HEAD=1", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"what is staged alone":              {with("git rm -q --cached f | .git/index=2", "echo b > x | x=1"), "0 1 2 3 4 5"},
		"a clean that would remove":         {with("git clean -n", "echo b > x | x=1"), "0 1 2 3 5"},
		"a working tree of another one":     {[]string{"git merge -q side | nothing", "echo b > x | x=1"}, "0 1"},
		"a remote that is removed":          {with("git remote add r ../x | .git/config=2", "git remote rm r | .git/config=1", "echo b > x | x=1"), "0 1 2 3 6"},
		"a remote that is used":             {with("git remote add r ../x | .git/config=2", "git fetch -q r | .git/refs/remotes/r/main=1", "git remote rm r | .git/config=1"), "0 1 2 3 4 5 6"},
	})
	// A squash merge that is refused leaves no conflict that the next commit would resolve.
	n := watched(with("git merge --squash side | nothing", "echo b > g | g=1", "git add g | .git/index=2", "git commit -qm two | .git/refs/heads/main=2")...)
	one := int32(1)
	n.Commands[4].ExitCode = &one
	if got := kept(made(t, n, Request{})); got != "0 1 2 3 5 6 7" {
		t.Errorf("a refused merge: kept %s, want all but it", got)
	}
}

// TestSeenByName checks that what was seen counts where a command says less, or nothing of it.
func TestSeenByName(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"a pattern of what is removed":               {[]string{"git clone -q /srv/r . | a.patch=1 .git/HEAD=1 .", "git format-patch -2 | 0001-a.patch=1 0002-b.patch=1 .", "rm 000*.patch | -0001-a.patch -0002-b.patch ."}, "0"},
		"one that removes others too":                {[]string{"./gen | 1.txt=1", "rm *.txt | -1.txt -2.txt", "echo b > x | x=1"}, "1 2"},
		"a file that the table does not know of":     {[]string{"rustc --crate-type=lib u.rs | libu.rlib=1", "rm libu.rlib | -libu.rlib", "echo b > x | x=1"}, "2"},
		"git checkout FILE, without what it was":     {[]string{"echo a > f | f=1", "git add f | .git/index=1", "git commit -qm one | .git/refs/heads/main=1", "sed -i s/a/b/ f && git diff | f=2", "git checkout -q f | f=1 .git/index=2", "cat f > g | g=1"}, "0 1 2 5"},
		"git checkout of a branch of this name":      {[]string{"echo a > f | f=1", "git add f | .git/index=1", "git commit -qm one | .git/refs/heads/main=1", "sed -i s/a/b/ f | f=2", "git checkout -q f | f=1 .git/HEAD=2"}, "0 1 2 3 4"},
		"a builder whose change git takes back":      {[]string{"echo a > f | f=1", "git add f | .git/index=1", "git commit -qm one | .git/refs/heads/main=1", "npm version --no-git-tag-version major | f=2", "git checkout -q f | f=1 .git/index=2", "cat f > g | g=1"}, "0 1 2 5"},
		"a build of which a later one makes all":     {[]string{"make debug | prog=1", "make release | prog=1>2"}, "1"},
		"a build of which one file is left":          {[]string{"make debug | prog=1 log=1", "make release | prog=1>2"}, "0 1"},
		"a builder that adds to what is there":       {[]string{"npm pkg set a=b | package.json=1", "npm pkg set c=d | package.json=1>2"}, "0 1"},
		"the same build, with less printed":          {[]string{"make | prog=1 a.o=1", "sed -i s/a/b/ a.c | a.c=1", "make -s -j4 2>&1 |tail -1 | prog=2"}, "1 2"},
		"a build all of which is removed":            {[]string{"make extra | e/f=1 e/ .", "rm -r e | -e/f .", "echo b > x | x=1"}, "2"},
		"go does not read the programs that it made": {[]string{"go build -o bin/x . | bin/x=1 bin/ .", "go generate ./... | words.go=1", "rm -r bin | -bin/x ."}, "1"},
		"text that names what it reads":              {[]string{"make tests | out=1", "python3 - <<'X'\nopen('f', 'w').write('a')\nX | f=1", "rm out | -out"}, "1"},
		"text that may read anything":                {[]string{"make tests | out=1", "python3 - <<'X'\nimport mine\nopen('f', 'w').write(mine.x)\nX | f=1", "rm out | -out"}, "0 1 2"},
		"a program of its own there":                 {[]string{"ln -s /srv/t ~/bin/t | nothing", "./load | nothing", "~/bin/t a > f | f=1"}, "0 2"},
		"a repository that git is told of":           {[]string{"git ls-remote ~/r.git | nothing", "./load | nothing", "echo b > x | x=1"}, "2"},
		"it was asked to show something":             {[]string{"mkdir ~/data | nothing", "./tool list | nothing", "./load |head | nothing", "./load | nothing"}, "0 3"},
		"it names a place where it may write":        {[]string{"mkdir ~/data | nothing", "./tool get ~/data | nothing"}, "0 1"},
		"files that commands write by name":          {[]string{"echo a > ~/notes | nothing", "./load | nothing", "echo b > x | x=1"}, "0 2"},
		"files that nothing writes by name":          {[]string{"cat ~/notes > f | f=1", "./load | nothing"}, "0 1"},
		"what it wrote there does not lie here":      {[]string{"mkdir ~/data | nothing", "./load | nothing", "cat ~/data/f > f | f=1", "python3 x.py | g=1"}, "0 1 2 3"},
	})
	// Commands also ran beside the directory, and name no place there: what changed nothing counts only if it is needed.
	for lines, want := range map[string]string{"echo b > x | x=1": "0 2", "cat ~/other/f > x | x=1": "0 1 2"} {
		n := watched("echo a > g | nothing", "./load | nothing", lines)
		n.Commands[0].Cwd = "/home/ann/other"
		n.Seen[id(0)] = Seen{}
		delete(n.Seen, id(0))
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("%q: kept %s, want %s", lines, got, want)
		}
	}
}

// TestNothingIsLeftForAGoal checks that what a step made and another removed is not there for the goal.
func TestNothingIsLeftForAGoal(t *testing.T) {
	n := narrative("echo a > tmp", "cp tmp f", "rm tmp", "tar cf a.tar .", "rm f")
	n.Goals = []schemas.EventID{id(3)}
	if got, want := kept(made(t, n, Request{})), "0 1 2 3"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// TestPutAgain checks that what is put at an address of a service counts until something else is put there, or it is
// deleted.
func TestPutAgain(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"./store 8000 &", "curl -X PUT -d a localhost:8000/x", "curl -X PUT -d b localhost:8000/x", "curl -s localhost:8000/x > x", "kill %1"}, "0 2 3 4"},
		{[]string{"./store 8000 &", "curl -X PUT -d a localhost:8000/x", "curl -s localhost:8000/x > x", "curl -X PUT -d b localhost:8000/x", "kill %1"}, "0 1 2 3 4"},
		{[]string{"./store 8000 &", "curl -T f localhost:8000/y", "curl -X DELETE localhost:8000/y", "curl -s -d a localhost:8000/z", "kill %1"}, "0 3 4"},
		{[]string{"./store 8000 &", "curl -T f localhost:8000/y", "curl -s localhost:8000/ > list", "curl -X DELETE localhost:8000/y", "kill %1"}, "0 1 2 3 4"},
		{[]string{"./store 8000 &", "curl -X DELETE localhost:8000/y", "curl -d a localhost:8000/x", "curl -X DELETE localhost:8000/x", "kill %1"}, "0 1 2 3 4"},
	} {
		if got := keptOf(t, c.lines); got != c.want {
			t.Errorf("%q: kept %s, want %s", c.lines, got, c.want)
		}
	}
}

// TestTrialBesideOtherPlaces checks that tests with what was changed stashed are left out also where commands ran elsewhere,
// and other programs are not.
func TestTrialBesideOtherPlaces(t *testing.T) {
	for trial, want := range map[string]string{"python3 -m unittest tests.test_report 2>&1 |tail -3": "0 2", "./check": "0 1 2"} {
		n := watched("echo b > g | +g=1 .", "cd ~/app && git stash -q && "+trial+"; git stash pop | f=1>1 .git/index=2 .git/logs/HEAD=1>2 .git/refs/ .", "echo b > x | x=1", "ls")
		n.Commands[3].Cwd = "/home/ann/other"
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("%s: kept %s, want %s", trial, got, want)
		}
	}
}
