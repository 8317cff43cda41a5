package narrative

import (
	"fmt"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind: Kind,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Change: func(r *recountv1.Record) bool {
			switch b := r.Body.(type) {
			case *recountv1.Record_Outcome:
				b.Outcome.OutputTail += "changed"
			case *recountv1.Record_Intent:
				b.Intent.Template += "changed"
			default:
				return false
			}
			return true
		},
		Read: func(t *testing.T, p projections.Projection) {
			if _, _, err := p.(*Graph).Lookup(schemas.EventID{1}, nil); err != nil {
				t.Errorf("lookup: %v", err)
			}
			v, err := p.(*Graph).ViewAt(Seen{})
			if err != nil {
				t.Errorf("view: %v", err)
				return
			}
			if _, err := v.In(schemas.EventID{1}); err != nil {
				t.Errorf("in: %v", err)
			}
			if err := v.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		},
	})
}

func outcome(p schemas.Position, intent schemas.EventID, observed int64, exit int32, tail string) *recountv1.Record {
	id := schemas.NewCanon("test").String(p.String()).ID()
	return &recountv1.Record{Origin: p.Proto(), EventId: id[:], Body: &recountv1.Record_Outcome{Outcome: &recountv1.Outcome{
		IntentId: intent[:], ObservedUnixNano: observed, ExitCode: &exit, DurationNano: 5, OutputTail: tail, Author: "hook",
	}}}
}

func open(t *testing.T) *Graph {
	t.Helper()
	g, err := Open("graph", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func apply(t *testing.T, g *Graph, next int64, records ...*recountv1.Record) {
	t.Helper()
	tp := schemas.PositionOf(records[0].Origin).TP()
	if err := g.Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: next, Records: records}); err != nil {
		t.Fatal(err)
	}
}

func TestLatestOutcomeCounts(t *testing.T) {
	a, b := schemas.EventID{1}, schemas.EventID{2}
	at := func(partition int32, offset int64) schemas.Position {
		return schemas.Position{Topic: "recount.commands", Partition: partition, Offset: offset}
	}
	for name, c := range map[string]struct {
		records []*recountv1.Record
		visible func(Outcome) bool
		want    []string // output tails, latest first
		first   string   // the result of Lookup
	}{
		"none":                        {nil, nil, nil, ""},
		"another command's":           {[]*recountv1.Record{outcome(at(0, 1), b, 7, 0, "b")}, nil, nil, ""},
		"one":                         {[]*recountv1.Record{outcome(at(0, 1), a, 7, 0, "x")}, nil, []string{"x"}, "x"},
		"the later observed":          {[]*recountv1.Record{outcome(at(0, 1), a, 9, 0, "late"), outcome(at(0, 2), a, 7, 0, "early")}, nil, []string{"late", "early"}, "late"},
		"before 1970 is before":       {[]*recountv1.Record{outcome(at(0, 1), a, 1, 0, "1"), outcome(at(0, 2), a, -1, 0, "-1"), outcome(at(0, 3), a, math.MinInt64, 0, "min")}, nil, []string{"1", "-1", "min"}, "1"},
		"same time: by partition":     {[]*recountv1.Record{outcome(at(1, 1), a, 7, 0, "p1"), outcome(at(0, 9), a, 7, 0, "p0")}, nil, []string{"p1", "p0"}, "p1"},
		"same time: by offset":        {[]*recountv1.Record{outcome(at(0, 1), a, 7, 0, "o1"), outcome(at(0, 300), a, 7, 0, "o300")}, nil, []string{"o300", "o1"}, "o300"},
		"the latest is not visible":   {[]*recountv1.Record{outcome(at(0, 1), a, 7, 0, "1"), outcome(at(0, 2), a, 8, 0, "2")}, func(o Outcome) bool { return o.Position.Offset < 2 }, []string{"2", "1"}, "1"},
		"none of them is visible":     {[]*recountv1.Record{outcome(at(0, 1), a, 7, 0, "1")}, func(Outcome) bool { return false }, []string{"1"}, ""},
		"another's beside our latest": {[]*recountv1.Record{outcome(at(0, 1), a, 7, 0, "a"), outcome(at(0, 2), b, 8, 0, "b")}, nil, []string{"a"}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t)
			for _, r := range c.records {
				apply(t, g, r.Origin.Offset+1, r)
			}
			all, err := g.Outcomes(a)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range all {
				got = append(got, o.OutputTail)
			}
			if d := cmp.Diff(got, c.want); d != "" {
				t.Errorf("outcomes: got (-), want (+):\n%s", d)
			}
			o, ok, err := g.Lookup(a, c.visible)
			if err != nil || ok != (c.first != "") || o.OutputTail != c.first {
				t.Errorf("lookup: got %q, %v, %v, want %q", o.OutputTail, ok, err, c.first)
			}
		})
	}
}

