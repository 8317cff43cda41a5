package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/runtime"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestOperationsAreBounded checks that of a service with very many operations the first are listed,
// and the others are summed up and counted.
func TestOperationsAreBounded(t *testing.T) {
	m := newMemory(t)
	shop, carts := &recountv1.Observer{Service: "shop"}, &recountv1.Observer{Service: "carts"}
	const scanned = 3000
	busy := []string{"calls GET /orders/{id}", "rpc shop.v1.Shop/Buy"}
	all := slices.Clone(busy)
	for i := range scanned {
		all = append(all, fmt.Sprintf("calls GET /scan/%s", strings.Map(func(r rune) rune { return 'g' + r - '0' }, fmt.Sprintf("%04d", i))))
	}
	all = append(all, "rpc shop.v1.Shop/Zap", "queries SELECT zebras")
	m.served(shop, all...)
	m.served(shop, busy...)
	m.served(carts, "calls GET /carts")

	ask := func(r runtime.TrafficRequest) runtime.TrafficResponse {
		t.Helper()
		got, err := runtime.TrafficOf(t.Context(), m.s, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	// There are 3,004 operations of shop and one of carts: 1,000 of shop and that of carts are
	// listed, and a sum for each remaining kind.
	got := ask(runtime.TrafficRequest{Limit: 10000})
	if got.Total != scanned+5 || got.Folded != scanned+4-1000 || got.Truncated != 0 || len(got.Operations) != 1000+1+3 {
		t.Errorf("%d in all, %d folded, %d left out, %d listed", got.Total, got.Folded, got.Truncated, len(got.Operations))
	}
	var served uint64
	var sums []string
	folded := 0
	for _, x := range got.Operations {
		served += x.Count
		if folded += x.Folded; x.Folded > 0 {
			sums = append(sums, fmt.Sprintf("%s %s %s %d %d", x.Service, x.Kind, x.Operation, x.Folded, x.Count))
			if x.Code.Resolved() || x.Confidence == 0 || x.P95 == 0 || len(x.Examples) == 0 {
				t.Errorf("%+v", x)
			}
		}
	}
	if want := uint64(len(all) + len(busy) + 1); served != want || folded != got.Folded {
		t.Errorf("%d served and %d folded, want %d and %d", served, folded, want, got.Folded)
	}
	if want := "shop calls other 2002 2002|shop rpc other 1 1|shop queries other 1 1"; strings.Join(sums, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(sums, "|"), want)
	}
	// An operation in the sum is found by its name, and the sum is ranked by its count.
	got = ask(runtime.TrafficRequest{Operation: "zebras"})
	if len(got.Operations) != 1 || got.Folded != 0 || got.Operations[0].Operation != "SELECT zebras" {
		t.Errorf("%+v", got.Operations)
	}
	if got = ask(runtime.TrafficRequest{Limit: 1}); got.Operations[0].Folded != 2002 || got.Truncated != 1003 {
		t.Errorf("%d left out, first %+v", got.Truncated, got.Operations[0])
	}

	services, err := runtime.ServicesOf(t.Context(), m.s, runtime.ServicesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"carts 1 0", "shop 3004 2004"} {
		if s := services.Services[i]; fmt.Sprintf("%s %d %d", s.Name, s.Operations, s.Folded) != want {
			t.Errorf("%+v, want %s", s, want)
		}
	}
}

// TestQuestionsStopWithTheirContext checks that queries stop if their context is cancelled.
func TestQuestionsStopWithTheirContext(t *testing.T) {
	m := newMemory(t)
	m.served(&recountv1.Observer{Service: "shop"}, "calls GET /orders/{id}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"traffic":     func() error { _, err := runtime.TrafficOf(ctx, m.s, runtime.TrafficRequest{}); return err },
		"edges":       func() error { _, err := runtime.EdgesOf(ctx, m.s, runtime.EdgesRequest{}); return err },
		"services":    func() error { _, err := runtime.ServicesOf(ctx, m.s, runtime.ServicesRequest{}); return err },
		"stats":       func() error { _, err := runtime.StatsOf(ctx, m.s, runtime.StatsRequest{}); return err },
		"dead-routes": func() error { _, err := runtime.DeadRoutes(ctx, m.s, runtime.DeadRoutesRequest{}); return err },
	} {
		if err := ask(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
