package recent

import "testing"

func TestForgetsWhatNobodyAsksFor(t *testing.T) {
	m := New[int, int](4)
	for i := range 100 {
		m.Add(i, -i)
		if v, ok := m.Get(0); !ok || v != 0 {
			t.Fatalf("after %d entries: 0, which is asked for each time, is %d, %v", i, v, ok)
		}
		if n := len(m.young) + len(m.old); n > 8 {
			t.Fatalf("%d entries, want at most 8", n)
		}
	}
	for i := 97; i < 100; i++ {
		if v, ok := m.Get(i); !ok || v != -i {
			t.Errorf("Get(%d) = %d, %v: it is one of the last", i, v, ok)
		}
	}
	if v, ok := m.Get(50); ok {
		t.Errorf("Get(50) = %d: nobody asked for it since", v)
	}
}
