package plan

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// endsOf returns what a plan expects at the end: f=1 is f with the content 1, -f says that there is none.
func endsOf(p replay.Plan) string {
	var all []string
	for _, e := range p.Ends {
		name := strings.TrimPrefix(e.Target, "/home/ann/app/")
		if e.Kind == replay.PostAbsent {
			all = append(all, "-"+name)
		} else {
			all = append(all, name+"="+e.Hash)
		}
	}
	return strings.Join(all, " ")
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"written, and removed":                {[]string{"echo a > f; rm g | f=1 g=1>absent ."}, "f=1 -g"},
		"the last look counts":                {[]string{"echo a > f | f=1 .", "echo b > f | f=1>2"}, "f=2"},
		"what a step that is left out left":   {[]string{"./look | f=1 .", "ls | nothing"}, "f=1"},
		"caches and git's own":                {[]string{"./t | __pycache__/a.pyc=1 .git/refs/heads/main=1 f=1 ."}, "f=1"},
		"a folder that comes back":            {[]string{"mv a b | -a/f .", "mv b a | ."}, ""},
		"a folder that a program renames":     {[]string{"./swap | -a/f .", "./swap | ."}, ""},
		"a folder that is put into another":   {[]string{"rm -r new/a | -new/a/f new/", "mv old/a new | -old/a/g old/ new/ ."}, "-old/a/g"},
		"a name that nobody knows":            {[]string{"rm -r a | -a/f .", `mv b "$where" | .`}, ""},
		"a recorder that sees no removal":     {[]string{"echo a > f | f=1 .", "./t | ."}, ""},
		"and what it can tell":                {[]string{"echo a > f | f=1 .", "echo b > g | g=1 ."}, "f=1 g=1"},
		"and what the text tells":             {[]string{"echo a > f | f=1 .", "mv f g | g=1 ."}, "g=1"},
		"one that sees it":                    {[]string{"echo a > f | f=1 .", "echo b > f | f=1>2", "./t | ."}, "f=2"},
		"one that says it sees it":            {[]string{"echo a > f | f=1 .", "./t | known ."}, "f=1"},
		"removed where nobody looked":         {[]string{"echo a > f | f=1 .", "rm f"}, ""},
		"what a build made, removed unseen":   {[]string{"./t | out/a=1 f=1 . out/", "make clean"}, ""},
		"looked at only, where nobody looked": {[]string{"echo a > f | f=1 .", "cat f"}, "f=1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := endsOf(made(t, watched(c.lines...), Request{})); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestEndsOfAGoal leaves out what is no part of the plan, and what is later than the goal.
func TestEndsOfAGoal(t *testing.T) {
	n := watched("echo a > f | f=1 .", "echo b > g | g=1 .", "cp f h | h=1 .", "rm f | f=1>absent .")
	n.Goals = append(n.Goals, id(2))
	if got := endsOf(made(t, n, Request{})); got != "f=1 h=1" {
		t.Error(got)
	}
}

// TestEndsOfALargeFile has a file that recorders do not remember, so that they do not see its removal.
func TestEndsOfALargeFile(t *testing.T) {
	n := watched("./t | f=1 g=1>2 .", "./t | .")
	s := n.Seen[id(0)]
	s.Sizes = map[string]int64{"/home/ann/app/f": maxRemembered + 1}
	n.Seen[id(0)] = s
	if got := endsOf(made(t, n, Request{})); got != "g=2" {
		t.Error(got)
	}
}

// TestEndsElsewhere maps the paths, and leaves all out where a value is another one.
func TestEndsElsewhere(t *testing.T) {
	n := watched("echo a > f | f=1 .", "git tag v1 | nothing")
	p := made(t, n, Request{Map: []string{"/home/ann/app=/srv/app"}})
	if len(p.Ends) != 1 || p.Ends[0].Target != "/srv/app/f" {
		t.Error(p.Ends)
	}
}
