package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestMadeAgain has builds, and what they left, of which another command makes the same again or takes it away.
func TestMadeAgain(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"a check that built, again":              {[]string{"make test | a.o=1 t=1 .", "sed -i s/a/b/ a.c | a.c=1", "make test |tail -3 | a.o=1>2 t=1>2"}, "1 2"},
		"a check, and a build of the same files": {[]string{"make test && ./t | a.o=1 t=1 .", "make install DESTDIR=s | s/t=1 a.o=1>2 t=1>2 s/ ."}, "1"},
		"objects that a build does not lack":     {[]string{"make test && ./t | a.o=1 .", "make install DESTDIR=s | s/t=1 s/ .", "make clean | -a.o ."}, "1 2"},
		"a library that is only installed":       {[]string{"make | a.o=1 l.so=1 .", "make install DESTDIR=s | s/l.so=1 s/ .", "make clean | -a.o -l.so ."}, "0 1 2"},
		"another directory's":                    {[]string{"make -C d test && ./t | d/a.o=1 .", "(cd e && make install) | s/t=1 s/ .", "rm d/a.o | -d/a.o d/"}, "0 1 2"},
		"what make clean takes away":             {[]string{"make test && ./t | a.o=1 t=1 .", "make clean | -a.o -t .", "echo b > x | x=1"}, "2"},
		"what a builder takes away":              {[]string{"cargo check | target/a=1 target/ .", "cargo clean | -target/a target/ .", "echo b > x | x=1"}, "2"},
		"what was built in what was unpacked":    {[]string{"tar xf a.tar | d/a=1 d/ .", "make -C d | d/b.o=1 d/", "make -C d clean | -d/b.o d/"}, "0"},
		"what a listing shows":                   {[]string{"mkdir d && echo a > d/a | d/a=1 d/ .", "ls d > l | l=1 .", "rm d/a | -d/a d/"}, "0 1 2"},
		"what a comparison shows":                {[]string{"cp -r d e | e/a=1 e/ .", "echo a >> e/a | e/a=1>2", "diff -r d e > l; true | l=1 .", "rm -r e | -e/a ."}, "0 1 2 3"},
		"make clean of which a file stays":       {[]string{"make check | a.o=1 out=1 .", "make clean | -a.o ."}, "0 1"},
		"a program of the last of three builds":  {[]string{"ninja | out/p=1 out/", "sed -i s/a/b/ a.c | a.c=1", "python3 conf.py && ninja | out/p=2", "out/p > r | r=1 ."}, "1 2 3"},
		"all in a directory is removed":          {[]string{"mkdir b | b/ .", "(cd b && cmake .. && make) | b/p=1 b/", "rm -rf b/* | -b/p b/", "echo x > h | h=1"}, "0 3"},
		"a directory that is put back":           {[]string{"cp -r d d.bak | d.bak/a=1 d.bak/ .", "sed -i s/a/b/ d/a | d/a=1>2", "rm -r d && mv d.bak d | -d.bak/a .", "echo x > h | h=1"}, "3"},
		"a directory that is put back, used":     {[]string{"cp -r d d.bak | d.bak/a=1 d.bak/ .", "sed -i s/a/b/ d/a | d/a=1>2", "cp d/a g | g=1 .", "rm -r d && mv d.bak d | -d.bak/a ."}, "0 1 2 3"},
		"a commit that is amended twice":         {[]string{"git init -q . | .git/HEAD=1 .", "echo a > f | f=1 .", "git add f | .git/index=1", "git commit -qm one | .git/refs/heads/main=1", "git commit -q --amend -m two | .git/refs/heads/main=2", "git commit -q --amend -m three | .git/refs/heads/main=3"}, "0 1 2 3 5"},
		"a push out of a clone that is removed":  {[]string{"git init -q --bare /home/ann/r.git", "git clone -q /home/ann/r.git w", "(cd w && echo a > f && git add f && git commit -qm one && git push -q)", "rm -rf w"}, "0 1 2 3"},
		"a service on a port that is not known":  {[]string{". ./env.conf", "python3 app.py & APP=$!", "sleep 1", "curl -s localhost:$PORT/ > out", "kill $APP"}, "0 1 2 3 4"},
		"a link beside the file that is removed": {[]string{"cp -l f g | g=1 f=1>1 .", "rm g | f=1>1 g=1>absent .", "echo x > h | h=1"}, "2"},
		"distclean of what was built elsewhere":  {[]string{"tar xf a.tar | d/a=1 d/ .", "(cd d && make && make test) | d/p=1 d/q=1 d/", "(cd d && make distclean) | -d/p d/", "rm -r d | -d/a -d/q ."}, "0 3"},
		"what the build that is kept made again": {[]string{"javac -d out A.java T.java | out/A.class=1 out/T.class=1 out/ .", "javac -d out A.java T.java | out/A.class=1>2 out/T.class=1>2", "rm out/T.class | out/T.class=2>absent out/"}, "1 2"},
		"what go mod edit adds":                  {[]string{"go mod edit -require=a@v0.0.0 | go.mod=1>2", "go mod edit -replace=a=../a | go.mod=2>3"}, "0 1"},
		"a build that adds to a log":             {[]string{"make | a.o=1 log=1 .", "make | log=1>12", "make -s | log=12>123"}, "0 1 2"},
		"a build that writes a log anew":         {[]string{"make | a.o=1 log=1 .", "make | log=1>2", "make -s | log=2>3"}, "0"},
		"a log of another size after an edit":    {[]string{"make | a.o=1 log=1 .", "sed -i s/a/b/ a.c | a.c=1", "make | a.o=1>2 log=1>12"}, "1 2"},
		"links that a loop names":                {[]string{"for f in a b; do ln -s /x/$f e/.$f; done | nothing", "echo a > e/c | e/c=1", "rm e/c | -e/c"}, "0"},
	})
}

