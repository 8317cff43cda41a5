package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// watched returns a narrative of lines that each may have, after a bar, the files that were seen to change:
// "f=2" is f with the content 2, "+f=2" one that is new, "f=1>2" f with 2 where 1 was, "-f" a file that is gone, "d/" a directory whose
// entries changed, "known" that the recorder knew what was there. The length of its content is its size. A line without a bar was not looked at.
func watched(lines ...string) Narrative {
	texts := make([]string, len(lines))
	seen := map[schemas.EventID]Seen{}
	for i, line := range lines {
		text, changes, ok := strings.Cut(line, " | ")
		texts[i] = text
		if !ok {
			continue
		}
		s := Seen{Below: "/home/ann/app", LookedAt: time.Unix(1767225600+int64(i), 1000).UTC(), Files: map[string]SeenFile{}, Sizes: map[string]int64{}}
		for _, c := range strings.Fields(changes) {
			name, content, _ := strings.Cut(c, "=")
			was, is, both := strings.Cut(content, ">")
			s.Sizes["/home/ann/app/"+strings.TrimPrefix(name, "+")] = int64(max(len(was), len(is)))
			switch rest, gone := strings.CutPrefix(name, "-"); {
			case c == "nothing":
			case c == "known":
				s.Remembered = true
			case gone:
				s.Files["/home/ann/app/"+rest] = SeenFile{Is: absent}
			case strings.HasSuffix(name, "/"):
				s.Directories = append(s.Directories, "/home/ann/app/"+strings.TrimSuffix(name, "/"))
			case c == ".":
				s.Directories = append(s.Directories, "/home/ann/app")
			case both:
				s.Files["/home/ann/app/"+name] = SeenFile{was, is}
			default:
				s.Files["/home/ann/app/"+name] = SeenFile{"", was}
				if rest, isNew := strings.CutPrefix(name, "+"); isNew {
					delete(s.Files, "/home/ann/app/"+name)
					s.Files["/home/ann/app/"+rest] = SeenFile{"", was}
					s.New = append(s.New, "/home/ann/app/"+rest)
				}
			}
		}
		seen[id(i)] = s
	}
	n := narrative(texts...)
	n.Seen = seen
	return n
}

// kept returns the numbers of the lines that are steps.
func kept(p replay.Plan) string {
	var all []string
	for i := range 20 {
		if slices.ContainsFunc(p.Steps, func(s replay.Step) bool { return s.Intent == id(i) }) {
			all = append(all, fmt.Sprint(i))
		}
	}
	return strings.Join(all, " ")
}

