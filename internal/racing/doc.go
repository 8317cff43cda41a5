// Package racing lets tests do less under the race detector, which makes code ten times slower and
// finds errors that do not depend on sizes.
package racing

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
)

// Alone skips a test that starts no goroutine under the race detector, which would have nothing to
// compare. Without the detector it fails a test that started one. A subtest runs in a goroutine, so
// that it, and not the test around it, is to call Alone.
func Alone(t testing.TB) {
	t.Helper()
	if On {
		t.Skip("it starts no goroutine, so that nothing can race")
	}
	runtimes()
	before := started()
	t.Cleanup(func() {
		if n := started() - before; n > uint64(1+runtime.GOMAXPROCS(0)/4) { // the runtime's, for runtime.AddCleanup
			t.Errorf("%d goroutines were started: the race detector has something to compare", n)
		}
	})
}

// runtimes starts the goroutines that the runtime starts when they are first needed: for finalizers
// and for collecting garbage.
var runtimes = sync.OnceFunc(func() {
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) {})
	runtime.GC()
})

// started is the number of goroutines that were ever started.
func started() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
