package render

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/server/api"
)

// TestSpokenProgress checks that progress without a terminal is a line after a second, and then one
// now and then.
func TestSpokenProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr strings.Builder
		tell := (&Terminal{Err: &stderr, Silence: DefaultSilence}).Progress()
		began, at := time.Now(), []time.Duration{}
		for done := range int64(300) {
			before := stderr.String()
			tell(api.Progress{Phase: "take in", Done: done, Total: 300})
			if stderr.String() != before {
				at = append(at, time.Since(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
		if fmt.Sprint(at) != fmt.Sprint([]time.Duration{DefaultSilence, DefaultSilence + repeat, DefaultSilence + 2*repeat}) {
			t.Errorf("it spoke after %v: %s", at, stderr.String())
		}
		// The total of a phase may be unknown.
		for _, x := range []struct {
			done int64
			want string
		}{{0, "recount: compare\n"}, {7, "recount: compare: 7\n"}} {
			var unknown strings.Builder
			tell := (&Terminal{Err: &unknown, Silence: DefaultSilence}).Progress()
			tell(api.Progress{Phase: "compare"})
			time.Sleep(DefaultSilence)
			tell(api.Progress{Phase: "compare", Done: x.done})
			if unknown.String() != x.want {
				t.Errorf("%d of an unknown number: %q", x.done, unknown.String())
			}
		}
		// A phase that begins later, or once more, is no long one yet.
		before := stderr.String()
		for _, p := range []api.Progress{{Phase: "switch", Total: 3}, {Phase: "take in", Total: 9}, {Phase: "take in", Done: 9, Total: 9}, {Phase: "take in", Total: 9}} {
			tell(p)
			time.Sleep(2 * DefaultSilence)
		}
		if said := strings.TrimPrefix(stderr.String(), before); said != "" {
			t.Errorf("it spoke of what had just begun: %s", said)
		}
	})
}