// TestSeen checks what the files that changed while commands ran tell of programs that are not known.
func TestSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"many edits that are taken back", []string{"echo a > f | +f=1 .", "git grep -l a |xargs sed -i s/a/b/ | f=1>2 .", "git grep -l b |xargs sed -i s/b/a/ | f=2>1 .", "echo x > g | +g=1 ."}, "0 3"},
		{"edits that are taken back in part", []string{"echo a > f | +f=1 .", "git grep -l a |xargs sed -i s/a/b/ | f=1>2 h=1>2 .", "git grep -l b |xargs sed -i s/b/a/ | f=2>1 h=2>3 .", "echo x > g | +g=1 ."}, "0 1 2 3"},
		{"edits beside something else", []string{"echo a > f | +f=1 .", "git grep -l a |xargs sed -i s/a/b/ | f=1>2 .", "git grep -l b |xargs sed -i s/b/a/ | f=2>1 . d/", "echo x > g | +g=1 ."}, "0 1 2 3"},
		{"questions to a database that was seen not to change", []string{"sqlite3 db 'create table t(a)' | +db=1 .", "sqlite3 -header db < q.sql | nothing", "sqlite3 -csv db 'select 1' > out | +out=1 ."}, "0 2"},
		{"what may be no question", []string{"sqlite3 db 'create table t(a)' | +db=1 .", "sqlite3 db < q.sql | nothing", "sqlite3 -csv db 'select 1' > out | +out=1 ."}, "0 1 2"},
		{"what changed a database", []string{"sqlite3 db 'create table t(a)' | +db=1 .", "sqlite3 -header db < q.sql | db=1>2", "sqlite3 -csv db 'select 1' > out | +out=1 ."}, "0 1 2"},
		{"a program that changed nothing", []string{"echo a > f | f=1", "./show f | nothing", "cp f g | g=1"}, "0 2"},
		{"one by a link in PATH that is moved later", []string{"ln -s 1 ../cur", "export PATH=$HOME/cur/bin:$PATH | nothing", "lsum < in > a | +a=1 .", "ln -sfn 2 ../cur", "lsum < in > b | +b=2 ."}, "0 1 2 3 4"},
		{"one that was not looked at", []string{"echo a > f | f=1", "./show f", "cp f g | g=1"}, "0 1 2"},
		{"what it wrote is a result, and rests on what it may have read", []string{"echo a > f | f=1", "./gen f | out=1", "echo b > x | x=1", "rm x | -x"}, "0 1"},
		{"what it wrote is taken away", []string{"./gen | tmp=1", "echo b > x | x=1", "rm tmp | -tmp"}, "1"},
		{"it does not bring what others read", []string{"./gen | out=1", "cat there > copy | copy=1", "rm out | -out"}, "1"},
		{"it made a directory with a file", []string{"./gen | out/f=1 out/ .", "rm -r out | -out/f .", "echo b > x | x=1"}, "2"},
		{"a file was there in what may be new", []string{"./gen | out/f=1>2 out/ .", "rm -r out | -out/f .", "echo b > x | x=1"}, "0 1 2"},
		{"it made a directory", []string{"./gen | d/", "echo b > x | x=1"}, "0 1"},
		{"it did more to the repository than to look", []string{"./release | .git/HEAD=1", "echo b > x | x=1"}, "0 1"},
		{"it refreshed the index", []string{"./release | .git/index=1", "echo b > x | x=1"}, "1"},
		{"the narrative has to do with the home directory", []string{"mkdir ~/data | nothing", "./load | nothing"}, "0 1"},
		{"a name of the directory itself is no such place", []string{"cd ~/app | nothing", "ls $HOME/app/src \"${HOME}/app\" | nothing", "./load | nothing", "echo b > x | x=1"}, "3"},
		{"a place that is not known", []string{"cp -r ~/$x . | nothing", "./load | nothing"}, "0 1"},
		{"the path of programs is no such place", []string{"export PATH=~/bin:$PATH | nothing", "./load | nothing", "echo b > x | x=1"}, "2"},
		{"a program that writes here and perhaps there", []string{"mkdir ~/data | nothing", "./load a | f=1", "./load b | nothing"}, "0 1 2"},
		{"what installs", []string{"mkdir ~/data | nothing", "echo all: > Makefile | Makefile=1", "make install | nothing"}, "0 1 2"},
		{"a build that made the same again", []string{"make | prog=1 /", "echo b > x | x=1", "make -s all | prog=1>1"}, "0 1"},
		{"a look that left a file", []string{"npm test | coverage.txt=1", "echo b > x | x=1"}, "0 1"},
		{"what it read before that was replaced", []string{"echo a > src | src=1", "npm test | coverage.txt=1", "echo b > src | src=1>2"}, "0 1 2"},
		{"tests that left what they can make again", []string{"pytest | src/__pycache__/a.pyc=1 src/__pycache__/", "echo b > x | x=1"}, "1"},
		{"what lies in a temporary directory", []string{"tmp=$(mktemp -d) | nothing", "echo a > $tmp/x | nothing", "cp $tmp/x f | f=1", "rm -r \"$tmp\" | nothing"}, "0 1 2 3"},
		{"a temporary directory that is entered", []string{"tmp=$(mktemp -d) | nothing", "(cd $tmp && seq 3 > n) | nothing", "cp $tmp/n f | f=1"}, "0 1 2"},
		{"what is written somewhere", []string{"dir=$(./place) | nothing", "echo a > $dir/x | nothing", "cp $dir/x f | f=1"}, "0 1 2"},
		{"a temporary file that nothing needs", []string{"tmp=$(mktemp -d) | nothing", "echo a > $tmp/x | nothing", "echo b > f | f=1", "rm -r \"$tmp\" | nothing"}, "2"},
		{"a temporary file that is moved", []string{"t=$(mktemp ./work.XXXX) | work.abcd=", "sort f > $t | work.abcd=1", "mv $t g | -work.abcd g=1"}, "0 1 2"},
		{"places that others name", []string{"mkdir ~/data && cp f ~/data/f | nothing", "./load | nothing", "cp ~/data/f g | g=1"}, "0 2"},
		{"a place that is looked into", []string{"mkdir ~/data && cp f ~/data/f | nothing", "./load | nothing", "ls ~/data | nothing"}, "0 1"},
		{"a place that is told to a program", []string{"./install ~/typo | nothing", "./install ~/data | nothing", "./show | nothing", "rm -r ~/typo | nothing", "ls ~/data | nothing"}, "1"},
		{"a program of the home directory", []string{"./install ~/data | nothing", "frob | nothing"}, "0 1"},
		{"a module of the project", []string{"./install ~/data | nothing", "diff ~/data/x <(python3 -m frob) | nothing"}, "0"},
		{"names that are not in the line", []string{"./install ~/data | nothing", "xargs rm < list | nothing"}, "0 1"},
		{"a removal of what is not there", []string{"rm -f nothing | nothing", "echo b > x | x=1"}, "1"},
		{"a removal of what a failure may have left", []string{"rm -f f | -f", "echo b > x | x=1"}, "0 1"},
		{"another command ran meanwhile", []string{"./show | nothing", "echo b > x | x=1"}, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(t, watched(c.lines...), Request{})
			if got := kept(p); got != c.want {
				t.Errorf("kept %s, want %s", got, c.want)
				for _, s := range p.Steps {
					t.Logf("kept %q: %v", s.Original, s.Why)
				}
			}
		})
	}
	// The look at the first ends after the second has begun.
	for _, c := range []struct{ first, second, want string }{
		{"./show | x=1", "echo b > x | x=1", "0 1"},
		{"./show | nothing", "echo b > x", "0 1"},
		{"./show | nothing", "echo b > x | x=1", "1"},
	} {
		n := watched(c.first, c.second)
		s := n.Seen[id(0)]
		s.LookedAt = n.Commands[1].Time.Add(time.Millisecond)
		n.Seen[id(0)] = s
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%q, and %q before it was looked at: kept %s, want %s", c.first, c.second, got, c.want)
		}
	}
}

