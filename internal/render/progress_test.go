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
	})
}
