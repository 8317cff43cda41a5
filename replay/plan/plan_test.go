package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// day is a narrative with most kinds of steps, in the order in which they ran.
var day = []string{
	"mkdir -p src", "cat > src/a.c <<'EOF'\nint main(void) { return 0; }\nEOF", "ls src", "cc -o a src/a.c", "git init -q .", "git add -A", "git commit -q -m first",
	"export V=1.0", "echo $V > version", "sleep 60 > log &", "make", "./a", "sed -i s/a/b/ version", "cp version /home/ann/app/copy", "rm -f copy", "kill %1",
}

// TestSameNarrativeSamePlan plans a narrative whose commands come in random orders.
func TestSameNarrativeSamePlan(t *testing.T) {
	for _, all := range []bool{false, true} {
		n := narrative(day...)
		first := ""
		rng := rand.New(rand.NewPCG(20, 26))
		for range 20 {
			b, err := json.Marshal(made(t, n, Request{All: all, Map: []string{"/home/ann=/home/bob"}}))
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(b)
			} else if string(b) != first {
				t.Fatalf("all=%t: got\n%s\nand\n%s", all, b, first)
			}
			rng.Shuffle(len(n.Commands), func(i, j int) { n.Commands[i], n.Commands[j] = n.Commands[j], n.Commands[i] })
		}
	}
}

// TestDirectoryDoesNotMatter plans the same narrative in two directories: the slice and the order are
// the same.
func TestDirectoryDoesNotMatter(t *testing.T) {
	tell := func(n Narrative) (out []string) {
		p := made(t, n, Request{})
		for _, s := range p.Steps {
			out = append(out, s.Original)
		}
		for _, l := range p.Left {
			out = append(out, l.Kind+" "+l.Command)
		}
		return out
	}
	lines := slices.DeleteFunc(slices.Clone(day), func(s string) bool { return strings.Contains(s, "/home/ann") })
	here, there := narrative(lines...), narrative(lines...)
	for i := range there.Commands {
		there.Commands[i].Cwd, there.Commands[i].Workspace = "/srv/build/x", "/srv/build/x"
	}
	if a, b := tell(here), tell(there); !slices.Equal(a, b) {
		t.Errorf("got %q\nand %q", a, b)
	}
}

func TestSlice(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		kept  string
		left  string // kinds, in order
	}{
		{"what only looks is left out", []string{"ls", "echo a > x", "cat x", "git status"}, "echo a > x", "looked looked looked"},
		{"a file that is overwritten", []string{"echo a > x", "echo b > x"}, "echo b > x", "superseded"},
		{"a file that is added to", []string{"echo a > x", "echo b >> x"}, "echo a > x, echo b >> x", ""},
		{"a copy of what is then overwritten", []string{"echo a > x", "cp x y", "echo b > x"}, "echo a > x, cp x y, echo b > x", ""},
		{"a file that is removed again", []string{"echo a > x", "rm x", "echo b > y"}, "echo b > y", "undone undone"},
		{"a variable that is used, and one that is not", []string{"export A=1", "export B=2", "echo $A > x"}, "export A=1, echo $A > x", "unrelated"},
		{"how words are divided", []string{"IFS=:", "set -- $(id -p)", "echo $2 > x"}, "IFS=:, set -- $(id -p), echo $2 > x", ""},
		{"a directory that is only entered", []string{"mkdir d", "cd d", "echo a > /home/ann/app/d/x"}, "mkdir d, echo a > /home/ann/app/d/x", "navigated"},
		{"a verb of Recount", []string{"recount find x", "echo a > x"}, "echo a > x", "own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(t, narrative(c.lines...), Request{})
			var kept, left []string
			for _, s := range p.Steps {
				kept = append(kept, s.Original)
				if len(s.Why) == 0 {
					t.Errorf("%q has no reason", s.Original)
				}
			}
			for _, l := range p.Left {
				left = append(left, l.Kind)
				if l.Why == "" || len(l.Evidence) == 0 {
					t.Errorf("%q is left out without a reason: %+v", l.Command, l)
				}
			}
			if strings.Join(kept, ", ") != c.kept || strings.Join(left, " ") != c.left {
				t.Errorf("kept %q, left %q; want %q, %q", strings.Join(kept, ", "), strings.Join(left, " "), c.kept, c.left)
			}
		})
	}
}

