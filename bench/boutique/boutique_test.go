package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// part is a part of Nezha's data (testdata/LICENSE): traces of one minute that have
// between them every pair of calling and called services and procedure that the minute has.
func part(t *testing.T) []span {
	t.Helper()
	all, err := readFile("testdata/part.csv")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestServiceMap(t *testing.T) {
	all := part(t)
	got, err := outcomeOf(t.Context(), exports(all, perExport), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := joined(all); len(want) != 18 || !maps.Equal(got.calls, want) {
		t.Errorf("other calls than the rows have (-want +got):\n%s", cmp.Diff(want, got.calls, cmp.AllowUnexported(pair{})))
	}
	source := declared()
	if len(source) != 20 {
		t.Errorf("%d calls are declared, want 20", len(source))
	}
	for p := range got.calls {
		if !source[p] {
			t.Errorf("%v is not declared by the source", p)
		}
	}
}

// TestAnyWay: the same spans in another order, in other exports, twice, or by clocks
// that differ.
func TestAnyWay(t *testing.T) {
	all := part(t)
	plain, err := outcomeOf(t.Context(), exports(all, perExport), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plain.answers, "call frontend cartservice RUNTIME_KIND_RPC hipstershop.CartService/GetCart") {
		t.Fatalf("answers:\n%s", plain.answers)
	}
	for _, v := range variants {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 0))
			got, err := outcomeOf(t.Context(), exports(v.make(r, all), v.size), r)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got.calls, plain.calls) {
				t.Errorf("%s, seed %d: other calls (-want +got):\n%s", v.name, seed, cmp.Diff(plain.calls, got.calls, cmp.AllowUnexported(pair{})))
			}
			if same := got.answers == plain.answers; same == v.skewed {
				t.Errorf("%s, seed %d: same answers %t (-want +got):\n%s", v.name, seed, same, cmp.Diff(plain.answers, got.answers))
			}
			if v.sameLog && got.root != plain.root {
				t.Errorf("%s, seed %d: another root", v.name, seed)
			}
		}
	}
}

func TestPart(t *testing.T) {
	all := part(t)
	var again strings.Builder
	writePart(&again, all)
	parts, err := readSpans(strings.NewReader(again.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := joined(parts), joined(all); !slices.Equal(slices.SortedFunc(maps.Keys(got), pair.compare), slices.SortedFunc(maps.Keys(want), pair.compare)) {
		t.Errorf("pairs %v, want %v", got, want)
	}
}

func TestServiceOfPod(t *testing.T) {
	for pod, want := range map[string]string{
		"frontend-579b9bff58-t2dbm": "frontend", "redis-cart-6b8b-xxx": "redis-cart", "bare": "bare", "a-b": "a",
	} {
		if got := (span{pod: pod}).service(); got != want {
			t.Errorf("%s: got %s, want %s", pod, got, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	head := strings.Join(header, ",") + "\n"
	for in, want := range map[string]string{
		"":                          "the first line is not",
		"a,b\n":                     "the first line is not",
		head + "t,s,root,p,o,x,2,0": "line 2: start",
	} {
		if _, err := readSpans(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

func TestHandlers(t *testing.T) {
	var out strings.Builder
	err := scoreHandlers(strings.NewReader(`{"edges": [
		{"caller":"frontend","callee":"adservice","kind":"rpc","operation":"hipstershop.AdService/GetAds","code":{"symbol":{"file":"src/adservice/src/main/java/hipstershop/AdService.java","line":107}}},
		{"caller":"frontend","callee":"cartservice","kind":"rpc","operation":"hipstershop.CartService/AddItem","code":{"symbol":{"file":"a.cs","line":1}}},
		{"caller":"frontend","callee":"cartservice","kind":"rpc","operation":"hipstershop.CartService/GetCart","code":null},
		{"caller":"frontend","callee":"redis","kind":"queries","operation":"GET"}]}`), &out)
	if err != nil {
		t.Fatal(err)
	}
	want := `frontend → cartservice hipstershop.CartService/AddItem: handled by a.cs:1, want src/cartservice/src/services/CartService.cs:34
frontend → cartservice hipstershop.CartService/GetCart: handled by nothing, want src/cartservice/src/services/CartService.cs:40
handlers found: 1 of 3
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	for _, bad := range []string{"", `{"truncated":1}`} {
		if err := scoreHandlers(strings.NewReader(bad), &out); err == nil {
			t.Errorf("%q was judged", bad)
		}
	}
}
