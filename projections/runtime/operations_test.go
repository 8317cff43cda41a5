package runtime

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestOperationsAreBounded checks that a partition keeps the first operations of each service by
// name, and counts the spans of all others.
func TestOperationsAreBounded(t *testing.T) {
	r := open(t)
	r.memory.maxOperations = 3
	next := int64(0)
	tell := func(service string, operations ...string) {
		b := &recountv1.SpanBatch{Observers: []*recountv1.Observer{{Service: service}}}
		for i, op := range operations {
			id := binary.BigEndian.AppendUint64(nil, uint64(next)<<32|uint64(i)+1)
			b.Observations = append(b.Observations, &recountv1.Observation{
				TraceId: append(id, id...), SpanId: id, Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS,
				Operation: op, StartUnixNano: 1_790_000_000_000_000_000, Templated: true,
			})
		}
		origin := schemas.Position{Topic: "recount.spans", Offset: next}
		next++
		must(t, r.Apply(t.Context(), schemas.Batch{Topic: "recount.spans", Next: next, Records: []*recountv1.Record{{
			Origin: origin.Proto(), EventId: binary.BigEndian.AppendUint64(make([]byte, 8), uint64(next)),
			Body: &recountv1.Record_Spans{Spans: b},
		}}}))
	}
	tell("shop", "a", "b", "a", "c", "d", "e", "d")
	forgetful(r)
	tell("shop", "f", "c", "a")
	tell("carts", "f")
	v, err := r.View()
	must(t, err)
	defer v.Close()
	got := map[string]uint64{}
	served, err := v.ServerSums(t.Context(), Range{}, "")
	must(t, err)
	for _, s := range served {
		got[s.Service+" "+s.Operation] += s.Count
	}
	if want := "map[carts f:1 shop a:3 shop b:1 shop c:2 shop other:4]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestOneRootOfBoundedOperations checks that the kept operations do not depend on the interleaving
// of partitions, the batches, or the contents of the caches.
func TestOneRootOfBoundedOperations(t *testing.T) {
	log := generate(5, 4, 60)
	var want string
	for seed := range seeds(12) {
		r := open(t)
		r.memory.maxOperations = 2
		if seed%2 == 1 {
			forgetful(r)
		}
		feed(t, r, rand.New(rand.NewPCG(seed, 9)), log)
		root, err := projections.Root(t.Context(), r)
		must(t, err)
		if want == "" {
			want = root.String()
		}
		if root.String() != want {
			t.Fatalf("interleaving %d: root %s, want %s", seed, root, want)
		}
	}
}
