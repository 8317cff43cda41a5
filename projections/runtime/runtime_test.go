package runtime

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind:     Kind,
		Generate: generate,
		Records:  100,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Change: func(r *recountv1.Record) bool {
			b := r.GetSpans()
			if b == nil {
				return false
			}
			for _, o := range b.Observations {
				o.Operation += " changed"
			}
			return true
		},
		Read: func(t *testing.T, p projections.Projection) {
			v, err := p.(*Runtime).View()
			if err != nil {
				t.Errorf("view: %v", err)
				return
			}
			defer v.Close()
			if _, err := v.Calls(t.Context(), Range{}, ""); err != nil {
				t.Errorf("calls: %v", err)
			}
			if _, err := v.Services(t.Context()); err != nil {
				t.Errorf("services: %v", err)
			}
		},
	})
}

func open(t testing.TB) *Runtime {
	t.Helper()
	r, err := Open("runtime", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
