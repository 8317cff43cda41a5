package plan

import (
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
