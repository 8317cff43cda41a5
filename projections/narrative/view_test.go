package narrative

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// scenarioOf applies the lines of a scenario in their order.
func scenarioOf(t *testing.T, text string) (*Graph, *scenario) {
	t.Helper()
	s := parseScenario(t, text)
	g := open(t)
	for _, r := range s.records {
		apply(t, g, r.Origin.Offset+1, r)
	}
	return g, s
}

func viewAt(t *testing.T, g *Graph, seen Seen) *View {
	t.Helper()
	v, err := g.ViewAt(seen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

func TestViewIsBounded(t *testing.T) {
	g, s := scenarioOf(t, `
a exit=? $ make
b exit=? $ vim Makefile
c +1h exit=? $ make
outcome a p=1 exit=2
outcome c p=1 +1h exit=0
`)
	kinds := func(v *View) []string {
		t.Helper()
		in, err := v.In(s.ids["c"])
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range in {
			names = append(names, s.names[e.From]+" "+e.Kind.String())
		}
		slices.Sort(names)
		return names
	}
	noOutcome := []string{"b dependency", "b temporal"}
	for name, c := range map[string]struct {
		seen Seen
		want []string
	}{
		"all":        {Seen{}, []string{"a fixes", "a retry", "b causal", "b dependency", "b temporal"}},
		"no outcome": {Seen{Outcome: func(Outcome) bool { return false }}, noOutcome},
		"only the outcome of a": {
			Seen{Outcome: func(o Outcome) bool { return o.IntentID == s.ids["a"] }}, []string{"a retry", "b dependency", "b temporal"},
		},
		"no event of partition 1": {Seen{Below: schemas.Watermark{s.partition(0): 100}}, noOutcome},
		"up to b":                 {Seen{Below: schemas.Watermark{s.partition(0): 4, s.partition(1): 100}}, nil},
		"before c":                {Seen{Started: func(ns int64) bool { return ns < s.records[2].TimeUnixNano }}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := gocmp.Diff(kinds(viewAt(t, g, c.seen)), c.want); d != "" {
				t.Errorf("got (-), want (+):\n%s", d)
			}
		})
	}
}

// TestWhatCameLaterTakesNoPlace checks that a view bounded by a watermark stays the same however the
// log grows: later intents do not use up the number that is examined.
func TestWhatCameLaterTakesNoPlace(t *testing.T) {
	text := `
a $ vim pkg/x.go
b parent=a $ go build ./pkg
c exit=1 $ cat pkg/x.go
d $ cat pkg/x.go
e p=1 parent=a $ ls
`
	known := strings.Count(text, "$")
	for i := range 40 {
		text += fmt.Sprintf("r%d p=0 $ cat pkg/x.go\n", i)
		text += fmt.Sprintf("s%d p=0 parent=a $ go test ./pkg -run %d\n", i, i)
		text += fmt.Sprintf("t%d p=1 parent=a $ echo %d\n", i, i)
	}
	s := parseScenario(t, text)
	g := open(t)
	edges := func(seen Seen) (all []Edge) {
		v := viewAt(t, g, seen)
		for _, r := range s.records[:known] {
			for _, of := range []func(schemas.EventID) ([]Edge, error){v.In, v.Out} {
				found, err := of(schemas.EventID(r.EventId))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, found...)
			}
		}
		return all
	}
	for _, r := range s.records[:known] {
		apply(t, g, r.Origin.Offset+1, r)
	}
	then, want := g.Watermark(), edges(Seen{})
	if len(want) < 8 {
		t.Fatalf("only %d edges", len(want))
	}
	for _, r := range s.records[known:] {
		apply(t, g, r.Origin.Offset+1, r)
	}
	if d := gocmp.Diff(edges(Seen{Below: then}), want); d != "" {
		t.Errorf("the edges as of then, got (-), want (+):\n%s", d)
	}
}