// TestLateLooks has a look that ended after the next command had begun: what it read of a file may be what that had
// made of it already, so that the file seems to be as it was.
func TestLateLooks(t *testing.T) {
	for late, want := range map[bool]string{true: "0 1 2", false: "0 2"} {
		n := watched("cp f f.bak | f.bak=1 .", "sed -i s/1/2/ f | f=2>2 .", "echo 3 >> f | f=2>3")
		if late {
			s := n.Seen[id(0)]
			s.LookedAt = n.Commands[1].Time.Add(time.Millisecond)
			n.Seen[id(0)] = s
		}
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("late: %v: kept %s, want %s", late, got, want)
		}
	}
}

// TestABuildThatMayWriteElsewhere keeps a build for the run of what it made, though it names another place, where it
// may have written too.
func TestABuildThatMayWriteElsewhere(t *testing.T) {
	n := watched("echo a > f.c | f.c=1", "make | p=absent>1 f.o=absent>1 .", "sed -i s/a/b/ f.c | f.c=1>2", "make && ./p /tmp/z | p=1>2 f.o=1>2 .", "./p x y | y=absent>1 .")
	if got := kept(made(t, n, Request{})); !strings.Contains(got, "3 4") {
		t.Errorf("kept %s, want the second build too", got)
	}
}

// TestNamedButNotWritten checks that a program which was seen to change no file that it names only read them, unless
// it was so quick that the times of files may not tell.
func TestNamedButNotWritten(t *testing.T) {
	n := watched("cp there f | f=1", "sqlite3 f '.import x.csv t' | nothing", "echo b > x | x=1")
	for took, want := range map[int64]string{int64(time.Second): "0 2", int64(time.Millisecond): "0 1 2"} {
		n.Commands[1].Duration = &took
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("it took %s: kept %s, want %s", time.Duration(took), got, want)
		}
	}
}

// TestServicesThatWroteNothing checks that a service during which nothing changed but what the commands beside it
// name is left out with what was asked of it.
func TestServicesThatWroteNothing(t *testing.T) {
	lines := []string{"echo a > f | f=1", "./serve 8000 & | nothing", "curl -s http://127.0.0.1:8000/f | nothing", "echo b > g | g=1", "kill $! | nothing"}
	if got := kept(made(t, watched(lines...), Request{})); got != "0 3" {
		t.Errorf("kept %s, want 0 3", got)
	}
	lines[2] = "curl -s -d x=1 http://127.0.0.1:8000/f | db=1"
	if got := kept(made(t, watched(lines...), Request{})); got != "0 1 2 3 4" {
		t.Errorf("it wrote a file: kept %s, want all", got)
	}
}

// TestServicesThatCount asks a service that keeps how often it was asked. A log of what it was asked is no such thing.
func TestServicesThatCount(t *testing.T) {
	lines := []string{"./serve 8000 > out.txt & | nothing", "curl -s -d x=1 localhost:8000/f | db=1", "curl -s -o /dev/null localhost:8000/f | db=1>2 out.txt=1>2", "kill %1 | nothing"}
	if got := kept(made(t, watched(lines...), Request{})); got != "0 1 2 3" {
		t.Errorf("it counts: kept %s, want all", got)
	}
	lines[2] = "curl -s -o /dev/null localhost:8000/f | out.txt=1>2 access.log=1>2"
	if got := kept(made(t, watched(lines...), Request{})); got != "0 1 3" {
		t.Errorf("it logs: kept %s, want 0 1 3", got)
	}
}

// TestServicesThatSave asks a service that writes a file when it ends. What ended it may have written the file itself.
func TestServicesThatSave(t *testing.T) {
	lines := []string{"./serve 8000 > out.txt & | nothing", "curl -s localhost:8000/f | nothing", "for i in 1 2; do curl -s localhost:8000/f; done | nothing", "kill %1 && wait | db=1", "curl -s localhost:8000/f | nothing"}
	if got := kept(made(t, watched(lines...), Request{})); got != "0 1 2 3" {
		t.Errorf("it saves: kept %s, want 0 1 2 3", got)
	}
	lines[3] = "kill %1 && echo > db | db=1"
	if got := kept(made(t, watched(lines...), Request{})); got != "0 3" {
		t.Errorf("what ended it wrote the file: kept %s, want 0 3", got)
	}
	lines[3] = "kill %1 && wait | a.log=1"
	if got := kept(made(t, watched(lines...), Request{})); got != "0 3" {
		t.Errorf("it logs: kept %s, want 0 3", got)
	}
}

