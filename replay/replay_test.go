package replay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

func steps(needs map[int][]int, n int) (out []replay.Step) {
	for i := range n {
		s := replay.Step{Original: string(rune('a' + i))}
		for _, on := range needs[i] {
			s.Needs = append(s.Needs, replay.Need{On: on, Kind: replay.NeedFile})
		}
		out = append(out, s)
	}
	return out
}

func TestSort(t *testing.T) {
	for _, c := range []struct {
		name  string
		needs map[int][]int
		want  string
	}{
		{"without needs it stays", nil, "abcd"},
		{"an order that is right stays", map[int][]int{1: {0}, 3: {1, 2}}, "abcd"},
		{"the first of the free comes first", map[int][]int{0: {3}}, "bcda"},
		{"one need twice", map[int][]int{0: {1, 1}}, "bacd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := replay.Sort(steps(c.needs, 4))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, s := range out {
				got += s.Original
				if s.Index != i {
					t.Errorf("step %d has index %d", i, s.Index)
				}
				for _, n := range s.Needs {
					if n.On >= i {
						t.Errorf("step %d needs step %d", i, n.On)
					}
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSortRefusesCycles(t *testing.T) {
	_, err := replay.Sort(steps(map[int][]int{1: {3}, 2: {1}, 3: {2}}, 4))
	var cycle *replay.CycleError
	if !errors.As(err, &cycle) {
		t.Fatalf("got %v, want a CycleError", err)
	}
	for _, name := range []string{`"b"`, `"c"`, `"d"`} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
	if strings.Contains(err.Error(), `"a"`) {
		t.Errorf("%q names a, which is in no cycle", err)
	}
}

func TestPlanIsCheckedByItsID(t *testing.T) {
	p := replay.Plan{Steps: steps(nil, 2)}
	p.Steps[1].Index = 1
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	id := p.ID
	p.Steps[1].Command = "rm -rf /"
	if err := p.Check(); err == nil {
		t.Error("a changed plan passes")
	}
	p.Steps[1].Command = ""
	p.Steps[1].Needs = []replay.Need{{On: 1}}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	if p.ID == id {
		t.Error("another plan has the same id")
	}
	if err := p.Check(); err == nil {
		t.Error("a step that needs itself passes")
	}
}

func TestDirectory(t *testing.T) {
	for want, p := range map[string]replay.Plan{
		"/home/ann/app": {Workspace: "/home/ann/app", Steps: []replay.Step{{Cwd: "/srv/x"}}},
		"/home/ann/a":   {Steps: []replay.Step{{Cwd: "/home/ann/a/b"}, {Cwd: "/home/ann/a"}, {Cwd: "/home/ann/a/c/d"}}},
		"/home/ann":     {Steps: []replay.Step{{Cwd: "/home/ann/a"}, {Cwd: "/home/ann/ab"}}},
		"/data/u/x/app": {Workspace: "/data/u", Steps: []replay.Step{{Cwd: "/data/u/x/app"}}}, // a guess that holds the home
		"/var/tmp/x/y":  {Workspace: "/var/tmp", Steps: []replay.Step{{Cwd: "/var/tmp/x/y"}}},
		"":              {Steps: []replay.Step{{Cwd: "/home/ann"}, {Cwd: "/home/bob"}}},
	} {
		if got := p.Directory("/data/u/x"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&replay.Plan{Steps: []replay.Step{{Cwd: "/home/ann"}, {}}}).Directory(""); got != "" {
		t.Errorf("a step without a directory: %q", got)
	}
}