// TestForgettingChangesNothing checks that answers do not depend on what a view has cached, although
// a full cache is cleared while rules run.
func TestForgettingChangesNothing(t *testing.T) {
	g, s := scenarioOf(t, `
a $ make app
b $ vim src/x.c Makefile
c $ sed -i s/a/b/ Makefile src/x.c
d exit=2 $ make app
  | make: *** Makefile:3: src/x.c: error
`)
	all := func(v *View) []Edge {
		edges, err := v.In(s.ids["d"])
		if err != nil {
			t.Fatal(err)
		}
		return edges
	}
	want := all(viewAt(t, g, Seen{}))
	for left := range 12 {
		v := viewAt(t, g, Seen{})
		for i := range maxCached - left {
			v.nodes[schemas.Position{Topic: "another", Offset: int64(i)}] = nil
		}
		if d := gocmp.Diff(all(v), want); d != "" {
			t.Errorf("forgotten after %d nodes, got (-), want (+):\n%s", left, d)
		}
	}
}

func TestOneIDInTwoPartitions(t *testing.T) {
	g, s := scenarioOf(t, `
a p=1 $ echo first
b p=1 id=x exit=1 $ make other
c p=0 id=x $ make
d p=0 $ ls
e p=1 $ ls
`)
	v := viewAt(t, g, Seen{})
	x := s.ids["c"]
	n, ok, err := v.Node(x)
	if err != nil || !ok || n.Position.Partition != 0 {
		t.Fatalf("got %+v, %v, %v, want the one in partition 0", n, ok, err)
	}
	for _, of := range []func(schemas.EventID) ([]Edge, error){v.In, v.Out} {
		edges, err := of(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edges {
			if e.From != s.ids["d"] && e.To != s.ids["d"] {
				t.Errorf("edge of the other with its id: %s to %s, %s", s.names[e.From], s.names[e.To], e.Kind)
			}
		}
	}
}

func TestSessionIsWalked(t *testing.T) {
	g, s := scenarioOf(t, `
a $ echo 1
b session=t $ echo 2
c session=s $ echo 3
d $ echo 4
`)
	v := viewAt(t, g, Seen{})
	for name, c := range map[string]struct {
		walk func(schemas.EventID, int) ([]Node, error)
		from string
		most int
		want []string
	}{
		"next":             {v.Next, "a", 10, []string{"c", "d"}},
		"next, one":        {v.Next, "a", 1, []string{"c"}},
		"previous":         {v.Previous, "d", 10, []string{"c", "a"}},
		"of another":       {v.Next, "b", 10, nil},
		"of what is not":   {v.Next, "z", 10, nil},
		"before the first": {v.Previous, "a", 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := c.walk(s.ids[c.from], c.most)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range nodes {
				got = append(got, s.names[n.ID])
			}
			if d := gocmp.Diff(got, c.want); d != "" {
				t.Errorf("got (-), want (+):\n%s", d)
			}
		})
	}
}

// TestEdgesOfAnything queries logs that no shell would produce: wild times, outcomes without a
// command, parents anywhere.
func TestEdgesOfAnything(t *testing.T) {
	for seed := range uint64(3) {
		shards := projtest.Generate(seed, 3, 150)
		edges := func(order []int) []Edge {
			g := open(t)
			for _, i := range order {
				sh := shards[i]
				if err := g.Apply(t.Context(), sh.Batch(0, sh.Next)); err != nil {
					t.Fatal(err)
				}
			}
			v := viewAt(t, g, Seen{})
			var all []Edge
			for _, sh := range shards {
				for _, r := range sh.Records {
					in, err := v.In(schemas.EventID(r.EventId))
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, in...)
				}
			}
			return all
		}
		want := edges([]int{0, 1, 2})
		if len(want) == 0 {
			t.Fatal("no edges")
		}
		checkAcyclic(t, want)
		if d := gocmp.Diff(want, edges([]int{2, 0, 1})); d != "" {
			t.Errorf("seed %d: another interleaving gives other edges:\n%s", seed, d)
		}
	}
}