func TestOutcomeComesBackWhole(t *testing.T) {
	g := open(t)
	p := schemas.Position{Topic: "recount.commands", Partition: 3, Offset: 1042}
	exits := []int32{0, 1, -1, 127, math.MaxInt32, math.MinInt32}
	for i, exit := range exits {
		p.Offset++
		intent := schemas.EventID{byte(i)}
		r := outcome(p, intent, -5, exit, "ünï\x00code")
		apply(t, g, p.Offset+1, r)
		got, ok, err := g.Lookup(intent, nil)
		if err != nil || !ok {
			t.Fatalf("lookup: %v, %v", ok, err)
		}
		want := Outcome{
			IntentID: intent, EventID: schemas.EventID(r.EventId), Position: p, ObservedUnixNano: -5,
			ExitCode: &exit, DurationNano: 5, Author: "hook", OutputTail: "ünï\x00code",
		}
		if d := cmp.Diff(got, want); d != "" {
			t.Errorf("got (-), want (+):\n%s", d)
		}
	}
	p.Offset++
	r := outcome(p, schemas.EventID{99}, 0, 0, "")
	r.GetOutcome().ExitCode, r.GetOutcome().DurationNano = nil, -1
	apply(t, g, r.Origin.Offset+1, r)
	if got, _, err := g.Lookup(schemas.EventID{99}, nil); err != nil || got.ExitCode != nil || got.DurationNano != -1 {
		t.Errorf("unknown exit and duration: got %+v, %v", got, err)
	}
}

func TestIntentIDRefused(t *testing.T) {
	g := open(t)
	r := outcome(schemas.Position{Topic: "recount.commands", Offset: 4}, schemas.EventID{1}, 0, 0, "")
	r.GetOutcome().IntentId = []byte("short")
	err := g.Apply(t.Context(), schemas.Batch{Topic: "recount.commands", Next: 5, Records: []*recountv1.Record{r}})
	if got, want := fmt.Sprint(err), "record at recount.commands/0/4: intent's event id: 5 bytes, want 16"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzDecodeOutcome(f *testing.F) {
	key := append([]byte{kindOutcome}, make([]byte, 24)...)
	key = append(store.AppendShard(key, schemas.TopicPartition{Topic: "t", Partition: 1}), make([]byte, 8)...)
	exit := int32(-3)
	value := appendOutcome(nil, make([]byte, 16), &recountv1.Outcome{ExitCode: &exit, DurationNano: -1, Author: "a", OutputTail: "tail"})
	f.Add(key, value)
	f.Add(key, value[:20])
	f.Add([]byte{kindOutcome}, []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		o, err := decodeOutcome(key, value)
		if err != nil {
			return
		}
		again := appendOutcome(nil, o.EventID[:], &recountv1.Outcome{
			ExitCode: o.ExitCode, DurationNano: o.DurationNano, Author: o.Author, OutputTail: o.OutputTail,
		})
		o2, err := decodeOutcome(key, again)
		if err != nil || !cmp.Equal(o, o2) {
			t.Fatalf("%+v comes back as %+v, %v", o, o2, err)
		}
	})
}