// TestServicesThatLog asks a service that logs what it is asked, and reads the log.
func TestServicesThatLog(t *testing.T) {
	lines := []string{"./serve 8000 & | nothing", "curl -X PUT -d a localhost:8000/x | db=1 a.log=1", "curl -X PUT -d b localhost:8000/x | db=1>2 a.log=1>2", "curl -s localhost:8000/y | a.log=2>3", "curl -s localhost:8001/y | nothing", "kill %1 | nothing", "wc -l < a.log > n | n=3 ."}
	if got := kept(made(t, watched(lines...), Request{})); got != "0 1 2 3 5 6" {
		t.Errorf("kept %s, want 0 1 2 3 5 6", got)
	}
	lines[6] = "wc -l < a.log | nothing"
	if got := kept(made(t, watched(lines...), Request{})); got != "0 2 5" {
		t.Errorf("kept %s, want 0 2 5", got)
	}
}

// TestServicesThatDecline puts something at an address twice. A second time that changed no file, where the first had,
// replaced nothing.
func TestServicesThatDecline(t *testing.T) {
	lines := []string{"./serve 8000 & | nothing", "curl -X PUT -d a localhost:8000/x | db=1", "curl -X PUT -d b localhost:8000/x | db=2", "curl -s localhost:8000/x > x | x=2", "kill %1 | nothing"}
	if got := kept(made(t, watched(lines...), Request{})); got != "0 2 3 4" {
		t.Errorf("it was replaced: kept %s, want 0 2 3 4", got)
	}
	lines[2] = "curl -X PUT -d b localhost:8000/x | nothing"
	if got := kept(made(t, watched(lines...), Request{})); !strings.HasPrefix(got, "0 1 ") {
		t.Errorf("it was refused: kept %s, want 0 1 and more", got)
	}
}

// TestNamesInsideTexts has a program that is known to read nothing but its files, and whose text names a variable of
// its environment.
func TestNamesInsideTexts(t *testing.T) {
	for use, want := range map[string]string{
		"jq 'map(select(.t > env.SINCE))' in.json > out.json": "0 1 2", "awk '$1 > ENVIRON[\"SINCE\"]' in.json > out.json": "0 1 2",
		"jq 'map(.SINCE_WHEN)' in.json > out.json": "1 2",
	} {
		if got := kept(made(t, narrative("export SINCE=2024", "echo '[]' > in.json", use), Request{})); got != want {
			t.Errorf("%s: kept %s, want %s", use, got, want)
		}
	}
}

