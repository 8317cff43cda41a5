package narrative

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestScenarios reads testdata/*.txt. Each block is a scenario, followed by "----" and the expected
// edges. Its lines are
//
//	# what it is about
//	edges retry fixes                   the kinds to show (default: all but temporal)
//	a exit=1 cwd=/x +5m $ make test     command a; what is before the $ may be omitted
//	  | line of its output
//	  changed x y                       it was seen to change these files below cwd, and no other; z/ is a
//	                                    directory that got or lost entries
//	outcome a exit=0 p=1                an outcome that arrives here, in partition 1
//	  | line of its output
//
// with the options cwd=, session=, ws=, p=, parent=, head=, why= (the stated intent), id= (of
// another command, for events with one id) and +DURATION or -DURATION since the command before.
// cwd, session, ws and p stay in force until changed. exit=? is unknown; the default is 0. Run with
// -rewrite after adding a scenario.
//
// Each scenario is also applied with its partitions in other orders, in other batches and twice,
// and must give the same edges. Edges read from both ends must agree, run from earlier to later,
// and form no cycle.
func TestScenarios(t *testing.T) {
	golden.Blocks(t, "testdata/*.txt", func(t *testing.T, input string) (string, bool) {
		s := parseScenario(t, input)
		if len(s.names) == 0 {
			return "", false
		}
		return s.check(t), true
	})
}

// scenario is a small log.
type scenario struct {
	title   string
	kinds   map[EdgeKind]bool
	records []*recountv1.Record
	ids     map[string]schemas.EventID
	names   map[schemas.EventID]string
	places  map[schemas.Position]string
	looked  map[schemas.Position]*Looked
}

func parseScenario(t *testing.T, text string) *scenario {
	t.Helper()
	s := &scenario{
		kinds: map[EdgeKind]bool{Retry: true, Fixes: true, Dependency: true, Branch: true, Causal: true},
		ids:   map[string]schemas.EventID{}, names: map[schemas.EventID]string{}, places: map[schemas.Position]string{},
		looked: map[schemas.Position]*Looked{},
	}
	held := map[string]string{"cwd": "/src/app", "session": "s", "ws": "/src/app", "p": "0"}
	next := map[string]int64{}
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var tail *string
	var last schemas.Position
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if line, ok := strings.CutPrefix(l, "  | "); ok && tail != nil {
			*tail += line + "\n"
			continue
		}
		if files, ok := strings.CutPrefix(l, "  changed"); ok {
			look := &Looked{Below: held["cwd"], UntilUnixNano: now.UnixNano() + 5e9}
			for _, f := range strings.Fields(files) {
				if dir, ok := strings.CutSuffix(f, "/"); ok {
					look.Unclear = append(look.Unclear, held["cwd"]+"/"+dir)
				} else {
					look.Files = append(look.Files, held["cwd"]+"/"+f)
				}
			}
			s.looked[last] = look
			continue
		}
		head, cmdline, _ := strings.Cut(l, " $ ")
		words := strings.Fields(head)
		if len(words) == 0 {
			continue
		}
		if words[0] == "#" {
			s.title += l + "\n"
			continue
		}
		if words[0] == "edges" {
			clear(s.kinds)
			for _, w := range words[1:] {
				k, ok := ParseEdgeKind(w)
				if !ok {
					t.Fatalf("%q: no kind of edge", w)
				}
				s.kinds[k] = true
			}
			continue
		}
		opts := map[string]string{"exit": "0"}
		name, isOutcome := words[0], words[0] == "outcome"
		if isOutcome {
			name, words = words[1], words[1:]
		}
		now = now.Add(10 * time.Second)
		for _, w := range words[1:] {
			key, value, ok := strings.Cut(w, "=")
			if !ok {
				d, err := time.ParseDuration(w)
				if err != nil {
					t.Fatalf("%q in %q: %v", w, l, err)
				}
				now = now.Add(d - 10*time.Second)
				continue
			}
			if opts[key] = value; !isOutcome && held[key] != "" {
				held[key] = value
			}
		}
		p := cmp.Or(opts["p"], held["p"])
		number, err := strconv.Atoi(p)
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		pos := schemas.Position{Topic: "recount.commands", Partition: int32(number), Offset: next[p]}
		next[p] += 2 // logs have gaps
		last = pos
		var exit *int32
		if e := opts["exit"]; e != "?" {
			n, err := strconv.Atoi(e)
			if err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			code := int32(n)
			exit = &code
		}
		idOf := func(name string) schemas.EventID { return schemas.NewCanon("scenario").String(name).ID() }
		rec := &recountv1.Record{Origin: pos.Proto(), TimeUnixNano: now.UnixNano()}
		if isOutcome {
			id, subject := idOf(pos.String()), idOf(name)
			o := &recountv1.Outcome{IntentId: subject[:], ExitCode: exit, DurationNano: -1, ObservedUnixNano: now.UnixNano()}
			rec.EventId, rec.Body, tail = id[:], &recountv1.Record_Outcome{Outcome: o}, &o.OutputTail
			s.places[pos] = "outcome of " + name
		} else {
			id := idOf(cmp.Or(opts["id"], name))
			rec.EventId = id[:]
			e := schemas.Event{Time: now}
			if err := command.Intent(e, &recountv1.CommandExecuted{
				Command: cmdline, Workspace: held["ws"], Cwd: held["cwd"], Session: held["session"], Shell: "bash", User: "ann",
				ExitCode: exit, StatedIntent: opts["why"], GitHead: opts["head"],
			}, rec); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			in := rec.GetIntent()
			if parent := opts["parent"]; parent != "" {
				id := idOf(parent)
				in.ParentId = id[:]
			}
			tail = &in.OutputTail
			s.ids[name], s.places[pos] = id, name
			if opts["id"] == "" {
				s.names[id] = name
			}
		}
		s.records = append(s.records, rec)
	}
	return s
}

func (*scenario) partition(p int32) schemas.TopicPartition {
	return schemas.TopicPartition{Topic: "recount.commands", Partition: p}
}

// partitions returns the records by partition, in log order.
func (s *scenario) partitions() map[int32][]*recountv1.Record {
	all := map[int32][]*recountv1.Record{}
	for _, r := range s.records {
		all[r.Origin.Partition] = append(all[r.Origin.Partition], r)
	}
	return all
}

// check applies the scenario in many ways and returns the edges.
func (s *scenario) check(t *testing.T) string {
	t.Helper()
	g := open(t)
	for _, r := range s.records { // one at a time, in the order of the file
		apply(t, g, r.Origin.Offset+1, r)
	}
	want := s.edges(t, g)
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		g := open(t)
		left := s.partitions()
		for len(left) > 0 {
			var ps []int32
			for p := range left {
				ps = append(ps, p)
			}
			slices.Sort(ps)
			p := ps[rng.IntN(len(ps))]
			n := 1 + rng.IntN(len(left[p]))
			batch := left[p][:n]
			apply(t, g, batch[n-1].Origin.Offset+1, batch...)
			if rng.IntN(2) == 0 { // apply it a second time
				apply(t, g, batch[n-1].Origin.Offset+1, batch...)
			}
			if left[p] = left[p][n:]; len(left[p]) == 0 {
				delete(left, p)
			}
		}
		if got := s.edges(t, g); got != want {
			t.Errorf("%sinterleaving %d gives other edges (-first +got):\n%s", s.title, seed, gocmp.Diff(want, got))
		}
	}
	return want
}

// edges returns the edges of the kinds that the scenario shows, after checking the invariants of
// all edges.
func (s *scenario) edges(t *testing.T, g *Graph) string {
	t.Helper()
	seen := Seen{}
	if len(s.looked) > 0 {
		seen.Looked = func(at schemas.Position) (*Looked, error) { return s.looked[at], nil }
	}
	v, err := g.ViewAt(seen)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var all, fromOut []Edge
	order := map[schemas.EventID]int{}
	for i, r := range s.records {
		if r.GetIntent() != nil {
			id := schemas.EventID(r.EventId)
			if _, twice := order[id]; !twice {
				order[id] = i
			}
		}
	}
	for id := range order {
		in, err := v.In(id)
		if err != nil {
			t.Fatal(err)
		}
		out, err := v.Out(id)
		if err != nil {
			t.Fatal(err)
		}
		all, fromOut = append(all, in...), append(fromOut, out...)
	}
	slices.SortFunc(all, Edge.compare)
	slices.SortFunc(fromOut, Edge.compare)
	if d := gocmp.Diff(all, fromOut); d != "" {
		t.Errorf("%sedges that come in (-) are not those that go out (+):\n%s", s.title, d)
	}
	for _, e := range all {
		if e.Weight <= 0 || e.Weight > 1 || len(e.Evidence) == 0 || e.Rule == "" {
			t.Errorf("%sedge without weight, evidence or rule: %+v", s.title, e)
		}
	}
	checkAcyclic(t, all)

	slices.SortStableFunc(all, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(order[a.To], order[b.To]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Weight, a.Weight), cmp.Compare(order[a.From], order[b.From]))
	})
	var b strings.Builder
	for _, e := range all {
		if !s.kinds[e.Kind] {
			continue
		}
		fmt.Fprintf(&b, "%s → %s  %s %.2f:", s.names[e.From], s.names[e.To], e.Kind, e.Weight)
		for i, ev := range e.Evidence {
			if i > 0 {
				b.WriteByte(';')
			}
			fmt.Fprintf(&b, " %s %s", s.places[ev.Position], ev.Shows)
			if ev.Resource != "" {
				fmt.Fprintf(&b, " (%s)", ev.Resource)
			}
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "none\n"
	}
	return b.String()
}

func checkAcyclic(t *testing.T, edges []Edge) {
	t.Helper()
	from := map[schemas.EventID][]schemas.EventID{}
	for _, e := range edges {
		from[e.From] = append(from[e.From], e.To)
	}
	const visiting, done = 1, 2
	state := map[schemas.EventID]int{}
	var visit func(id schemas.EventID) bool
	visit = func(id schemas.EventID) bool {
		switch state[id] {
		case visiting:
			return false
		case done:
			return true
		}
		state[id] = visiting
		for _, to := range from[id] {
			if !visit(to) {
				return false
			}
		}
		state[id] = done
		return true
	}
	for id := range from {
		if !visit(id) {
			t.Errorf("a cycle through %x", bytes.Clone(id[:]))
			return
		}
	}
}