// TestBadInput has commands that can't be replayed as they stand: the plan says so.
// TestValuesThatDouble assigns variables that name the one before often: written out, the last has 20^12 letters.
func TestValuesThatDouble(t *testing.T) {
	lines := []string{"A0=ab"}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("A%d=\"%s\"", i+1, strings.Repeat(fmt.Sprintf("$A%d", i), 20)))
	}
	if p := made(t, narrative(append(lines, "touch $A12")...), Request{}); len(p.Steps) != 14 {
		t.Errorf("%d steps, want all 14: the name of the file rests on all", len(p.Steps))
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ name, command, ask, post string }{
		{"never parsed", "echo 'a", replay.AskSyntax, replay.PostNone},
		{"needs a terminal", "vim notes.txt", replay.AskTerminal, ""},
		{"a value that was redacted", "curl -H 'Authorization: Bearer [redacted:token]' -o x https://example.com", replay.AskRedacted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(t, narrative(c.command), Request{All: true})
			if len(p.Steps) != 1 {
				t.Fatalf("got %+v", p)
			}
			s := p.Steps[0]
			if !slices.ContainsFunc(s.Asks, func(a replay.Ask) bool { return a.Kind == c.ask && a.Text != "" }) {
				t.Errorf("it is not asked: %+v", s.Asks)
			}
			if c.post != "" && s.Post[len(s.Post)-1].Kind != c.post {
				t.Errorf("postconditions %+v", s.Post)
			}
			if strings.Contains(s.Command, "[redacted:") {
				t.Errorf("the step would run %q", s.Command)
			}
		})
	}
	p := made(t, narrative("python3 -m http.server 8000 &", "cat > a <<'EOF'\n/home/ann/app\nEOF"), Request{All: true, Map: []string{"/home/ann/app=/srv/app"}})
	if !p.Steps[0].Background {
		t.Error("a job in the background is not said to be one")
	}
	if got := p.Steps[1].Command; got != "cat > a <<'EOF'\n/srv/app\nEOF" {
		t.Errorf("a document becomes %q", got)
	}
}