// TestBackByContent checks that edits are left out with what takes them back, whatever both are.
func TestBackByContent(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"sed there and back", []string{"sed -i s/a/b/ f | f=1>2", "sed -i s/b/a/ f | f=2>1", "sed -i s/c/d/ f | f=1>3"}, "2"},
		{"an editor", []string{"sed -i s/a/b/ f | f=1>2", "vim f | f=2>1", "echo x > g | g=1"}, "2"},
		{"appended and cut", []string{"echo a > f | f=1", "echo b >> f | f=1>2", "sed -i '$d' f | f=2>1"}, "0"},
		{"read in between", []string{"sed -i s/a/b/ f | f=1>2", "cp f g | g=1", "sed -i s/b/a/ f | f=2>1"}, "0 1 2"},
		{"something else in between", []string{"sed -i s/a/b/ f | f=1>2", "sed -i s/b/a/ f | f=3>1"}, "0 1"},
		{"one of two files", []string{"sed -i s/a/b/ f g | f=1>2 g=1>2", "sed -i s/b/a/ f | f=2>1"}, "0 1"},
		{"nothing to do", []string{"sed -i s/a/b/ f | f=1>1", "echo x > g | g=1"}, "1"},
		{"a time is a part of it", []string{"echo a > f | f=1", "touch -d 2026-01-01 f | f=1>1"}, "0 1"},
		{"a mode is a part of it", []string{"chmod 600 f | f=1/644>1/600", "chmod 644 f | f=1/600>1/644", "echo x > g | g=1"}, "0 1 2"},
		{"a file that is written anew", []string{"echo a > f | f=1", "echo b > f | f=1>2", "echo a > f | f=2>1"}, "2"},
		{"a file that was made meanwhile goes, too", []string{"sed -i s/a/b/ f; cp f g | f=1>2 g=absent>2", "rm g; sed -i s/b/a/ f | f=2>1 g=2>absent", "echo x > h | h=1"}, "2"},
		{"a patch there and back", []string{"patch -p1 -d a < p | a/f=1>2 a/g=1>2", "patch -R -p1 -d a < p | a/f=2>1 a/g=2>1", "echo x > h | h=1"}, "2"},
		{"a copy made on the way", []string{"cp f f.good; echo bad >> f | f=1>2 f.good=absent>1 .", "mv f.good f | f=2>1 f.good=1>absent .", "echo x > h | h=1"}, "2"},
		{"copied back in a loop", []string{"for f in *.c; do cp \"$f\" \"$f.orig\"; done | a.c.orig=absent>1 b.c.orig=absent>1 .", "sed -i s/a/b/ a.c b.c | a.c=1>2 b.c=1>2", "for f in *.orig; do cp \"$f\" \"${f%.orig}\"; done | a.c=2>1 b.c=2>1", "rm *.orig | a.c.orig=1>absent b.c.orig=1>absent .", "echo x > g | g=1"}, "4"},
		{"moved back in a loop", []string{"sed -i.bak s/a/b/ a.c b.c | a.c=1>2 b.c=1>2 a.c.bak=absent>1 b.c.bak=absent>1 .", "for f in *.bak; do mv \"$f\" \"${f%.bak}\"; done | a.c=2>1 b.c=2>1 a.c.bak=1>absent b.c.bak=1>absent .", "echo x > g | g=1"}, "2"},
		{"copied back in a loop, used before", []string{"for f in *.c; do cp \"$f\" \"$f.orig\"; done | a.c.orig=absent>1 .", "sed -i s/a/b/ a.c | a.c=1>2", "cp a.c g | g=1 .", "for f in *.orig; do cp \"$f\" \"${f%.orig}\"; done | a.c=2>1"}, "0 1 2 3"},
		{"compiled again", []string{"javac -d out A.java | out/A.class=absent>1 .", "javac -d out A.java B.java | out/A.class=1>1 out/B.class=absent>1 out/", "jar -cf a.jar -C out . | a.jar=1 ."}, "1 2"},
		{"git config of a file", []string{"git config -f a.ini x.y 1 | a.ini=1>2", "git config -f a.ini --unset x.y | a.ini=2>1", "echo x > g | g=1"}, "2"},
		{"a stash that is dropped", []string{"echo b >> f | f=1>2", "git stash -q | f=2>1 .git/refs/stash=1", "git stash show --stat", "git stash drop -q | -.git/refs/stash", "echo x > g | g=1"}, "4"},
		{"a stash that is dropped, and found", []string{
			"echo b >> f | f=1>2", "git stash -q | f=2>1 .git/refs/stash=1", "git stash drop -q | -.git/refs/stash", "git branch quiet $(git fsck --no-reflogs | awk '{ print $3 }') | .git/refs/heads/quiet=1",
		}, "0 1 2 3"},
		{"a stash that is dropped, read before", []string{"echo b >> f | f=1>2", "cp f g | g=1", "git stash -q | f=2>1 .git/refs/stash=1", "git stash drop -q | -.git/refs/stash"}, "0 1 2 3"},
		{"a stash that stays", []string{"echo b >> f | f=1>2", "git stash -q | f=2>1 .git/refs/stash=1", "echo x > g | g=1"}, "0 1 2"},
		{"what was built is removed, and what was installed stays", []string{
			"./configure opt && make install | a/prog=absent>1 a/ .", "rm -r a | a/prog=1>absent a/ .", "echo x > g | g=1",
		}, "0 1 2"},
		{"a reset that also takes back a submodule", []string{
			"git submodule add ../s s | .gitmodules=absent>1 s/f=absent>1 .git/modules/s/HEAD=1 .", "rm .gitmodules | .gitmodules=1>absent .", "git rm -f .gitmodules | .git/index=2",
			"git reset -q --hard; git status | .git/index=3 .git/HEAD=1", "git submodule add ../s t | .gitmodules=absent>2 t/f=absent>1 .",
		}, "0 1 2 3 4"},
		{"made anew by the same command", []string{
			"sqlite3 b.db < s.sql | b.db=absent>1 .", "sqlite3 b.db '.import a.csv t' | b.db=1>2", "rm b.db | b.db=2>absent .", "sqlite3 b.db < s.sql | b.db=absent>1 .",
		}, "3"},
		{"git checkout of a file", []string{"sed -i s/a/b/ f | f=1>2", "git checkout f | f=2>1 .git/index=1", "echo x > g | g=1"}, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := watched(c.lines...)
			for i := range n.Commands {
				n.Commands[i].GitHead = "c0ffee"
			}
			if got := kept(made(t, n, Request{})); got != c.want {
				t.Errorf("kept %s, want %s", got, c.want)
			}
		})
	}
	n := watched("echo a > x | x=1", "git reset --hard HEAD^ | f=1>2 -g .git/HEAD=1", "git log | nothing", "git reset --hard HEAD@{1} | f=2>1 g=1 .git/HEAD=2", "echo b > y | y=1")
	for i, head := range []string{"c1", "c0", "c0", "c1", "c1"} {
		n.Commands[i].GitHead = head
	}
	s := n.Seen[id(1)]
	s.Files["/home/ann/app/g"] = SeenFile{"1", absent}
	if got := kept(made(t, n, Request{})); got != "0 4" {
		t.Errorf("reset there and back: kept %s, want 0 4", got)
	}
	n.Commands[3].GitHead = "c2"
	if got := kept(made(t, n, Request{})); got != "0 1 3 4" {
		t.Errorf("reset to another commit: kept %s, want 0 1 3 4", got)
	}
}

