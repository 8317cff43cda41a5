package prolly

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// randomModel has keys that are prefixes of others, including the empty key.
func randomModel(r *rand.Rand, n int) model {
	m := model{"": "empty"}
	for range n {
		key := strings.Repeat("\x00", r.IntN(3)) + strings.Repeat("a", r.IntN(4)) + fmt.Sprint(r.IntN(2*n+1))
		if r.IntN(9) == 0 {
			key += "\xff\xff"
		}
		m[key] = fmt.Sprint(r.IntN(100))
	}
	return m
}

func TestReading(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 10, 100, 1000, 10000} {
		m := randomModel(r, size)
		d, _ := newDB()
		root := build(t, d, m)
		v, err := d.Map(root)
		check(t, err)
		keys := slices.Sorted(maps.Keys(m))
		if v.Len() != uint64(len(m)) || v.Root() != root {
			t.Errorf("got %d entries under %s, want %d under %s", v.Len(), v.Root(), len(m), root)
		}
		probe := func() string {
			k := keys[r.IntN(len(keys))]
			switch r.IntN(4) {
			case 0:
				return k + "\x00"
			case 1:
				return k[:len(k)/2]
			}
			return k
		}
		for range 300 {
			k := probe()
			want, there := m[k]
			got, ok, err := v.Get([]byte(k))
			check(t, err)
			if ok != there || string(got) != want {
				t.Fatalf("get %q: got %q, %t, want %q, %t", k, got, ok, want, there)
			}
			has, err := v.Has([]byte(k))
			check(t, err)
			rank, err := v.Rank([]byte(k))
			check(t, err)
			if has != there || rank != uint64(sort.SearchStrings(keys, k)) {
				t.Fatalf("has %q: %t, rank %d; want %t, %d", k, has, rank, there, sort.SearchStrings(keys, k))
			}
			i := r.IntN(len(keys) + 1)
			e, ok, err := v.At(uint64(i))
			check(t, err)
			if ok != (i < len(keys)) || ok && (string(e.Key) != keys[i] || string(e.Value) != m[keys[i]]) {
				t.Fatalf("at %d: got %q, %t", i, e.Key, ok)
			}
		}
		for range 100 {
			from, to, limit := probe(), probe(), r.IntN(50)
			var got []string
			for e, err := range v.Range([]byte(from), []byte(to)) {
				check(t, err)
				if len(got) == limit {
					break
				}
				got = append(got, string(e.Key))
			}
			want := keys[sort.SearchStrings(keys, from):]
			want = want[:min(limit, sort.SearchStrings(want, to))]
			if !slices.Equal(got, want) {
				t.Fatalf("range %q to %q: got %q, want %q", from, to, got, want)
			}
			got = nil
			for e, err := range v.Prefix([]byte(from)) {
				check(t, err)
				got = append(got, string(e.Key))
			}
			want = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !strings.HasPrefix(k, from) })
			if !slices.Equal(got, want) {
				t.Fatalf("prefix %q: got %q, want %q", from, got, want)
			}
		}
		read := model{}
		for e, err := range v.All() {
			check(t, err)
			read[string(e.Key)] = string(e.Value)
		}
		if !maps.Equal(read, m) {
			t.Errorf("all: got %d entries, want %d, or other ones", len(read), len(m))
		}
	}
}

func TestEmpty(t *testing.T) {
	d, s := newDB()
	root := build(t, d, model{})
	v, err := d.Map(root)
	check(t, err)
	_, ok, err := v.Get([]byte("a"))
	check(t, err)
	if root != Empty || v.Len() != 0 || ok {
		t.Errorf("root %s, length %d, has a key: %t", root, v.Len(), ok)
	}
	for e := range v.All() {
		t.Errorf("has %q", e.Key)
	}
	if n, _ := s.Size(); n > 0 {
		t.Errorf("%d chunks are stored for the empty map", n)
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	d, _ := newDB()
	long, big := Entry{Key: make([]byte, MaxKey+1)}, Entry{Value: make([]byte, MaxValue+1)}
	for name, c := range map[string]struct {
		entries []Entry
		want    string
	}{
		"key too long":   {[]Entry{long}, "4097 bytes, more than 4096"},
		"value too long": {[]Entry{big}, "32769 bytes, more than 32768"},
		"unsorted":       {[]Entry{{Key: []byte("b")}, {Key: []byte("a")}}, `key "a" does not come after "b"`},
		"key twice":      {[]Entry{{Key: []byte("a")}, {Key: []byte("a")}}, `key "a" does not come after "a"`},
	} {
		_, err := d.Build(func(yield func(Entry, error) bool) {
			for _, e := range c.entries {
				if !yield(e, nil) {
					return
				}
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("build, %s: got %v, want %q in it", name, err, c.want)
		}
	}
	for _, e := range []Entry{long, big} {
		if _, _, err := d.Apply(Empty, []Edit{{Key: e.Key, Value: e.Value}}); err == nil {
			t.Errorf("apply: key of %d bytes, value of %d: no error", len(e.Key), len(e.Value))
		}
	}
	ended := errors.New("ended")
	if _, err := d.Build(func(yield func(Entry, error) bool) { yield(Entry{}, ended) }); !errors.Is(err, ended) {
		t.Errorf("build from what fails: got %v", err)
	}
}

func TestDiff(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		d, _ := newDB()
		m := randomModel(r, 1<<r.IntN(13))
		old := build(t, d, m)
		edits := randomEdits(r, r.IntN(100), 10000)
		for k := range m {
			if r.IntN(50) == 0 {
				edits = append(edits, Edit{Key: []byte(k), Delete: r.IntN(2) == 0})
			}
		}
		if r.IntN(8) == 0 { // delete most of it
			for k := range m {
				edits = append(edits, Edit{Key: []byte(k), Delete: r.IntN(9) > 0})
			}
		}
		root, stats, err := d.Apply(old, edits)
		check(t, err)
		was := maps.Clone(m)
		m.apply(edits)
		counted := Stats{ChunksRead: stats.ChunksRead, ChunksWritten: stats.ChunksWritten, BytesWritten: stats.BytesWritten}
		for back, roots := range [][2]Hash{{old, root}, {root, old}} {
			got := maps.Clone(was)
			want := m
			if back == 1 {
				got, want = maps.Clone(m), was
			}
			var last []byte
			for c, err := range d.Diff(roots[0], roots[1]) {
				check(t, err)
				if last != nil && bytes.Compare(last, c.Key) >= 0 {
					t.Fatalf("%q comes after %q", c.Key, last)
				}
				last = c.Key
				had, ok := got[string(c.Key)]
				if ok != (c.Kind != Added) || ok != (c.Old != nil) || had != string(c.Old) || (c.New == nil) != (c.Kind == Deleted) {
					t.Fatalf("change %+v of what was %q, %t", c, had, ok)
				}
				if c.Kind == Deleted {
					delete(got, string(c.Key))
				} else {
					got[string(c.Key)] = string(c.New)
				}
				if back == 0 {
					switch c.Kind {
					case Added:
						counted.Added++
					case Deleted:
						counted.Deleted++
					case Changed:
						counted.Changed++
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("the differences do not lead from one map to the other")
			}
		}
		if counted != stats {
			t.Errorf("stats of apply: got %+v, want %+v", stats, counted)
		}
	}
}