func FuzzDecodeNode(f *testing.F) {
	exit := int32(-7)
	in := &recountv1.Intent{
		Command: "make", Template: "make", Workspace: "/w", Cwd: "/w/x", Session: "s", Author: "a", ExitCode: &exit,
		ParentId: make([]byte, 16), TimeUnixNano: -5, Programs: []string{"make"},
	}
	n := Node{
		Dir: "/w", Programs: in.Programs, Effects: Writes | Builds, mentioned: []mention{1, 7},
		Resources: []Resource{{recountv1.ResourceKind_RESOURCE_KIND_PATH, "/w/x", Read | Implied}},
	}
	value := appendNode(nil, make([]byte, 16), in, 9, &n)
	f.Add(value)
	f.Add(value[:40])
	f.Fuzz(func(t *testing.T, value []byte) {
		n, err := decodeNode(schemas.Position{Topic: "t"}, value)
		if err != nil {
			return
		}
		again := func(n *Node) []byte {
			in := &recountv1.Intent{
				TimeUnixNano: n.TimeUnixNano, ExitCode: n.ExitCode, Workspace: n.Workspace, Cwd: n.Cwd, Session: n.Session,
				Author: n.Author, Category: n.Category,
			}
			if !n.ParentID.IsZero() {
				in.ParentId = n.ParentID[:]
			}
			return appendNode(nil, n.ID[:], in, n.Clock, n)
		}
		first := again(n)
		n2, err := decodeNode(schemas.Position{Topic: "t"}, first)
		if err != nil {
			t.Fatalf("%+v does not come back: %v", n, err)
		}
		if second := again(n2); !bytes.Equal(first, second) {
			t.Fatalf("comes back as another:\n%x\n%x", first, second)
		}
	})
}

func TestMentions(t *testing.T) {
	path := func(name string) Resource {
		return Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: name}
	}
	pkg := func(name string) Resource {
		return Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PACKAGE, Name: name}
	}
	for name, c := range map[string]struct {
		output string
		of     Resource
		want   bool
	}{
		"a path with a line":           {"./pkg/x.go:12:5: undefined: foo", path("/src/app/pkg/x.go"), true},
		"of another directory":         {"./pkg/x.go:12:5: undefined: foo", path("/src/app/cmd/x.go"), false},
		"a bare file":                  {"cannot open x.go", path("/src/app/cmd/x.go"), true},
		"a quoted name":                {"No rule to make target 'app'.", path("/src/app"), true},
		"a plain word is no file":      {"cannot build app", path("/src/app"), false},
		"a module is a file":           {"No module named 'lib.util'", path("/src/lib/util.py"), true},
		"a module is a package":        {"No module named 'requests'", pkg("requests==2.1"), true},
		"a package of a distribution":  {"Could not find LLVM", pkg("llvm-14-dev"), true},
		"a library of one":             {"provided by \"GTest\"", pkg("libgtest-dev"), true},
		"a scoped package":             {"Cannot find module '@types/node'", pkg("lodash"), false},
		"a port":                       {"bind: 127.0.0.1:8080 in use", Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PORT, Name: "8080"}, true},
		"what is implied is not named": {"no such file: .git/index", Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: "/src/.git/index", Access: Implied}, false},
		"nothing":                      {"", path("/x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(mentions(c.output), c.of); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestClock(t *testing.T) {
	const day = clockStep
	for name, c := range map[string]struct{ times, want []int64 }{
		"follows":                 {[]int64{5, 7, 9}, []int64{5, 7, 9}},
		"does not go back":        {[]int64{5, 3, 6}, []int64{5, 5, 6}},
		"jumps a day at the most": {[]int64{0, 1 << 62, 2 * day}, []int64{0, day, 2 * day}},
		"from long before 1970":   {[]int64{-1 << 62, 1 << 62}, []int64{-1 << 62, -1<<62 + day}},
	} {
		t.Run(name, func(t *testing.T) {
			var k clock
			for i, at := range c.times {
				if k = k.tick(at); k.now != c.want[i] {
					t.Errorf("after %d: got %d, want %d", at, k.now, c.want[i])
				}
				if back, err := decodeClock(appendClock(nil, k)); err != nil || back != k {
					t.Errorf("comes back as %v, %v", back, err)
				}
			}
		})
	}
}