func TestRefusesMappingIntoItself(t *testing.T) {
	_, err := Request{Session: "s", Map: []string{"/home/ann=/home/ann/copy"}}.Normal()
	var refused *query.RequestError
	if !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestErasedEventIsNamed(t *testing.T) {
	n := narrative("echo a > x")
	n.Missing = []replay.Missing{{Ref: "recount.commands/0/7", Text: "it was erased"}}
	p := made(t, n, Request{})
	other := made(t, narrative("echo a > x"), Request{})
	if len(p.Missing) != 1 || p.ID == other.ID {
		t.Errorf("missing %+v, and the plan with it has the id of the one without: %t", p.Missing, p.ID == other.ID)
	}
}

// TestWaitsForJobs checks that a plan waits where its narrative did, unless the job was ended before.
func TestWaitsForJobs(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"one job":             {[]string{"sort in > out &", "cat in", "wait", "wait"}, "0 2"},
		"by its number":       {[]string{"sort in > a & p=$!", "sort in > b &", "wait $p; wait"}, "0 1 2"},
		"ended":               {[]string{"python3 -m http.server 8000 &", "curl -o page http://localhost:8000/", "kill %1", "wait"}, "0 1 2"},
		"in the same line":    {[]string{"for f in a b; do gzip -k $f & done; wait", "wait"}, "0"},
		"nothing was started": {[]string{"sort in > out", "wait"}, "0"},
	} {
		p := made(t, narrative(c.lines...), Request{})
		var got []string
		for _, s := range p.Steps {
			got = append(got, fmt.Sprint(slices.Index(c.lines, s.Original)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: steps %v, want %s", name, got, c.want)
		}
	}
}

// TestFunctionsOfTheSession checks that what a function does is known where it is called, and that a
// variable which it sets on its way matters only if it is used.
func TestFunctionsOfTheSession(t *testing.T) {
	lines := []string{
		"log() { now=$1; echo \"$1\" >> run.log; }", "log begun", "cat > lib.sh <<'E'\nnote() { echo \"$1\" > note; }\nE",
		". ./lib.sh", "note x", "note y",
	}
	p := made(t, narrative(lines...), Request{})
	var got []string
	for _, s := range p.Steps {
		got = append(got, fmt.Sprint(slices.Index(lines, s.Original)))
		for _, post := range s.Post {
			got = append(got, post.Kind+" "+strings.TrimPrefix(post.Target, "/home/ann/app/"))
		}
	}
	const want = "0 none  1 file run.log 2 file lib.sh 3 none  5 file note"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
	p = made(t, narrative("log() { now=$1; echo \"$1\" >> run.log; }", "log begun", "echo $now > when"), Request{})
	if got := p.Steps[1].Sets; !slices.Equal(got, []string{"now"}) {
		t.Errorf("sets %v, want now, which the next step uses", got)
	}
	p = made(t, narrative("edit() { local f=$1; shift; sed -i \"$@\" \"$f\"; }", "edit f s/a/b/"), Request{})
	if got := p.Steps[1].Sets; len(got) > 0 {
		t.Errorf("sets %v, want nothing: a function shifts its own words", got)
	}
}

// TestDetours has narratives whose detours leave nothing, though programs of unknown writes run in them.
func TestDetours(t *testing.T) {
	failed := int32(1)
	for name, c := range map[string]struct {
		lines []string
		fail  string // the line that failed
		want  string
	}{
		"a bisect that was given up": {[]string{"git bisect start", "git bisect bad", "git bisect good v1", "git bisect reset", "echo x > y"}, "", "4"},
		"a bisect whose find has a tag for a while": {
			[]string{"git bisect start HEAD v1", "git bisect run ./check", "git tag culprit refs/bisect/bad", "git bisect reset", "git revert --no-edit culprit~0", "git tag -d culprit"},
			"", "0 1 2 3 4 5",
		},
		"a bisect that was logged": {
			[]string{"git bisect start HEAD v1", "git bisect run ./check", "git bisect log > log", "bad=$(git rev-parse refs/bisect/bad)", "git bisect reset", "git revert --no-edit $bad"},
			"", "0 1 2 3 4 5",
		},
		"a change that was kept as a patch":    {[]string{"sed -i s/a/b/ f", "git diff > ../f.patch", "git checkout -- f"}, "", "0 1 2"},
		"a line after one that was taken back": {[]string{"jq -n 1 > f", "cp f g", "jq .+1 f > f", "cp g f", "jq .+2 f > f.new && mv f.new f", "rm g"}, "", "0 4"},
		"an alias of git for a while":          {[]string{"git config alias.co checkout", "git co -b x", "git config --unset alias.co"}, "", "0 1 2"},
		"a script that is made executable":     {[]string{"cat > up <<'E'\n#!/bin/sh\necho x > made\nE", "chmod +x up", "./up", "rm made"}, "", "0 1"},
		"a function of an unknown file":        {[]string{"for f in lib/*; do . $f; done", "LOG=a.log", "note x", "LOG=b.log", "note y"}, "", "0 1 2 3 4"},
		"a stash that was put back":            {[]string{"echo a > a", "git stash", "git status", "git stash pop --index", "git add a"}, "", "0 4"},
		"a stash with work between":            {[]string{"echo a > a", "git stash", "echo b > b", "git stash pop", "git add a"}, "", "0 1 2 3 4"},
		"a working tree for a while":           {[]string{"git worktree add -b fix ../fix main", "git worktree remove ../fix", "git branch -D fix", "echo x > y"}, "", "3"},
		"a build that was removed":             {[]string{"cmake -B out -S .", "rm -rf out", "echo x > y"}, "", "2"},
		"a build that failed": {
			[]string{"cmake -S lib -B lib/build", "cmake --install lib/build", "cmake -S app -B app/build", "rm -rf app/build", "cmake -S app -B app/build --fresh"},
			"cmake -S app -B app/build", "0 1 4",
		},
		"a package that was not good": {[]string{"dpkg-deb --build pkg", "rm pkg.deb", "dpkg-deb -b pkg pkg_1.deb"}, "", "2"},
		"a merge that was given up":   {[]string{"git merge --no-commit topic", "git merge --abort", "echo x > y"}, "", "2"},
		"a merge that was resolved":   {[]string{"git merge topic", "git add f", "git commit -m merged"}, "git merge topic", "0 1 2"},
		"a rebase that was given up":  {[]string{"git rebase main", "git rebase --abort", "echo x > y"}, "git rebase main", "2"},
		"a rebase that was gone on":   {[]string{"git rebase main", "git add f", "git rebase --continue"}, "git rebase main", "0 1 2"},
		"conflicts written to a file": {[]string{"diff3 -m a b c > merged", "cp merged kept"}, "diff3 -m a b c > merged", "0 1"},
		"builds that were cleaned":    {[]string{"make", "make test", "make clean", "make DEBUG=1"}, "", "3"},
		"a build again, and a clean":  {[]string{"printf 'x' > Makefile", "make", "wc -c < edit", "echo y > defs.h", "make", "install -D edit bin/edit", "make clean"}, "", "0 3 1 5 6"},
		"a clean that counts":         {[]string{"make", "cp app bin/app", "make clean"}, "", "0 1 2"},
		"ninja's questions":           {[]string{"ninja", "ninja -n", "ninja -t query all", "ninja -t targets all", "ninja -t clean", "echo x > y"}, "", "5"},
		"modes outlast contents":      {[]string{"touch run", "chmod a+x run", "cat > run <<'E'\n#!/bin/sh\nE"}, "", "0 1 2"},
		"modes go with their file":    {[]string{"touch run", "chmod a+x run", "rm run", "echo x > run"}, "", "3"},
		"a copy that was replaced":    {[]string{"cp a b", "echo x > b"}, "", "1"},
		"a link that was replaced":    {[]string{"ln -s a b", "rm b", "ln -s c b"}, "", "2"},
		"a version that is set":       {[]string{"npm version minor --no-git-tag-version", "npm version"}, "", "0"},
		"a download of any name":      {[]string{"curl -fsSO $BASE/$FILE", "curl -s $BASE/"}, "", "0"},
		"a program that was built":    {[]string{"go build -o bin/ ./...", "bin/hey hello --loud", "bin/hey init site"}, "", "0 2"},
		"what only looked at a file":  {[]string{"diff -u a b > p", "patch --dry-run b < p", "cp b c"}, "", "0 2"},
	} {
		n := narrative(c.lines...)
		for i := range n.Commands {
			if n.Commands[i].Command == c.fail {
				n.Commands[i].ExitCode = &failed
			}
		}
		var got []string
		for _, s := range made(t, n, Request{}).Steps {
			got = append(got, fmt.Sprint(slices.Index(c.lines, s.Original)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: steps %v, want %s", name, got, c.want)
		}
	}
}

// TestDirectoryBefore checks that a line knows the directory that its shell was in before.
func TestDirectoryBefore(t *testing.T) {
	n := narrative("cd src", "cd - && touch a", "touch b", "cd ~-; touch c")
	n.Commands[1].Cwd = "/home/ann/app/src"
	for i, want := range []string{"/srv/app", "", "/srv/app/src"} {
		if got := made(t, n, Request{Map: []string{"/home/ann/app=/srv/app"}}).Steps[i].Env["OLDPWD"]; got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// TestLinksInsideLines checks that a link has a postcondition wherever a line or a function makes it.
func TestLinksInsideLines(t *testing.T) {
	p := made(t, narrative("release() { mkdir r/$1 && ln -s ../common r/$1/s && ln -sfn r/$1 current; }", "release 1", "release 2"), Request{Map: []string{"/home/ann/app=/srv/app"}})
	var got []string
	for _, s := range p.Steps[1:] {
		for _, post := range s.Post {
			text := post.Kind + " " + strings.TrimPrefix(post.Target, "/srv/app/") + " " + post.Hash
			if post.ReplacedBy != nil {
				text += fmt.Sprintf(" by %d", *post.ReplacedBy)
			}
			got = append(got, strings.TrimSpace(text))
		}
	}
	const want = "directory r/1, link r/1/s ../common, link current r/1 by 2, directory r/2, link r/2/s ../common, link current r/2"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}

// TestContinuingNeedsWhatIsStaged has a goal, so that a step stays only if the goal rests on it.
func TestContinuingNeedsWhatIsStaged(t *testing.T) {
	n := narrative("echo x > y", "git add y", "echo z > w", "git rebase --continue")
	n.Commands[2].Cwd = "/elsewhere"
	n.Goals = []schemas.EventID{n.Commands[3].ID}
	var got []string
	for _, s := range made(t, n, Request{}).Steps {
		got = append(got, s.Original)
	}
	if want := []string{"echo x > y", "git add y", "git rebase --continue"}; !slices.Equal(got, want) {
		t.Errorf("steps %q, want %q", got, want)
	}
}

// TestModesHavePostconditions checks that a file whose content is as it was still gets its mode.
func TestModesHavePostconditions(t *testing.T) {
	for command, want := range map[string]string{
		"chmod +x f": "mode f -u+x", "chmod 640 f": "mode f 640", "chmod ug+rw f": "mode f -ug+rw", "chmod go-w f": "none", "chmod -R u+w d": "none",
	} {
		p := made(t, narrative(command), Request{})
		post := p.Steps[0].Post[len(p.Steps[0].Post)-1]
		if got := strings.TrimSpace(post.Kind + " " + strings.TrimPrefix(post.Target, "/home/ann/app/") + " " + post.Hash); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestOwnNamesAndRemotes checks that a narrative's own functions are not judged by their names, and that a
// push into a directory of this machine reaches nobody else.
func TestOwnNamesAndRemotes(t *testing.T) {
	lines := []string{
		"remove_line() { sed -i \"/$1/d\" \"$2\"; }", "remove_line x f", "delete_all f", "git init -q --bare ../hub.git", "git remote add hub ../hub.git", "git push hub main",
		"git push origin main", "git push --force hub main", "git push hub main:topic",
		"git clone -q ../hub.git work", "git -C work push -q origin main", "git init -q --bare inner.git", "git clone inner.git other", "git -C other push --force origin main",
		"git -C other push ../inner.git main:topic", "git clone git://127.0.0.1:9418/x.git third", "git -C third push", "git -C third remote set-url origin https://example.com/x.git",
		"git -C third push -q origin main", "git -C other worktree add -q ../tree -b hot", "git -C tree push -q origin HEAD:main", "git -C third worktree add -q ../far", "git -C far push -q origin HEAD",
	}
	var got []string
	for _, s := range made(t, narrative(lines...), Request{All: true}).Steps {
		if len(s.Danger) > 0 {
			got = append(got, s.Original)
		}
	}
	if want := []string{"delete_all f", "git push origin main", "git push --force hub main", "git push hub main:topic", "git -C third push -q origin main", "git -C far push -q origin HEAD"}; !slices.Equal(got, want) {
		t.Errorf("dangerous: %q, want %q", got, want)
	}
}

// TestPlacesBehindCd checks that a run can look where git works behind cd: whether its remotes are in the directory that the
// run may change, and whether it has something to lose.
func TestPlacesBehindCd(t *testing.T) {
	steps := made(t, narrative("cd ~/app && git push origin main", "cd ~/app && git checkout v1 -- a.txt"), Request{All: true}).Steps
	if len(steps) != 2 || len(steps[0].Danger) != 1 || len(steps[1].Danger) != 1 {
		t.Fatalf("steps: %+v", steps)
	}
	if got := steps[0].Danger[0].Remotes; got != "/home/ann/app" {
		t.Errorf("pushes from %q", got)
	}
	if got := steps[1].Danger[0].Clean; got != "/home/ann/app" {
		t.Errorf("discards in %q", got)
	}
}

// TestTreesInTmp checks that a plan asks before it removes a directory for temporary files in which it worked, whatever
// it has written there: on the machine that replays it may have been there before.
func TestTreesInTmp(t *testing.T) {
	for _, first := range []string{"cp -r . /tmp/w && cd /tmp/w && make; rm -rf /tmp/w", "tar -cf /tmp/w/$x.tar a; cd /tmp/w; rm -rf /tmp/w", "python3 -m venv /tmp/w && cd /tmp/w; rm -rf /tmp/w", "cd /tmp/w && make; rm -rf /tmp/w"} {
		n := narrative(first, "echo 1 > f")
		n.Commands[1].Cwd, n.Commands[1].Workspace = "/tmp/w", ""
		if s := made(t, n, Request{All: true}).Steps[0]; len(s.Danger) != 1 {
			t.Errorf("%s: %+v, want one", first, s.Danger)
		}
	}
}

// TestDirectoryThatTheShellRemoved has a shell that removed the directory in which it is, and goes elsewhere first.
func TestDirectoryThatTheShellRemoved(t *testing.T) {
	n := narrative("mkdir ~/app/w && cd ~/app/w && touch a; rm -r ~/app/w", "cd ~/app && echo 1 > f", "mkdir ../w")
	for i := range n.Commands[1:] {
		n.Commands[i+1].Cwd = "/home/ann/app/w"
	}
	steps := made(t, n, Request{All: true}).Steps
	if len(steps) != 3 || steps[1].Cwd != "/home/ann/app" || steps[2].Cwd != "/home/ann/app/w" {
		t.Errorf("%+v", steps)
	}
}

// TestWhatIsBegun lets a plan rewrite the history of a repository that it begins, and remove a part of its tree.
func TestWhatIsBegun(t *testing.T) {
	lines := []string{
		"git reset --hard", "git init ../own", "git -C ../own reset --hard", "git branch try", "git branch -D try", "git branch -f old", "git branch -D old",
		"mkdir build", "cd build", "cmake ..", "rm -r ../build",
	}
	n := narrative(lines...)
	n.Commands[9].Cwd, n.Commands[9].Workspace, n.Commands[10].Cwd, n.Commands[10].Workspace = "/home/ann/app/build", "", "/home/ann/app/build", ""
	asked := func(n Narrative) (got []string) {
		for _, s := range made(t, n, Request{All: true}).Steps {
			for _, f := range s.Danger {
				got = append(got, s.Original+f.Unless)
			}
		}
		return got
	}
	if got, want := asked(n), []string{lines[0], lines[2] + "/home/ann/own", lines[6]}; !slices.Equal(got, want) {
		t.Errorf("dangerous: %q, want %q", got, want)
	}
	n = narrative("git init", "git reset --hard")
	n.Commands[0].GitHead = "4b825dc6"
	if got := asked(n); len(got) != 1 {
		t.Errorf("of a repository that was there: %q", got)
	}
}

// TestUnknownPrograms checks which programs a plan says that nothing is known about: not those that the
// narrative makes.
func TestUnknownPrograms(t *testing.T) {
	lines := []string{
		"sometool sync", "sudo sometool pull; othertool x | sort", "madetool x", "go build -o bin/madetool .", "madetool x", "cp x.sh ~/bin/mytool", "mytool",
		"go install ./cmd/shown", "shown a", "app x", "pip install tool", "tool x", "./run.sh",
	}
	var got []string
	for _, s := range made(t, narrative(lines...), Request{All: true}).Steps {
		if len(s.Unknown) > 0 {
			got = append(got, s.Original+": "+strings.Join(s.Unknown, " "))
		}
	}
	want := []string{"sometool sync: sometool", "sudo sometool pull; othertool x | sort: sometool othertool", "madetool x: madetool", "tool x: tool"}
	if !slices.Equal(got, want) {
		t.Errorf("unknown: %q, want %q", got, want)
	}
}

// TestVariablesSetOnTheWay has lines that set a variable inside an expansion or a test.
func TestVariablesSetOnTheWay(t *testing.T) {
	for _, lines := range [][]string{
		{`: "${COLOR:=blue}"`, `echo "$COLOR" > f`}, {`echo $((n = 3)) > a`, `echo $n > b`}, {`[[ ab =~ (a)b ]]`, `echo "${BASH_REMATCH[1]}" > f`},
	} {
		if got := keptOf(t, lines); got != "0 1" {
			t.Errorf("%q: kept %s, want 0 1", lines, got)
		}
	}
	p := made(t, narrative("false", "echo $? > f"), Request{})
	if len(p.Steps) != 1 || p.Steps[0].Command != "echo 0 > f" {
		t.Errorf("%+v", p.Steps)
	}
}

// TestFailuresInPart has commands that fail and have done a part of what they were to do.
func TestFailuresInPart(t *testing.T) {
	for _, c := range []struct {
		lines []string // those that begin with ! failed with 1, those with !! with 127
		want  string   // the commands of the plan
	}{
		{[]string{"cp a a.bak", "echo 1 >> a", "!rm a.bak nothing"}, "echo 1 >> a"},
		// A function of git leaves a conflict as git does, and is taken back as git is.
		{
			[]string{"pick() { git cherry-pick -x $(git log --format=%h -1 --grep=$1 main); }", "!pick two", "git cherry-pick --abort", "pick one", "!pick two", "echo 1 > a", "git add -u && git cherry-pick --continue"},
			"pick() { git cherry-pick -x $(git log --format=%h -1 --grep=$1 main); }; pick one; pick two; echo 1 > a; git add -u && git cherry-pick --continue",
		},
		// What could be begun again had left nothing.
		{[]string{"!git rebase -i HEAD~3", "GIT_SEQUENCE_EDITOR='sed -i 1d' git rebase -i HEAD~3", "echo 1 > a", "git commit -am one", "git rebase --continue"}, "GIT_SEQUENCE_EDITOR='sed -i 1d' git rebase -i HEAD~3; echo 1 > a; git commit -am one; git rebase --continue"},
		{[]string{"!mkdir old new", "echo 1 > new/f"}, "mkdir old new; echo 1 > new/f"},
		{[]string{"!rm nothing", "echo 1 > a"}, "echo 1 > a"},
		{[]string{"!!cp -r b trial && frob trial", "echo 1 > trial/a"}, "cp -r b trial && frob trial; echo 1 > trial/a"},
		{[]string{"!!cp -r b /tmp/b && frob /tmp/b", "rm -r /tmp/b", "echo 1 > a"}, "echo 1 > a"},
		{[]string{"!!frob b && cp -r b trial", "echo 1 > a"}, "echo 1 > a"},
		{[]string{"!!cp -r b trial; frob trial || frobnicate", "echo 1 > a"}, "echo 1 > a"},
		{[]string{"!sqlite3 db 'create table r(a); .import f r'", "rm -f db", "sqlite3 db 'create table r(a int)'"}, "sqlite3 db 'create table r(a int)'"},
		{[]string{"!sqlite3 work/db 'create table r(a); .import f r'", "rm -rf work", "mkdir work && sqlite3 work/db 'create table r(a int)'"}, "rm -rf work; mkdir work && sqlite3 work/db 'create table r(a int)'"},
		{[]string{"./serve > log &", "!pid=$!; curl -s http://127.0.0.1:18473/a", "echo $pid > a"}, "./serve > log &; pid=$!; curl -s http://127.0.0.1:18473/a; echo $pid > a"},
		{[]string{"!x=1 make || ./made && v=2", "echo $v > a"}, "echo $v > a"},
		{[]string{"!patch a < p", "cp a.orig a", "echo 1 > b"}, "patch a < p; cp a.orig a; echo 1 > b"},
		{[]string{"!patch a < p", "echo 1 > b"}, "echo 1 > b"},
		{[]string{"!for f in a b; do git diff --no-index old/$f $f; done > p.patch"}, "for f in a b; do git diff --no-index old/$f $f; done > p.patch"},
		{[]string{"git branch part HEAD~2", "git push ../part.git part:main", "git branch -D part"}, "git branch part HEAD~2; git push ../part.git part:main; git branch -D part"},
		{[]string{"git init", "echo 1 > a", "git add a", "git commit -m one", "echo 2 > a", "printf 'y\\n' | git add -p", "git commit -m two"}, "git init; echo 1 > a; git add a; git commit -m one; echo 2 > a; printf 'y\\n' | git add -p; git commit -m two"},
	} {
		one, notFound := int32(1), int32(127)
		n := narrative(c.lines...)
		for i := range n.Commands {
			in := &n.Commands[i].Intent
			for _, code := range []*int32{&one, &notFound} {
				if in.Command[0] == '!' {
					in.Command, in.Template, in.ExitCode = in.Command[1:], in.Template[1:], code
				}
			}
		}
		var got []string
		for _, s := range made(t, n, Request{}).Steps {
			got = append(got, s.Command)
		}
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%v: %s, want %s", c.lines, all, c.want)
		}
	}
}
