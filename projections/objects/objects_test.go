package objects

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind:     Kind,
		Generate: generate,
		Records:  150,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Change: func(r *recountv1.Record) bool {
			b := r.GetObjects()
			if b == nil {
				return false
			}
			b.Objects[0].Text += " changed"
			return true
		},
		Read: func(t *testing.T, p projections.Projection) {
			v, err := p.(*Objects).View()
			if err != nil {
				t.Errorf("view: %v", err)
				return
			}
			refs, err := v.Latest(t.Context(), Filter{}, 20)
			if err != nil {
				t.Errorf("latest: %v", err)
			}
			for _, ref := range refs {
				s, err := v.Get(ref)
				if err != nil || s == nil {
					t.Errorf("get %s: %v, %v", ref, s, err)
					continue
				}
				if a, ok := v.Attributes(ref); !ok || a.TimeUnixNano != s.TimeUnixNano || a.Session != s.Session || a.Audience != s.Audience.ID() {
					t.Errorf("attributes of %s: got %+v, %v, want those of %v", ref, a, ok, s)
				}
				all, err := v.Versions(s.ObjectID(), Bound{})
				if err != nil || len(all) == 0 {
					t.Errorf("versions of %s: %v, %v", ref, all, err)
				}
			}
			v.Audiences(schemas.Principal{Operator: true}, nil)
			if err := v.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		},
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) *Objects {
	t.Helper()
	x, err := Open("objects", store.Options{FS: vfs.NewMem()})
	must(t, err)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func view(t testing.TB, x *Objects) *View {
	t.Helper()
	v, err := x.View()
	must(t, err)
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}
