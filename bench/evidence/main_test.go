package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var small = size{incidents: 12, quiet: 2, statements: 24}

func TestGeneratedLogHoldsItsEvidence(t *testing.T) {
	d := generate(7, small)
	byID, at := map[string]event{}, map[string]int{}
	for i, e := range d.events {
		if err := schemas.Validate(e.AgentEvent); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
		if _, twice := byID[e.ID]; twice {
			t.Errorf("%s is there twice", e.ID)
		}
		byID[e.ID], at[e.ID] = e, i
		for _, cause := range append(e.CausedBy, e.ParentEventId) {
			if i, ok := at[cause]; cause != "" && (!ok || i >= at[e.ID]) {
				t.Errorf("%s follows from %s, which is not before it", e.ID, cause)
			}
		}
	}
	kinds := map[string]int{}
	for _, q := range d.questions {
		kinds[q.Kind]++
		for _, id := range append(slices.Concat(q.Evidence...), q.Chain...) {
			e, ok := byID[id]
			if !ok || e.Workspace != q.Workspace || !q.AsOf.IsZero() && e.time().After(q.AsOf) {
				t.Errorf("%s (%s): evidence %s is not among what may be shown", q.ID, q.Kind, id)
			}
		}
		for i, id := range q.Chain[min(len(q.Chain), 1):] {
			if !leadsTo(byID, q.Chain[i], id) {
				t.Errorf("%s: %s does not lead to %s", q.ID, q.Chain[i], id)
			}
		}
	}
	for _, kind := range []string{"cause", "remedy", "error", "origin", "fact", "fact as of", "change", "contradiction"} {
		if kinds[kind] == 0 {
			t.Errorf("no question of kind %s: %v", kind, kinds)
		}
	}
}

func leadsTo(byID map[string]event, from, to string) bool {
	e := byID[to]
	for _, cause := range append(slices.Clone(e.GetCausedBy()), e.GetParentEventId()) {
		if cause == from || cause != "" && leadsTo(byID, from, cause) {
			return true
		}
	}
	return false
}

// TestQuestionsSayItInOtherWords keeps the tables honest: what was printed, found or
// changed is in no question but those that quote it.
func TestQuestionsSayItInOtherWords(t *testing.T) {
	common := strings.Fields("the a of is it in on to by for its and what when with that not at one some are was up")
	for _, x := range troubles {
		asked := words(x.asked)
		for _, w := range append(append(words(x.printed), words(x.cause)...), words(x.fix)...) {
			if slices.Contains(asked, w) && !slices.Contains(common, w) {
				t.Errorf("%q is asked as %q: it shares %q with its evidence", x.told, x.asked, w)
			}
		}
	}
}

