package node

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/server/api"
)

// TestErasuresEndExports checks that an erasure ends exports that read the earlier state, and no
// later ones.
func TestErasuresEndExports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exporters
		var b bytes.Buffer
		ctx, before, doneBefore := x.exporting(t.Context(), &b)
		defer doneBefore()
		stop := x.endOld()
		_, after, doneAfter := x.exporting(t.Context(), &b)
		defer doneAfter()
		time.Sleep(exportGrace / 2)
		if _, err := before.Write([]byte("x")); err != nil || ctx.Err() != nil {
			t.Errorf("ended at once: %v", err)
		}
		time.Sleep(exportGrace)
		if _, err := before.Write([]byte("x")); !errors.Is(err, api.ErrUnavailable) || ctx.Err() == nil {
			t.Errorf("goes on: %v", err)
		}
		if _, err := after.Write([]byte("x")); err != nil || b.Len() != 2 {
			t.Errorf("a later one is ended: %v", err)
		}
		stop()
		x.endOld()() // a stopped timer cancels nothing
		time.Sleep(2 * exportGrace)
		if _, err := after.Write([]byte("x")); err != nil {
			t.Errorf("ended although nothing waited: %v", err)
		}
	})
}