// TestJobsThatTakeFilesAway keeps what a job was given in files that it took away, and the loops that wait for it.
func TestJobsThatTakeFilesAway(t *testing.T) {
	n := watched(
		"printf 'while :; do cat in/* > out; rm in/*; done' > w.sh | w.sh=1 .", "bash w.sh &", "echo a > in/h | in/h=1 in/",
		"until [ -e out ]; do sleep 1; done | out=1 in/h=1>absent in/ .", "echo b > in/h; while [ -e in/h ]; do sleep 1; done | out=1>2 in/", "cp out kept | kept=2 .", "ls",
	)
	if got := kept(made(t, n, Request{})); got != "0 1 2 3 4 5" {
		t.Errorf("kept %s, want all but the last", got)
	}
}

// TestTextsThatStay checks that the text of a script is known as long as nothing was seen to change it, so that its
// words endanger nothing, and that what runs in a directory for temporary files leaves nothing there that counts.
func TestTextsThatStay(t *testing.T) {
	p := made(t, watched("printf 'kill $1\\n' > ctl | ctl=1", "./other | x=1", "./ctl stop"), Request{All: true})
	if d := p.Steps[2].Danger; len(d) > 0 {
		t.Errorf("./ctl stop: %+v", d)
	}
	p = made(t, watched("printf 'kill $1\\n' > ctl | ctl=1", "./other | ctl=2", "./ctl stop"), Request{All: true})
	if d := p.Steps[2].Danger; len(d) == 0 {
		t.Error("a script that another program changed is not asked about")
	}
	p = made(t, watched("printf 'case $1 in release) echo;; esac\\n' > ../configure", "sed -i s/x/y/ ../configure", "make", "../configure release"), Request{All: true})
	if d := p.Steps[3].Danger; len(d) == 0 {
		t.Error("a script that another program may have changed is not asked about")
	}
	p = made(t, watched("printf 'case $1 in release) echo;; esac\\n' > configure | configure=1", "sed -i s/x/y/ configure | configure=2", "make | a.o=1", "./configure release | x=1"), Request{All: true})
	if d := p.Steps[3].Danger; len(d) > 0 {
		t.Errorf("./configure release: %+v", d)
	}
	n := watched("echo 'print(1)' > /tmp/t.py | nothing", "python3 /tmp/t.py; rm /tmp/t.py | nothing", "echo x > g | g=1")
	if got := kept(made(t, n, Request{})); got != "2" {
		t.Errorf("kept %s, want 2", got)
	}
}

// TestResetOfCommits checks that edits which were committed are left out with the reset that takes the commit back,
// unless something rests on it.
func TestResetOfCommits(t *testing.T) {
	lines := []string{"echo a > x | x=1", "sed -i s/a/b/ f | f=1>2", "git commit -qam two | .git/refs/heads/main=2", "git log | nothing", "git reset --hard HEAD~1 | f=2>1 .git/refs/heads/main=1", "echo b > y | y=1"}
	for line, want := range map[string]string{"git log | nothing": "0 5", "git tag v2 | .git/refs/tags/v2=2": "0 1 2 3 4 5", "git rebase main | .git/refs/heads/main=2": "0 1 2 3 4 5"} {
		lines[3] = line
		n := watched(lines...)
		for i, head := range []string{"c1", "c1", "c2", "c2", "c1", "c1"} {
			n.Commands[i].GitHead = head
		}
		if line != "git log | nothing" && line != "git tag v2 | .git/refs/tags/v2=2" {
			n.Commands[3].GitHead = "c3"
		}
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("%s: kept %s, want %s", line, got, want)
		}
	}
}