// TestWrittenAndRead writes a dataset, reads it again, and imports it as a user would.
func TestWrittenAndRead(t *testing.T) {
	dir, d := t.TempDir(), generate(7, small)
	if err := d.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := readDataset(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.questions, got.questions, cmpopts.IgnoreUnexported(question{})); diff != "" {
		t.Errorf("questions:\n%s", diff)
	}
	if diff := cmp.Diff(d.events, got.events, protocmp.Transform()); diff != "" {
		t.Errorf("events:\n%s", diff)
	}
	f, err := os.Open(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i := 0
	for e, err := range agentlog.Read(f, agentlog.Options{Format: "jsonl"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.ID != d.events[i].id() {
			t.Fatalf("event %d is imported as %s, want %s", i, e.ID, d.events[i].id())
		}
		i++
	}
	if i != len(d.events) {
		t.Errorf("%d events imported of %d", i, len(d.events))
	}
	again, err := json.Marshal(generate(7, small).questions)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := json.Marshal(d.questions); string(again) != string(want) {
		t.Error("the same seed gave other questions")
	}
}

func TestLoCoMo(t *testing.T) {
	d, err := readLoCoMo("testdata/locomo.json")
	if err != nil {
		t.Fatal(err)
	}
	var turns, asked []string
	for _, e := range d.events {
		turns = append(turns, e.time().Format("2006-01-02T15:04:05 ")+e.ID+" "+e.Agent+" "+e.ParentEventId)
	}
	for _, q := range d.questions {
		b, _ := json.Marshal(q.Evidence)
		asked = append(asked, q.Kind+" "+string(b))
	}
	if diff := cmp.Diff([]string{
		"2023-05-08T13:56:00 hand-1/D1:1 Mira ", "2023-05-08T13:56:30 hand-1/D1:2 Tom hand-1/D1:1", "2023-05-08T13:57:00 hand-1/D1:3 Mira hand-1/D1:2",
		"2023-06-02T10:05:00 hand-1/D2:1 Tom ", "2023-06-02T10:05:30 hand-1/D2:2 Mira hand-1/D2:1",
	}, turns); diff != "" {
		t.Errorf("turns:\n%s", diff)
	}
	if diff := cmp.Diff([]string{`single-hop [["hand-1/D1:1"]]`, `multi-hop [["hand-1/D1:2"],["hand-1/D2:1"]]`, `temporal [["hand-1/D2:2"]]`}, asked); diff != "" {
		t.Errorf("questions:\n%s", diff)
	}
	if !strings.Contains(d.events[2].Text, "[shows a photo of a lake") {
		t.Errorf("the picture's caption is lost: %q", d.events[2].Text)
	}
}

func TestMark(t *testing.T) {
	d := &dataset{}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		d.events = append(d.events, event{ID: id, AgentEvent: &recountv1.AgentEvent{}})
	}
	q := question{Evidence: [][]string{{"a", "b"}, {"d"}}, Chain: []string{"c", "d"}}
	for name, x := range map[string]struct {
		found []shown
		want  tally
	}{
		"nothing":                   {nil, tally{questions: 1, chains: 1}},
		"one of two that say so":    {found(1, 4), tally{questions: 1, chains: 1, events: 2, recall: .5, recall3: .5, rank: 1, top: [3]float64{1, 1, 1}, inAnswer: .5, first: 1, precision: .5}},
		"the rest beyond the first": {found(0, 4, 3, 2), tally{questions: 1, chains: 1, events: 4, recall: .5, recall3: 1, rank: 1, top: [3]float64{1, 1, 1}, inAnswer: 1, first: 1, precision: .5, whole: 1, links: 1}},
		"shown twice counts once":   {found(3, 3), tally{questions: 1, chains: 1, events: 2, recall: .5, recall3: .5, rank: 1, top: [3]float64{1, 1, 1}, inAnswer: .5, first: 1, precision: 1, links: .5}},
		"all of it":                 {found(3, 0), tally{questions: 1, chains: 1, events: 2, recall: 1, recall3: 1, rank: 1, all: 1, top: [3]float64{1, 1, 1}, inAnswer: 1, first: 1, precision: 1, links: .5}},
		"the second":                {found(4, 0), tally{questions: 1, chains: 1, events: 2, recall: .5, recall3: .5, rank: .5, top: [3]float64{0, 1, 1}, inAnswer: .5, first: 2, precision: .5}},
		"with its call":             {[]shown{{event: 4, results: []int{0}}}, tally{questions: 1, chains: 1, events: 1, recall: .5, recall3: .5, rank: 1, top: [3]float64{1, 1, 1}, inAnswer: .5, first: 1, precision: 1}},
	} {
		if diff := cmp.Diff(x.want, mark(d, q, x.found, 2), cmp.AllowUnexported(tally{})); diff != "" {
			t.Errorf("%s: want-, got+:\n%s", name, diff)
		}
	}
}

func found(events ...int) (all []shown) {
	for _, i := range events {
		all = append(all, shown{event: i})
	}
	return all
}

// TestHalves: the same ids are in the same halves, whatever their order.
func TestHalves(t *testing.T) {
	of := halves([]string{"a", "b", "c", "d"})
	if diff := cmp.Diff(of, halves([]string{"d", "b", "a", "c"})); diff != "" {
		t.Error(diff)
	}
	n := 0
	for _, half := range of {
		if half == dev {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d of four are in the half dev, want 2", n)
	}
}

// TestBaselines answer within what a question may see.
func TestBaselines(t *testing.T) {
	d := generate(7, small)
	c := newCorpus(d)
	for _, s := range []side{
		newBM25(c, bm25{as: "BM25", terms: words, k: 10}), newBM25(c, bm25{as: "neighbours", terms: stems, k: 10, neighbors: 5}),
		newBM25(c, bm25{as: "pairs", terms: stems, k: 10, pairs: true}),
		vector{c, 10},
		latest{c, 10},
	} {
		answered := 0
		for _, q := range d.questions {
			found, size, err := s.answer(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if answered += len(found); len(found) > 10 || len(found) > 0 && size == 0 {
				t.Errorf("%s: %d events, %d bytes", s.name(), len(found), size)
			}
			for _, x := range found {
				if e := d.events[x.event]; e.Workspace != q.Workspace || !q.AsOf.IsZero() && e.time().After(q.AsOf) {
					t.Errorf("%s shows %s, which %s may not see", s.name(), e.ID, q.ID)
				}
			}
		}
		if answered == 0 {
			t.Errorf("%s answers nothing", s.name())
		}
	}
}
