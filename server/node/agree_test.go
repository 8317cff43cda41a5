package node_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// TestProjectionsAgreeOnObjects checks that the projections objects, lexical and vector have the
// same objects, also of events that share an id in one partition: after appending, after a restart
// and after a rebuild.
func TestProjectionsAgreeOnObjects(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	const agents = 24
	var all []schemas.Event
	for i := range agents {
		for _, id := range []string{"shared", fmt.Sprint("own-", i)} {
			payload := fmt.Sprintf(`{"tenant":"t%d","workspace":"/src","agent":"a%d","session":"s","visibility":%d,"text":"zebra number %d %s"}`, i%3, i, 1+i%4, i, id)
			all = append(all, schemas.Event{ID: schemas.ProducerID("test", id), Type: schemas.TypeUserMessage, Payload: []byte(payload)})
		}
	}
	out, err := r.Client.Append(t.Context(), slices.Concat(all, all))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, a := range out {
		if a.Duplicate != (i >= len(all)) {
			t.Errorf("event %d: %+v", i, a)
		}
		if !a.Duplicate {
			want = append(want, schemas.ObjectRef{Position: a.Position}.String())
		}
	}
	slices.Sort(want)
	check := func(when string) {
		t.Helper()
		for name, got := range objectsOf(t, r) {
			if d := cmp.Diff(got, want); d != "" {
				t.Errorf("%s, %s: got -, want +:\n%s", when, name, d)
			}
		}
	}
	check("as they come")
	if _, err := r.Client.Rebuild(t.Context(), api.RebuildRequest{Projections: []string{objects.Name, lexical.Name, vector.Name}}, nil); err != nil {
		t.Fatal(err)
	}
	check("after a rebuild")
	r.stop()
	r = start(t, cfg)
	check("after a restart")
}

// objectsOf returns the objects that each projection has, of all audiences.
func objectsOf(t *testing.T, r *running) map[string][]string {
	t.Helper()
	ends, err := r.Log().Ends(t.Context(), "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.Projections().Wait(ctx, ends); err != nil {
		t.Fatal(err)
	}
	has := map[string][]string{}
	var audiences []schemas.AudienceID
	for _, name := range []string{objects.Name, lexical.Name, vector.Name} {
		p, release, err := r.Projections().Acquire(name)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		var refs []schemas.ObjectRef
		switch p := p.(type) {
		case *objects.Objects:
			v, err := p.View()
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			for _, a := range v.Audiences(schemas.Principal{Operator: true}, nil) {
				audiences = append(audiences, a.ID())
			}
			if refs, err = v.Latest(ctx, objects.Filter{}, 1000); err != nil {
				t.Fatal(err)
			}
		case *lexical.Index:
			hits, _, err := p.SearchObjects(ctx, lexical.ObjectQuery{Text: "zebra", Audiences: audiences, K: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				refs = append(refs, h.Ref)
			}
		case *vector.Projection:
			e := embed.NewHash()
			vec := e.Embed("zebra")
			hits, _, err := p.SearchObjects(ctx, vector.ObjectQuery{Vector: vec[:], Embedder: e.Name(), Audiences: audiences, K: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				refs = append(refs, h.Ref)
			}
		}
		for _, ref := range refs {
			has[name] = append(has[name], ref.String())
		}
		slices.Sort(has[name])
	}
	return has
}
