package runtime

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind:     Kind,
		Generate: generate,
		Records:  100,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Change: func(r *recountv1.Record) bool {
			b := r.GetSpans()
			if b == nil {
				return false
			}
			for _, o := range b.Observations {
				o.Operation += " changed"
			}
			return true
		},
		Summarise: summaries,
		Kept:      sameSums,
		Read: func(t *testing.T, p projections.Projection) {
			v, err := p.(*Runtime).View()
			if err != nil {
				t.Errorf("view: %v", err)
				return
			}
			defer v.Close()
			if _, err := v.Calls(t.Context(), Range{}, ""); err != nil {
				t.Errorf("calls: %v", err)
			}
			if _, err := v.Services(t.Context()); err != nil {
				t.Errorf("services: %v", err)
			}
		},
	})
}

func views(t *testing.T, all ...projections.Projection) []*View {
	t.Helper()
	var out []*View
	for _, p := range all {
		v, err := p.(*Runtime).View()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		out = append(out, v)
	}
	return out
}

func summaries(t *testing.T, all, rest projections.Projection) (records []*recountv1.Record) {
	t.Helper()
	v := views(t, all, rest)
	err := Summarise(t.Context(), v[0], v[1], func(m *recountv1.SpansSummarised) error {
		if err := CheckSummary(m); err != nil {
			return err
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		id := schemas.NewCanon("summary").Bytes(data).ID()
		records = append(records, &recountv1.Record{
			Origin: &recountv1.Position{}, EventId: id[:], EventType: schemas.TypeSpansSummarised,
			Body: &recountv1.Record_SpansSummarised{SpansSummarised: m},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// sameSums checks that two projections agree on Served, Asked and Calls by the hour, and on how
// many spans each observer reported. The first and last times may differ: they may be those of a
// duplicate whose first copy was removed, which is in no sum.
func sameSums(t *testing.T, before, after projections.Projection) {
	t.Helper()
	const day, hour = 86_400_000_000_000, 3_600_000_000_000
	var told [2][]string
	for i, v := range views(t, before, after) {
		note := func(s Sum, words ...any) {
			told[i] = append(told[i], fmt.Sprintln(append(words, s.Count, s.Errors, s.durations)...))
		}
		start := int64(1_790_000_000_000_000_000) / hour * hour
		for _, r := range []Range{{}, {start, start + day}, {start + 5*hour, start + 6*hour}, {start + 7*hour, start + 40*hour}} {
			served, err := v.ServerSums(t.Context(), r, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range served {
				note(x.Sum, "served", r, x.Service, x.Kind, x.Operation, x.Templated, x.System)
			}
			asked, err := v.ClientSums(t.Context(), r, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range asked {
				note(x.Sum, "asked", r, x.Service, x.Peer, x.Kind, x.Operation, x.Templated, x.System)
			}
			calls, err := v.Calls(t.Context(), r, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range calls {
				note(x.Sum, "call", r, x.Caller, x.Callee, x.Kind, x.Operation, x.Templated, x.System, x.AskedKind, x.AskedOperation, x.AskedSystem, x.Peer)
			}
		}
		services, err := v.Services(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range services {
			told[i] = append(told[i], fmt.Sprintln(x.Name, x.Spans))
			for _, o := range x.Observers {
				o.First, o.Last = 0, 0
				told[i] = append(told[i], fmt.Sprintln(x.Name, o))
			}
		}
	}
	slices.Sort(told[0])
	slices.Sort(told[1])
	if diff := cmp.Diff(told[1], told[0]); diff != "" {
		t.Fatalf("sums after retention and before (-after +before):\n%s", diff)
	}
}

func open(t testing.TB) *Runtime {
	t.Helper()
	r, err := Open("runtime", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
