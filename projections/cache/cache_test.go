package cache_test

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/cache"
)

func TestMap(t *testing.T) {
	m := cache.New[int, string](10)
	for i, v := range []string{"a", "b", "c"} {
		m.Put(i, v, 4)
	}
	if v, ok := m.Get(0); !ok || v != "a" {
		t.Fatalf("before Trim: %q, %t", v, ok)
	}
	m.Trim()
	if got := m.Values(); !slices.Equal(got, []string{"c", "a"}) {
		t.Errorf("values of 12 bytes in 10: %q, want the least recently used dropped", got)
	}
	m.Put(0, "A", 6)
	m.Trim()
	if got := m.Values(); !slices.Equal(got, []string{"c", "A"}) {
		t.Errorf("a value of another size: %q", got)
	}
	m.Remove(2)
	m.Remove(2)
	m.Put(3, "d", 4)
	m.Trim()
	if got := m.Values(); !slices.Equal(got, []string{"A", "d"}) {
		t.Errorf("after Remove: %q", got)
	}
	m.Put(4, "e", 100)
	m.Trim()
	if got := m.Values(); len(got) != 0 {
		t.Errorf("a value larger than the limit: %q", got)
	}

	none := cache.New[int, string](-1)
	none.Put(1, "a", 0)
	none.Trim()
	if _, ok := none.Get(1); ok {
		t.Error("a cache with a negative limit kept a value")
	}
}
