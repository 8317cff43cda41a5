package code_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/recountdb/recount/languages"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
)

// TestOverloadsAreAskedAsOne checks that the name of a function means all its declarations in a file: one
// of its overloads alone had no callers, and the name of them all was ambiguous.
func TestOverloadsAreAskedAsOne(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: languages.Resolvers})
	m.commit(shop, "Ada", `shop
-- src/em.ts --
export class EntityManager {
  save(entity: string): string;
  save(entity: number): number;
  save(entity: any): any {
    return this.inner(entity);
  }
  inner(x: any) { return x; }
}
export function load(a: string): string;
export function load(a: any): any { return new EntityManager().inner(a); }
export function use(m: EntityManager) { m.save("x"); return load(1); }
-- m.py --
from typing import overload

@overload
def conv(a: int) -> int: ...
@overload
def conv(a: str) -> str: ...
def conv(a):
    return helper(a)

def helper(a):
    return a

def uses():
    return conv(1)
-- A.java --
package a;
class A {
  int f(int a) { return g(); }
  int f(String a) { return h(); }
  int g() { return 1; }
  int h() { return 2; }
  void user() { f(1); }
  void other() { f("x"); }
}
`)
	names := func(r code.CallsResponse) (all []string) {
		for _, c := range r.Calls {
			all = append(all, c.Name)
		}
		slices.Sort(all)
		return all
	}
	for _, tt := range []struct {
		symbol           string
		callers, callees []string
	}{
		{"EntityManager.save", []string{"em.use"}, []string{"em.EntityManager.inner"}},
		{"src/em.ts:EntityManager.save", []string{"em.use"}, []string{"em.EntityManager.inner"}},
		{"src/em.ts:EntityManager.save#2", nil, nil},
		{"src/em.ts:EntityManager.save#3", []string{"em.use"}, []string{"em.EntityManager.inner"}},
		{"src/em.ts:2", nil, nil},
		{"load", []string{"em.use"}, []string{"em.EntityManager", "em.EntityManager.inner"}},
		{"conv", []string{"m.uses"}, []string{"m.helper"}},
		{"A.f", []string{"a.A.other", "a.A.user"}, []string{"a.A.g", "a.A.h"}},
	} {
		callers, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: tt.symbol})
		if got := names(callers); err != nil || !slices.Equal(got, tt.callers) {
			t.Errorf("callers of %s: got %v %v, want %v", tt.symbol, got, err, tt.callers)
		}
		callees, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: tt.symbol})
		if got := names(callees); err != nil || !slices.Equal(got, tt.callees) {
			t.Errorf("callees of %s: got %v %v, want %v", tt.symbol, got, err, tt.callees)
		}
	}
	if r, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "EntityManager.save"}); err != nil || r.ChangedCount != 1 || r.Total != 1 {
		t.Errorf("impact: %d of %d %v, want 1 of 1", r.Total, r.ChangedCount, err)
	}
	if r, err := code.Flow(t.Context(), m.s, code.FlowRequest{From: "em.use", To: "EntityManager.save"}); err != nil || len(r.Paths) != 1 {
		t.Errorf("flow: %v %v, want one path", r.Paths, err)
	}
	if r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "conv"}); err != nil || len(r.Symbols) != 3 {
		t.Errorf("owners: %d symbols %v, want the three declarations", len(r.Symbols), err)
	}
	// A proof is of one declaration.
	_, err := code.Prove(t.Context(), m.s, code.ProveRequest{From: "em.use", Edge: "calls", To: "EntityManager.save"})
	var which *code.AmbiguousNameError
	if !errors.As(err, &which) || len(which.Candidates) != 3 || which.Candidates[0].Name != "src/em.ts:2" {
		t.Errorf("prove: %v, want the three places", err)
	}
	if _, err := code.Prove(t.Context(), m.s, code.ProveRequest{From: "em.use", Edge: "calls", To: "src/em.ts:4"}); err != nil {
		t.Errorf("prove the implementation: %v", err)
	}
}
