package sealed

import "testing"

// TestGuard checks that the files are released once: by Close, or after it by the last call.
func TestGuard(t *testing.T) {
	for _, calls := range []int{0, 1, 3} {
		var g Guard
		released := 0
		release := func() { released++ }
		for range calls {
			if !g.Enter() {
				t.Fatal("an open guard refuses a call")
			}
		}
		g.Close(release)
		g.Close(release)
		if g.Enter() {
			t.Error("a closed guard admits a call")
		}
		for i := range calls {
			if released != 0 {
				t.Fatalf("%d calls: released while %d are in progress", calls, calls-i)
			}
			g.Leave(release)
		}
		if released != 1 {
			t.Errorf("%d calls: released %d times", calls, released)
		}
	}
}
