package runtime_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// chain adds services of which each calls the next and its own database.
func (m *memory) chain(services int) {
	b := &recountv1.SpanBatch{}
	id := func(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	tell := func(service, span, parent int, side recountv1.Side, peer, operation string, kind recountv1.RuntimeKind) {
		o := &recountv1.Observation{
			TraceId: make([]byte, 16), SpanId: id(span), Side: side, Kind: kind, Operation: operation, Peer: peer, Observer: uint32(service),
			StartUnixNano: epoch.UnixNano(), DurationNano: 1e6, Status: recountv1.Status_STATUS_OK,
		}
		o.TraceId[0] = 1
		if parent > 0 {
			o.ParentId = id(parent)
		}
		b.Observations = append(b.Observations, o)
	}
	const calls, queries = recountv1.RuntimeKind_RUNTIME_KIND_CALLS, recountv1.RuntimeKind_RUNTIME_KIND_QUERIES
	for i := range services {
		b.Observers = append(b.Observers, &recountv1.Observer{Service: fmt.Sprint("s", i)})
		server := 10*i + 1
		tell(i, server, max(0, server-8), recountv1.Side_SIDE_CALLED, "", "GET /", calls)
		if i+1 < services {
			tell(i, server+2, server, recountv1.Side_SIDE_CALLER, fmt.Sprint("s", i+1), "GET /", calls)
		}
		tell(i, server+4, server, recountv1.Side_SIDE_CALLER, fmt.Sprint("db", i), "SELECT x", queries)
	}
	m.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: b}})
}

// TestServicesByPages checks that the pages of the service map contain every service and every call
// once, whatever their size.
func TestServicesByPages(t *testing.T) {
	m := newMemory(t)
	const services = 7
	m.chain(services)
	told := func(r runtime.ServicesResponse) (all []string) {
		for _, s := range r.Services {
			all = append(all, fmt.Sprint(s.Name, " ", s.Outside))
		}
		for _, c := range r.Calls {
			all = append(all, fmt.Sprint(c.Caller, " calls ", c.Callee, " ", c.Outside))
		}
		return all
	}
	whole, err := runtime.ServicesOf(t.Context(), m.s, runtime.ServicesRequest{})
	if err != nil || whole.Next != "" || whole.Truncated != 0 || len(whole.Services) != 2*services || len(whole.Calls) != 2*services-1 {
		t.Fatalf("%v: %d left out, next %q, %v", told(whole), whole.Truncated, whole.Next, err)
	}
	want := told(whole)
	slices.Sort(want)
	for size := 1; size <= 2*services; size++ {
		var got []string
		for r, pages := (runtime.ServicesRequest{Limit: size}), 0; ; pages++ {
			page, err := runtime.ServicesOf(t.Context(), m.s, r)
			if err != nil || len(page.Services) > size || (page.Next == "") != (page.Truncated == 0) || pages > 2*services {
				t.Fatalf("pages of %d, after %q: %v, %d left, next %q, %v", size, r.After, told(page), page.Truncated, page.Next, err)
			}
			got = append(got, told(page)...)
			if r.After = page.Next; r.After == "" {
				break
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-whole +pages):\n%s", size, diff)
		}
	}
	// A service that no longer exists is still a valid place.
	page, err := runtime.ServicesOf(t.Context(), m.s, runtime.ServicesRequest{After: "service:s55"})
	if err != nil || page.Services[0].Name != "s6" {
		t.Errorf("after one that is not there: %v %v", told(page), err)
	}
	var bad *query.RequestError
	if _, err := runtime.ServicesOf(t.Context(), m.s, runtime.ServicesRequest{After: "s3"}); !errors.As(err, &bad) || bad.Field != "after" || !strings.Contains(err.Error(), "service:") {
		t.Errorf("no place: %v", err)
	}
}

// TestServicesSayWhatIsOther checks that services counts the calls that the projection keeps as
// other.
func TestServicesSayWhatIsOther(t *testing.T) {
	m := newMemory(t)
	m.served(&recountv1.Observer{Service: "shop"}, "calls GET /a", "calls other", "rpc other")
	r, err := runtime.ServicesOf(t.Context(), m.s, runtime.ServicesRequest{})
	if err != nil || len(r.Services) != 1 || r.Services[0].Other != 2 || r.Services[0].Count != 3 {
		t.Errorf("%+v %v", r.Services, err)
	}
}
