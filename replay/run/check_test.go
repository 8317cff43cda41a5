package run

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

// program puts a shell script into the world's bin directory, which is first in PATH.
func (w *world) program(name, script string) {
	w.t.Helper()
	bin := filepath.Join(w.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.o.Env["PATH"] = bin + ":" + os.Getenv("PATH")
}

func TestPostconditions(t *testing.T) {
	w := newWorld(t)
	w.program("python3", `test "$5" = flask && echo "Name: flask
Version: 3.0.1"`)
	w.program("npm", `test "$4" = lodash`)
	w.program("dpkg-query", `test "$3" = curl && echo "installed 8.5" || { test "$3" = gone && echo "config-files 1"; }`)
	w.program("docker", `test "$3" = app:1`)
	if err := os.WriteFile(filepath.Join(w.dir, "file"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	setup := exec.Command("sh", "-c", "git init -q -b main && git -c user.name=n -c user.email=e commit -q --allow-empty -m 'the subject' -m body && git tag v1 && git branch side && export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e && git checkout -q -b taken && echo t > t && git add t && git commit -qm taken && git checkout -q main && git commit -q --allow-empty -m between && git cherry-pick taken >/dev/null && git branch other taken~1 && git checkout -q other && echo o > o && git add o && git commit -qm other && git checkout -q main && echo s > script && chmod 750 script && ln -s clean/z link && echo x > staged && echo y > untracked && mkdir clean && echo z > clean/z && git add staged clean && git config user.name Ann && git config user.mail 'a = b'")
	setup.Dir = w.dir
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	head := exec.Command("git", "rev-parse", "HEAD")
	head.Dir = w.dir
	commit, err := head.Output()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, free, _ := net.SplitHostPort(closed.Addr().String())
	_ = closed.Close()
	type post = replay.Postcondition
	for _, c := range []struct {
		post
		want bool
	}{
		{post{Kind: "file", Target: w.dir + "/file", Hash: sum("content")}, true},
		{post{Kind: "file", Target: w.dir + "/file", Hash: sum("other")}, false},
		{post{Kind: "file", Target: w.dir + "/file"}, false},
		{post{Kind: "file", Target: w.dir + "/absent", Hash: sum("")}, false},
		{post{Kind: "file", Target: w.dir, Hash: sum("")}, false},
		{post{Kind: "directory", Target: w.dir}, true},
		{post{Kind: "directory", Target: w.dir + "/file"}, false},
		{post{Kind: "absent", Target: w.dir + "/absent"}, true},
		{post{Kind: "absent", Target: w.dir + "/file"}, false},
		{post{Kind: "package", Manager: "pip", Target: "flask"}, true},
		{post{Kind: "package", Manager: "pip", Target: "flask==3.0.1"}, true},
		{post{Kind: "package", Manager: "pip", Target: "flask==3.0.2"}, false},
		{post{Kind: "package", Manager: "pip", Target: "django"}, false},
		{post{Kind: "package", Manager: "npm", Target: "lodash"}, true},
		{post{Kind: "package", Manager: "npm", Target: "react"}, false},
		{post{Kind: "package", Manager: "apt-get", Target: "curl"}, true},
		{post{Kind: "package", Manager: "apt", Target: "curl=8.4"}, false},
		{post{Kind: "package", Manager: "apt", Target: "gone"}, false},
		{post{Kind: "package", Manager: "unknown", Target: "x"}, false},
		{post{Kind: "commit", Hash: strings.TrimSpace(string(commit))}, true},
		{post{Kind: "commit", Hash: strings.Repeat("0", 40)}, false},
		{post{Kind: "commit", Target: "the subject"}, true},
		{post{Kind: "commit", Target: "the"}, false},
		{post{Kind: "branch", Target: "side"}, true},
		{post{Kind: "branch", Target: "v1"}, false},
		{post{Kind: "tag", Target: "v1"}, true},
		{post{Kind: "image", Target: "app:1"}, true},
		{post{Kind: "image", Target: "app:2"}, false},
		{post{Kind: "port", Target: port}, true},
		{post{Kind: "port", Target: "127.0.0.1:" + port}, true},
		{post{Kind: "port", Target: free}, false},
		{post{Kind: "staged", Target: w.dir + "/staged"}, true},
		{post{Kind: "staged", Target: w.dir + "/untracked"}, false},
		{post{Kind: "staged", Target: w.dir + "/absent"}, false},
		{post{Kind: "staged", Target: w.dir + "/clean"}, true},
		{post{Kind: "staged", Target: w.dir}, false},
		{post{Kind: "setting", Target: "user.name=Ann"}, true},
		{post{Kind: "setting", Target: "user.name=Bob"}, false},
		{post{Kind: "setting", Target: "user.mail=a = b"}, true},
		{post{Kind: "setting", Target: "user.email="}, false},
		{post{Kind: "setting", Target: "user.name"}, false},
		{post{Kind: "head", Target: "main"}, true},
		{post{Kind: "head", Target: "side"}, false},
		{post{Kind: "commit", Hash: "side"}, true},
		{post{Kind: "no-branch", Target: "side"}, false},
		{post{Kind: "no-branch", Target: "v1"}, true},
		{post{Kind: "no-tag", Target: "v1"}, false},
		{post{Kind: "no-tag", Target: "side"}, true},
		{post{Kind: "picked", Target: "taken"}, true},
		{post{Kind: "picked", Target: "other"}, false},
		{post{Kind: "picked", Target: "absent"}, false},
		{post{Kind: "link", Target: w.dir + "/link", Hash: "clean/z"}, true},
		{post{Kind: "link", Target: w.dir + "/link", Hash: "clean"}, false},
		{post{Kind: "mode", Target: w.dir + "/script", Hash: "750"}, true},
		{post{Kind: "mode", Target: w.dir + "/script", Hash: "-u+x"}, true},
		{post{Kind: "mode", Target: w.dir + "/script", Hash: "-o+r"}, false},
		{post{Kind: "mode", Target: w.dir + "/absent", Hash: "-u+x"}, false},
		{post{Kind: "link", Target: w.dir + "/file", Hash: "clean/z"}, false},
		{post{Kind: "none"}, false},
	} {
		p := w.plan([]replay.Step{{Command: "true", Post: []post{c.post}}})
		r := w.run(p)
		if got := r.Steps[0].Status == Skipped; got != c.want {
			t.Errorf("%+v: %s (%s)", c.post, r.Steps[0].Status, r.Steps[0].Reason)
		} else if got && len(r.Steps[0].Checks) != 1 {
			t.Errorf("%+v: the checks are not said: %+v", c.post, r.Steps[0])
		}
	}
}

// TestHeadWithoutFiles has a clone whose HEAD is a branch that was not checked out.
func TestHeadWithoutFiles(t *testing.T) {
	w := newWorld(t)
	if out, err := exec.Command("git", "init", "-q", "-b", "main", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := w.run(w.plan([]replay.Step{{Command: "true", Post: []replay.Postcondition{{Kind: "head", Target: "main"}}}}))
	if statuses(r) != "done" {
		t.Errorf("%s: %+v", statuses(r), r)
	}
}

func TestReplacedPostconditionIsThatOfTheLaterStep(t *testing.T) {
	w := newWorld(t)
	steps := func() []replay.Step {
		s := commands("echo 1 > f; echo x >> ran", "echo 2 > f; echo x >> ran", "rm -f g; echo x >> ran")
		one := 1
		s[0].Post = []replay.Postcondition{{Kind: "file", Target: w.dir + "/f", Hash: sum("1\n"), ReplacedBy: &one}}
		s[1].Post = []replay.Postcondition{{Kind: "file", Target: w.dir + "/f", Hash: sum("2\n")}}
		s[2].Post = []replay.Postcondition{{Kind: "absent", Target: w.dir + "/f"}, {Kind: "none"}}
		return s
	}
	if r := w.run(w.plan(steps())); statuses(r) != "done done done" {
		t.Fatalf("%+v", r)
	}
	if r := w.run(w.plan(steps())); statuses(r) != "skipped skipped done" {
		t.Errorf("the second time: %s", statuses(r))
	}
}

// TestReplacedPostconditionIsNeededBetween removes what a step made of a file that was replaced
// afterwards: the file has to be made again, since it would read the later content.
func TestReplacedPostconditionIsNeededBetween(t *testing.T) {
	w := newWorld(t)
	file := func(name, content string, by ...int) replay.Postcondition {
		p := replay.Postcondition{Kind: "file", Target: filepath.Join(w.dir, name), Hash: sum(content)}
		if len(by) == 1 {
			p.ReplacedBy = &by[0]
		}
		return p
	}
	steps := func() *replay.Plan {
		s := commands("echo 1 > f; echo 1 > h", "cp f g", "echo 2 > f; echo 2 > h", "echo 3 > other")
		s[0].Post = []replay.Postcondition{file("f", "1\n", 2), file("h", "1\n", 2)}
		s[1].Post = []replay.Postcondition{file("g", "1\n")}
		s[2].Post = []replay.Postcondition{file("f", "2\n"), file("h", "2\n")}
		s[3].Post = []replay.Postcondition{file("other", "3\n")}
		return w.plan(s, [2]int{1, 0})
	}
	for _, c := range []struct{ gone, want string }{
		{"", "done done done done"},
		{"", "skipped skipped skipped skipped"},
		{"other", "skipped skipped skipped done"},
		{"g", "done done done skipped"},
		{"h", "done skipped done skipped"},
	} {
		if c.gone != "" {
			if err := os.Remove(filepath.Join(w.dir, c.gone)); err != nil {
				t.Fatal(err)
			}
		}
		if r := w.run(steps()); statuses(r) != c.want {
			t.Errorf("without %q: %s, want %s", c.gone, statuses(r), c.want)
		}
		if b, err := os.ReadFile(filepath.Join(w.dir, "g")); err != nil || string(b) != "1\n" {
			t.Errorf("without %q: g is %q", c.gone, b)
		}
	}
}

func TestServiceAnswersBeforeItIsUsed(t *testing.T) {
	w := newWorld(t)
	w.o.Executor = w.open(sandbox.IsolationSandbox)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	s := commands("echo hello > page; python3 -m http.server 8765 > /dev/null 2>&1 &", "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8765/page\").read())'")
	s[0].Background = true
	s[0].Post = []replay.Postcondition{{Kind: "port", Target: "8765"}}
	r := w.run(w.plan(s, [2]int{1, 0}))
	if statuses(r) != "done done" || !strings.Contains(r.Steps[1].Output, "hello") {
		t.Errorf("%+v", r)
	}
}

// TestAPortIsLookedAtWithoutAConnection has a service that counts connections.
func TestAPortIsLookedAtWithoutAConnection(t *testing.T) {
	w := newWorld(t)
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue // a machine without IPv6
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		post := func() []replay.Step {
			return []replay.Step{{Command: "true", Post: []replay.Postcondition{{Kind: "port", Target: port}}}}
		}
		if r := w.run(w.plan(post())); statuses(r) != "skipped" {
			t.Errorf("%s: %s, want skipped", address, statuses(r))
		}
		if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if c, err := l.Accept(); err == nil {
			t.Errorf("%s: the check has connected", address)
			_ = c.Close()
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if r := w.run(w.plan(post())); statuses(r) != "done" {
			t.Errorf("%s: nothing listens any more: %s, want done", address, statuses(r))
		}
	}
}

func TestFilesOfAStep(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.o.Executor = w.open(sandbox.IsolationSandbox)
	r := w.run(w.plan(commands("echo 1 > a; echo 2 > b", "echo 3 > b; rm a", "true", "rm old", "touch -d @0 b")))
	var got []string
	for _, o := range r.Steps {
		for _, f := range o.Files {
			hash := f.Hash
			if len(hash) > 4 {
				hash = " " + hash[:4]
			}
			got = append(got, string(rune('0'+o.Step))+" "+f.Kind+" "+filepath.Base(f.Path)+hash)
		}
	}
	want := "0 added a " + sum("1\n")[:4] + ", 0 added b " + sum("2\n")[:4] + ", 1 removed a, 1 added b " + sum("3\n")[:4] + ", 3 removed old"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestQuietStepsRunWithWhatTheyNeed has a step that only prints, between one that makes a file and one
// that removes it.
func TestQuietStepsRunWithWhatTheyNeed(t *testing.T) {
	w := newWorld(t)
	by := 2
	steps := func() *replay.Plan {
		s := commands("echo 1 > f", "cat f", "rm f")
		s[0].Post = []replay.Postcondition{{Kind: "file", Target: filepath.Join(w.dir, "f"), Hash: sum("1\n"), ReplacedBy: &by}}
		s[1].Post = []replay.Postcondition{{Kind: "quiet"}}
		s[2].Post = []replay.Postcondition{{Kind: "absent", Target: filepath.Join(w.dir, "f")}}
		return w.plan(s, [2]int{1, 0}, [2]int{2, 1})
	}
	if err := os.WriteFile(filepath.Join(w.dir, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"done done done", "skipped skipped skipped"} {
		if r := w.run(steps()); statuses(r) != want {
			t.Errorf("%s, want %s: %+v", statuses(r), want, r.Steps)
		}
	}
}

// TestStepsThatRestOnEachOther has two files that one step reads and later ones replace: whether one was
// made rests on the reader, and so on the other.
func TestStepsThatRestOnEachOther(t *testing.T) {
	w := newWorld(t)
	file := func(name, content string, by ...int) replay.Postcondition {
		p := replay.Postcondition{Kind: "file", Target: filepath.Join(w.dir, name), Hash: sum(content)}
		if len(by) == 1 {
			p.ReplacedBy = &by[0]
		}
		return p
	}
	steps := func() *replay.Plan {
		s := commands("echo 1 > source", "echo 1 > program", "cat program source", "echo 2 > source", "echo 2 > program")
		s[0].Post = []replay.Postcondition{file("source", "1\n", 3)}
		s[1].Post = []replay.Postcondition{file("program", "1\n", 4)}
		s[2].Post = []replay.Postcondition{{Kind: "quiet"}}
		s[3].Post = []replay.Postcondition{file("source", "2\n")}
		s[4].Post = []replay.Postcondition{file("program", "2\n")}
		return w.plan(s, [2]int{2, 1}, [2]int{2, 0})
	}
	for _, want := range []string{"done done done done done", "skipped skipped skipped skipped skipped"} {
		if r := w.run(steps()); statuses(r) != want {
			t.Errorf("%s, want %s: %+v", statuses(r), want, r.Steps)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "program"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := w.run(steps()); statuses(r) != "done done done done done" {
		t.Errorf("with another program: %s", statuses(r))
	}
}

// TestStateThatNobodyNeedsIsNotMadeAgain has steps that append to a file and set a variable: they run
// again only for a step that uses the variable and has to run.
func TestStateThatNobodyNeedsIsNotMadeAgain(t *testing.T) {
	w := newWorld(t)
	steps := func() *replay.Plan {
		s := commands("n=1; echo x >> log", "echo $n > g")
		for i := range s {
			s[i].Session = "s"
		}
		s[0].Sets = []string{"n"}
		s[0].Post = []replay.Postcondition{{Kind: "file", Target: filepath.Join(w.dir, "log"), Hash: sum("x\n")}}
		s[1].Post = []replay.Postcondition{{Kind: "file", Target: filepath.Join(w.dir, "g"), Hash: sum("1\n")}}
		s[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedEnvironment, What: "n"}}
		return w.plan(s)
	}
	for _, want := range []string{"done done", "skipped skipped"} {
		if r := w.run(steps()); statuses(r) != want {
			t.Errorf("%s, want %s: %+v", statuses(r), want, r.Steps)
		}
	}
	if err := os.Remove(filepath.Join(w.dir, "g")); err != nil {
		t.Fatal(err)
	}
	if r := w.run(steps()); statuses(r) != "done done" {
		t.Errorf("what uses it has to run: %s", statuses(r))
	}
}