// TestBegunAgain has git init in a repository that was there already: it copies templates, and only they tell that it
// was done.
func TestBegunAgain(t *testing.T) {
	p := made(t, watched("git init -q | .git/hooks/post-commit=1 .git/hooks/", "cp .git/hooks/post-commit f | f=1 ."), Request{})
	if got := kept(p); got != "0 1" {
		t.Fatalf("kept %s", got)
	}
	if slices.ContainsFunc(p.Steps[0].Post, func(p replay.Postcondition) bool { return p.Kind == replay.PostDirectory }) {
		t.Errorf("the directory tells that it was done: %v", p.Steps[0].Post)
	}
	if got := kept(made(t, watched("git init -q | nothing", "echo a > f | f=1 ."), Request{})); got != "1" {
		t.Errorf("kept %s of an init that did nothing", got)
	}
	if got := kept(made(t, watched("git init -q | .git/HEAD=1 .", "echo a > f | f=1 ."), Request{})); got != "0 1" {
		t.Errorf("kept %s of one that begins", got)
	}
}

// TestBegunAgainElsewhere has git init where nobody looked. An act that found its repository tells that it was there.
func TestBegunAgainElsewhere(t *testing.T) {
	for first, directory := range map[string]bool{"ls ../old/.git/hooks": false, "ls ../old": true, "rm -rf ../old/.git": true} {
		p := made(t, narrative(first, "cd ../old && git init -q", "cp ../old/.git/hooks/a b"), Request{})
		last := p.Steps[len(p.Steps)-2]
		if got := slices.ContainsFunc(last.Post, func(p replay.Postcondition) bool { return p.Kind == replay.PostDirectory }); got != directory || last.Original != "cd ../old && git init -q" {
			t.Errorf("after %s the directory tells that %s was done: %v", first, last.Original, last.Post)
		}
	}
}

// TestSucceedsAfterAFailure has a file that a failure left, and a success that left it as it was.
func TestSucceedsAfterAFailure(t *testing.T) {
	n := watched("make check | out=1 .", "echo a > expected | expected=1 .", "make check | out=1>1")
	one := int32(1)
	n.Commands[0].ExitCode = &one
	if got := kept(made(t, n, Request{})); got != "1 2" {
		t.Errorf("kept %s", got)
	}
}

// TestNewFiles has a copy that is new, as its recorder knew what was there before, and is moved back.
func TestNewFiles(t *testing.T) {
	pair := []string{"cp f f.good; echo bad >> f | f=1>2 +f.good=1 .", "mv f.good f | f=2>1 f.good=1>absent .", "echo x > h | h=1"}
	for name, c := range map[string]struct {
		before []string
		want   string
	}{
		"after a look":                        {[]string{"ls | nothing"}, "3"},
		"nobody had looked":                   {nil, "0 1 2"},
		"nobody looked at the command before": {[]string{"ls | nothing", "ls"}, "2 3 4"},
	} {
		if got := kept(made(t, watched(slices.Concat(c.before, pair)...), Request{})); got != c.want {
			t.Errorf("%s: kept %s, want %s", name, got, c.want)
		}
	}
}

// TestRemovedAndMadeAgain has lines that write a path, remove it and write it again, or the other way round: what holds
// after one is what its end left, or what was seen.
func TestRemovedAndMadeAgain(t *testing.T) {
	for line, want := range map[string]string{
		"echo a > n; rm n; echo b > n":                   replay.PostFile,
		"rm n; echo b > n; rm n":                         replay.PostAbsent,
		"echo a > n; rm n; echo b > n; rm n; echo c > n": replay.PostFile,
	} {
		p := made(t, watched("echo x > n | n=0 .", line), Request{})
		post := p.Steps[len(p.Steps)-1].Post
		if len(post) != 1 || post[0].Kind != want || post[0].Target != "/home/ann/app/n" {
			t.Errorf("after %q: %v, want %s", line, post, want)
		}
	}
}

// TestMadeAndRemovedWithItsDirectory has lines that make something and remove it again with a directory around it:
// that it is there tells nothing.
func TestMadeAndRemovedWithItsDirectory(t *testing.T) {
	for line, want := range map[string]string{
		"mkdir -p a/b/c && cd a/b/c && echo deep > d && cd ../../.. && mv a/b/c . && rmdir -p a/b | c/d=1 c/ .": "absent a, file c",
		"mkdir t; echo x > t/f; cp t/f g; rm -r t | g=1 .":                                                      "absent t, file g",
		"mkdir t; rm -r t; mkdir t; echo x > t/f | t/f=1 t/ .":                                                  "none ",
	} {
		p := made(t, watched(line), Request{})
		var got []string
		for _, post := range p.Steps[0].Post {
			got = append(got, post.Kind+" "+strings.TrimPrefix(post.Target, "/home/ann/app/"))
		}
		slices.Sort(got)
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("after %q: %s, want %s", line, got, want)
		}
	}
}
