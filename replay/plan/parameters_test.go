package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/commands"
)

// TestParameters finds what differs between runs of one template that worked.
func TestParameters(t *testing.T) {
	n := narrative("./package --version 1.2 --to out/a.tgz")
	failed := int32(1)
	for i, text := range []string{"./package --version 1.3 --to out/a.tgz", "./package --version main --to out/a.tgz", "./package --version 1.2 --to out/a.tgz"} {
		o := n.Commands[0]
		if o.ID, o.Command = id(10+i), text; i == 1 {
			o.ExitCode = &failed
		}
		n.Runs = append(n.Runs, o)
	}
	n.Runs = append([]commands.Scanned{n.Commands[0]}, n.Runs...)
	got := map[string][]string{}
	for _, p := range made(t, n, Request{}).Parameters {
		got[p.Name+"="+p.Value] = p.Values
	}
	if diff := cmp.Diff(map[string][]string{"VERSION=1.2": {"1.3"}}, got); diff != "" {
		t.Error(diff)
	}
	both := narrative("echo 'int one;' > one.h", "echo 'int two;' > two.h", "cat one.h two.h > all.h")
	for i := range both.Commands[:2] {
		both.Commands[i].Template = "echo <str> > <path>"
	}
	both.Runs = both.Commands
	if got := made(t, both, Request{}).Parameters; len(got) > 0 {
		t.Errorf("steps of one plan are parameters of each other: %+v", got)
	}
	p := made(t, n, Request{Set: map[string]string{"VERSION": "2.0"}})
	if got, want := p.Steps[0].Command, "./package --version 2.0 --to out/a.tgz"; got != want {
		t.Errorf("set: %s, want %s", got, want)
	}
}

// TestParametersOfOneName sets one of two values whose places have the same name.
func TestParametersOfOneName(t *testing.T) {
	lines := []string{"make PREFIX=/opt/a install", "make PREFIX=/opt/b check > log", "make PREFIX_2=/opt/c install"}
	commands := func(set map[string]string) (out []string) {
		for _, s := range made(t, narrative(lines...), Request{Set: set}).Steps {
			out = append(out, s.Command)
		}
		return out
	}
	if diff := cmp.Diff([]string{"make PREFIX=/x install", lines[1], lines[2]}, commands(map[string]string{"PREFIX": "/x"})); diff != "" {
		t.Errorf("PREFIX: %s", diff)
	}
	if diff := cmp.Diff([]string{lines[0], "make PREFIX=/y check > log", lines[2]}, commands(map[string]string{"PREFIX_3": "/y"})); diff != "" {
		t.Errorf("PREFIX_3: %s", diff)
	}
	got := map[string]string{}
	for _, p := range made(t, narrative(lines...), Request{Set: map[string]string{"PREFIX": "/x"}}).Parameters {
		got[p.Name] = p.Value + ">" + p.Set
	}
	if diff := cmp.Diff(map[string]string{"PREFIX": "/opt/a>/x", "PREFIX_3": "/opt/b>"}, got); diff != "" {
		t.Error(diff)
	}
	// Of two places of which other runs had other values both are listed, and the error names them.
	n := narrative("./pack --version 1.2 --to a", "./ship --version 7 --to b")
	for i, text := range []string{"./pack --version 1.3 --to a", "./ship --version 8 --to b"} {
		o := n.Commands[i]
		o.ID, o.Command = id(10+i), text
		n.Runs = append(n.Runs, o)
	}
	_, err := Make(n, Request{Set: map[string]string{"VERSION_3": "9"}})
	if err == nil || !strings.Contains(err.Error(), "parameters are VERSION (1.2), VERSION_2 (7)") {
		t.Error(err)
	}
	p := made(t, n, Request{Set: map[string]string{"VERSION_2": "9"}})
	if p.Steps[0].Command != "./pack --version 1.2 --to a" || p.Steps[1].Command != "./ship --version 9 --to b" {
		t.Errorf("VERSION_2: %q, %q", p.Steps[0].Command, p.Steps[1].Command)
	}
}

// TestParametersWithoutValue sets values to nothing.
func TestParametersWithoutValue(t *testing.T) {
	n := narrative("export VERSION=1.2.3", "echo \"v$VERSION\" > v", "seq 1 3 > n", "make --flags=\"-O2\" TAG='a' > log")
	p := made(t, n, Request{Set: map[string]string{"VERSION": "", "SEQ_2": "", "FLAGS": "", "TAG": ""}})
	for i, want := range []string{"export VERSION=''", "echo \"v$VERSION\" > v", "seq 1 '' > n", "make --flags=\"\" TAG='' > log"} {
		if s := p.Steps[i]; s.Command != want || len(s.Asks) > 0 {
			t.Errorf("%s becomes %s, asks %v", s.Original, s.Command, s.Asks)
		}
	}
	for _, q := range p.Parameters {
		if !q.Given || q.Set != "" {
			t.Errorf("%+v", q)
		}
	}
}