// TestResetOfWhatGitDid checks that what git alone did is left out with the reset that takes it back, as far as the files
// are seen to be as they were.
func TestResetOfWhatGitDid(t *testing.T) {
	for _, c := range []struct{ line, head, reset, want string }{
		{"git commit -q --allow-empty -m try | .git/refs/heads/main=2", "c2", "git reset -q --hard HEAD~1 | .git/refs/heads/main=1", "0 3"},
		{"git cherry-pick -n main && git diff --cached | f=1>2 .git/index=2", "c1", "git reset --hard | f=2>1 .git/index=1", "0 3"},
		{"GIT_SEQUENCE_EDITOR=cat git rebase -i main | f=1>2 .git/refs/heads/main=2", "c2", "git reset -q --hard before | f=2>1 .git/refs/heads/main=1", "0 3"},
		{"git rebase main | f=1>2 .git/refs/heads/main=2", "c2", "git reset -q --hard before | f=2>3 .git/refs/heads/main=1", "0 1 2 3"},
		{"git rebase main | f=1>2 .git/refs/heads/main=2", "c2", "git reset -q --hard HEAD~1 | f=2>1 .git/refs/heads/main=3", "0 1 2 3"},
		{"git merge -q topic && git push | f=1>2 .git/refs/heads/main=2", "c2", "git reset -q --hard before | f=2>1 .git/refs/heads/main=1", "0 1 2 3"},
		{"git commit -q --allow-empty -m try && echo c > z | z=1 .git/refs/heads/main=2", "c2", "git reset -q --hard HEAD~1 | .git/refs/heads/main=1", "0 1 2 3"},
		{"git switch topic | f=1>2 .git/HEAD=2", "c2", "git reset -q --hard main | f=2>1 .git/refs/heads/topic=1", "0 1 2 3"},
	} {
		n := watched("echo a > x | x=1", c.line, c.reset, "echo b > y | y=1")
		last := "c1"
		if strings.Contains(c.reset, "HEAD~1") && c.want == "0 1 2 3" {
			last = "c3"
		}
		for i, head := range []string{"c1", c.head, last, last} {
			n.Commands[i].GitHead = head
		}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%s: kept %s, want %s", c.line, got, c.want)
		}
	}
}

// TestResetBesideOthers has commands between a commit and its reset that have to do with other files.
func TestResetBesideOthers(t *testing.T) {
	for line, want := range map[string]string{"chmod +x hook | hook=1>3": "0 2 4", "echo c > f | f=1>3": "0 4", "git add f | .git/index=2": "0 4"} {
		n := watched("echo a > x | x=1", "git commit -q --allow-empty -m try | .git/refs/heads/main=2", line, "git reset -q --hard HEAD~1 | .git/refs/heads/main=1", "echo b > y | y=1")
		if line[0] == 'e' {
			n.Seen[id(3)].Files["/home/ann/app/f"] = SeenFile{"3", "1"}
		}
		for i, head := range []string{"c1", "c2", "c2", "c1", "c1"} {
			n.Commands[i].GitHead = head
		}
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("%s: kept %s, want %s", line, got, want)
		}
	}
}

// TestKillThatWaits checks that a line which ends a process and waits for it did so, although its exit code is
// that of the process, or tells that there was none any more.
func TestKillThatWaits(t *testing.T) {
	n := narrative("./serve 8000 &", "curl -s -o page http://127.0.0.1:8000/", "kill $!; wait $!")
	for _, code := range []int32{143, 127} {
		n.Commands[2].ExitCode = &code
		if got := kept(made(t, n, Request{})); got != "0 1 2" {
			t.Errorf("exit code %d: kept %s, want all", code, got)
		}
	}
}

// TestFailedAfterItCommitted checks that a command which failed but left another HEAD is no failure.
func TestFailedAfterItCommitted(t *testing.T) {
	n := narrative("echo a > f", "npm version minor", "npm version patch", "git push")
	one := int32(1)
	n.Commands[1].ExitCode = &one
	for i, head := range []string{"c0", "c1", "c2", "c2"} {
		n.Commands[i].GitHead = head
	}
	if got := kept(made(t, n, Request{})); !strings.HasPrefix(got, "0 1 2") {
		t.Errorf("kept %s, want 0 1 2", got)
	}
}

// TestFilesThatALineTakesBack has lines that make files and remove them again.
func TestFilesThatALineTakesBack(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"of its own":           {[]string{"echo a > f | f=1", "echo tmp > junk; rm junk | ./", "cat f > g | g=1"}, "0 2"},
		"of an earlier one":    {[]string{"echo a > junk | junk=1", "echo tmp > junk; rm junk | junk=1>absent ./", "echo b > g | g=1"}, "2"},
		"one that is there":    {[]string{"echo a > f; rm f; echo b > f | f=1", "cat f > g | g=1"}, "0 1"},
		"that it renamed":      {[]string{"echo b > a | a=1", "sort a > a.tmp && mv a.tmp a | a=1>2 ./"}, "0 1"},
		"that was not removed": {[]string{"echo tmp > junk; test -f x && rm junk; true | junk=1", "cat junk > g | g=1"}, "0 1"},
	})
}

