package plan

import (
	"testing"
)

// TestLinesOfAgents checks that a line of git that begins with cd to its own directory, as agents write it, and one that
// also shows something are taken for what git does in it.
func TestLinesOfAgents(t *testing.T) {
	repo := []string{"git init -q .", "echo a > f", "git add f", "git commit -qm one"}
	for _, c := range []struct{ name, line string }{
		{"cd to where it is", "cd ~/app && git checkout -q -- f"},
		{"with what is shown", "cd ~/app && git checkout -q -- f && git status --short"},
		{"of git alone", "git checkout -q -- f; git log --oneline; ls"},
	} {
		if got := kept(made(t, narrative(append(repo[:4:4], "cd ~/app && sed -i s/a/b/ f", c.line)...), Request{})); got != "0 1 2 3" {
			t.Errorf("%s: kept %s", c.name, got)
		}
	}
	for _, line := range []string{"cd ~/other && git checkout -q -- f", "git log | git checkout -q -- f", "echo $(git checkout -q -- f)", "ls g || git checkout -q -- f"} {
		if got := kept(made(t, narrative(append(repo[:4:4], "sed -i s/a/b/ f", line)...), Request{})); got == "0 1 2 3" {
			t.Errorf("%s is taken for git alone", line)
		}
	}
}

// TestMadeAnewAsItWas checks that what is removed and made anew as it was leaves what had made it in the plan, and that
// a line which removes what the recorder did not know is no such line.
func TestMadeAnewAsItWas(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a database", []string{
			"sqlite3 db 'create table t(a)' | +db=1", "sqlite3 db 'insert into t values(1)' | db=1>2",
			"rm db; sqlite3 db 'create table t(a)' | db=2>1", "sqlite3 db 'insert into t values(2)' | db=1>3",
		}, "0 3"},
		{"and a copy that was not seen to go", []string{
			"mkdir a | a/ .", "echo 1 > a/f | +a/f=1", "cp -r a b", "echo 2 >> a/f | a/f=1>2", "diff -r b a > d | +d=3",
			"rm -rf a b && mkdir a && echo 1 > a/f | a/f=2>1",
		}, "0 1 2 3 4 5"},
	} {
		if p := made(t, watched(c.lines...), Request{}); kept(p) != c.want {
			t.Errorf("%s: kept %s, want %s", c.name, kept(p), c.want)
			for _, l := range p.Left {
				t.Logf("left %q: %s", l.Command, l.Why)
			}
		}
	}
}