// TestFailuresThatLeaveFiles has commands that failed and were seen to change files: what of that is there at the end
// counts, unless the same command did it again or a build left it. Lines that begin with ! failed.
func TestFailuresThatLeaveFiles(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"!mkdir out && cp a out/ && frob out > o.txt | out/a=1 o.txt=1 out/ .", "echo 1 > b | b=1 ."}, "0 1"},
		{[]string{"!frob > o.txt | o.txt=1 .", "frob -f > o.txt | o.txt=1>2"}, "1"},
		{[]string{"!frob build | x=1 .", "frob build | x=2 ."}, "1"},
		{[]string{"!frob build | nothing", "echo 1 > b | b=1 ."}, "1"},
		{[]string{"!make | a.o=1 .", "make CC=cc | a.o=2 prog=1 ."}, "1"},
		{[]string{"!read -r -d '' text <<'E'\na\nE", "echo \"$text\" > o"}, "0 1"},
		{[]string{"!n=$(grep -c x f)", "echo \"$n\" > o"}, "0 1"},
		{[]string{"git init . | .git/HEAD=1", "echo a > f | f=1 .", "!git add f && git commit -m one | .git/index=1 .git/objects/aa/b=1", "chmod -x .git/hooks/pre-commit | .git/hooks/pre-commit=2", "git commit -m two | .git/refs/heads/main=1"}, "0 1 2 3 4"},
		{[]string{"make | site/a=1 site/b=1 site/ .", "!rm site/b && make -B x | -site/b site/ ", "ls site > o | o=1 ."}, "0 1 2"},
		{[]string{"!false; read -r a < nothing", "echo b > o"}, "1"},
	} {
		one := int32(1)
		n := watched(c.lines...)
		for i := range n.Commands {
			if in := &n.Commands[i].Intent; in.Command[0] == '!' {
				in.Command, in.Template, in.ExitCode = in.Command[1:], in.Template[1:], &one
			}
		}
		n.Commands[len(n.Commands)-1].Template = n.Commands[len(n.Commands)-1].Command
		p := made(t, n, Request{})
		if got := kept(p); got != c.want {
			t.Errorf("%q: kept %s, want %s", c.lines, got, c.want)
			for _, s := range p.Steps {
				t.Logf("kept %q: %v", s.Original, s.Why)
			}
		}
	}
}

// TestFailuresIntoOtherFiles has a command that failed and then worked: of the same template, the second wrote
// another file, and so did not do again what the first had left.
func TestFailuresIntoOtherFiles(t *testing.T) {
	for _, c := range []struct{ second, want string }{{"after", "0 1"}, {"before", "1"}} {
		n := watched("cycles lib > before | before=1 .", "cycles lib > "+c.second+" | "+c.second+"=2 .")
		one := int32(1)
		n.Commands[0].ExitCode = &one
		for i := range n.Commands {
			n.Commands[i].Template = "cycles * > *"
		}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("> %s: kept %s, want %s", c.second, got, c.want)
		}
	}
}

// TestNamesInsideWords has files that words of commands name behind a colon or the like, or by a flag.
func TestNamesInsideWords(t *testing.T) {
	for _, lines := range [][]string{
		{"echo x > pass.txt", "openssl enc -pass file:pass.txt -in a -out b", "rm pass.txt"},
		{"echo x > jar", "frob --cookies=jar > b", "rm jar"},
		{"echo x > jar", "add() { frob -b jar -d \"$1\" > b; }", "add 1", "rm jar"},
		{"sqlite3 a.db '.backup c.db'", "sqlite3 a.db \"ATTACH 'c.db' AS c; SELECT * FROM c.t\" > b", "rm c.db"},
		{"echo x > in.txt", "frob -e 'read(\"in.txt\")' > b", "rm in.txt"},
		{"echo x > in.txt", "frob > b <<'E'\nread in.txt\nE", "rm in.txt"},
		{"mkfifo p", "cat p > got &", "echo a > p", "wait", "rm p"},
	} {
		want := "0 1 2 3 4"[:2*len(lines)-1]
		if got := keptOf(t, lines); got != want {
			t.Errorf("%q: kept %s, want %s", lines, got, want)
		}
	}
	if got := keptOf(t, []string{"echo x > pass.txt", "echo file:pass.txt > b", "rm pass.txt"}); got != "1" {
		t.Errorf("kept %s, want 1", got)
	}
}

// TestFailedAndSeen checks that a command which failed and was seen to leave nothing at a path is not needed for what is
// read there, and that one which left something, or was not looked at, is.
func TestFailedAndSeen(t *testing.T) {
	one := int32(1)
	for first, want := range map[string]string{
		"sqlite3 db 'create tabel t(a)' | nothing":   "1",
		"sqlite3 db 'create table t(a); x' | db=1>2": "0 1",
		"sqlite3 db 'create table t(a); x'":          "0 1",
	} {
		n := watched(first, "sqlite3 db 'insert into t values (1)' | db=2>3")
		n.Commands[0].ExitCode = &one
		if got := kept(made(t, n, Request{})); got != want {
			t.Errorf("%s: kept %s, want %s", first, got, want)
		}
	}
}
