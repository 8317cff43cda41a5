package vector

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// agents makes records of agents' events one after the other.
type agents struct {
	projtest.Shard
	rng  *rand.Rand
	made int
	past [][]float32
}

func newAgents(partition int32, seed uint64) *agents {
	a := &agents{rng: rand.New(rand.NewPCG(seed, uint64(partition)))}
	a.TP = schemas.TopicPartition{Topic: "recount.agents", Partition: partition}
	return a
}

// object returns an object of an audience, with a part for each vector; a nil vector makes a part
// without an embedding.
func object(of schemas.Audience, vecs ...[]float32) *recountv1.Object {
	o := &recountv1.Object{Tenant: of.Tenant, Visibility: of.Visibility, Workspace: of.Workspace, Session: of.Session, Agent: of.Agent}
	for _, v := range vecs {
		o.Parts = append(o.Parts, &recountv1.ObjectPart{Embedding: v})
	}
	return o
}

// add appends an event with these objects and returns its offset.
func (a *agents) add(embedder string, objects ...*recountv1.Object) int64 {
	a.made++
	id := schemas.NewCanon("vector/agents").Int(int64(a.TP.Partition)).Int(int64(a.made)).ID()
	at := a.Next
	a.Next++
	a.Records = append(a.Records, &recountv1.Record{
		Origin:  schemas.Position{Topic: a.TP.Topic, Partition: a.TP.Partition, Offset: at}.Proto(),
		EventId: id[:], EventType: schemas.TypeUserMessage,
		Body: &recountv1.Record_Objects{Objects: &recountv1.ObjectBatch{Embedder: embedder, Objects: objects}},
	})
	return at
}

// audience returns the i-th of many audiences, of every visibility.
func audience(i int) schemas.Audience {
	v := recountv1.Visibility(1 + i%4)
	name := string(rune('a' + i%26))
	return schemas.AudienceOf("t"+name, "w"+name, "s"+name, "a"+name, v)
}

// some appends an event such as agents produce: usually one object of one passage, sometimes
// several objects or none; of several audiences; with some passages that occurred before.
func (a *agents) some(audiences int) {
	if a.rng.IntN(20) == 0 {
		a.Next += 3 // events that the projection does not read
	}
	embedder := "test/1"
	if a.rng.IntN(9) == 0 {
		embedder = "test/2"
	}
	var objects []*recountv1.Object
	for range 1 + a.rng.IntN(2) {
		var vecs [][]float32
		for range a.rng.IntN(4) {
			switch {
			case len(a.past) > 0 && a.rng.IntN(3) == 0:
				vecs = append(vecs, a.past[a.rng.IntN(len(a.past))])
			case a.rng.IntN(20) == 0:
				vecs = append(vecs, nil)
			default:
				a.past = append(a.past, unit(a.rng))
				vecs = append(vecs, a.past[len(a.past)-1])
			}
		}
		objects = append(objects, object(audience(a.rng.IntN(audiences)), vecs...))
	}
	a.add(embedder, objects...)
}

func (a *agents) apply(t testing.TB, p *Projection) {
	t.Helper()
	a.applyTo(t, p, a.Next)
}

func (a *agents) applyTo(t testing.TB, p *Projection, to int64) {
	t.Helper()
	for at := p.Next(a.TP); at < to; at = p.Next(a.TP) {
		if err := p.Apply(t.Context(), a.Batch(at, min(at+512, to))); err != nil {
			t.Fatal(err)
		}
	}
}

// told is a passage of a log that a search may find.
type told struct {
	ref      schemas.ObjectRef
	part     uint32
	audience schemas.AudienceID
	embedder string
	vec      []float32
}

func passagesOf(logs ...*agents) (all []told) {
	for _, a := range logs {
		for _, r := range a.Records {
			for i, o := range r.GetObjects().Objects {
				for j, part := range o.Parts {
					if len(part.Embedding) > 0 {
						of := schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility).ID()
						ref := schemas.ObjectRef{Position: schemas.PositionOf(r.Origin), Index: uint32(i)}
						all = append(all, told{ref, uint32(j), of, r.GetObjects().Embedder, part.Embedding})
					}
				}
			}
		}
	}
	return all
}

// wantedObjects returns what a search must return, by comparing every passage.
func wantedObjects(all []told, q ObjectQuery) []ObjectHit {
	best := map[schemas.ObjectRef]ObjectHit{}
	for _, x := range all {
		if x.embedder != q.Embedder || !slices.Contains(q.Audiences, x.audience) ||
			q.Below != nil && x.ref.Offset >= q.Below[x.ref.TP()] ||
			q.Filter != nil && !q.Filter(x.ref) || q.Only != nil && !slices.Contains(q.Only, x.ref) {
			continue
		}
		h := ObjectHit{x.ref, x.part, float64(kernel.Generic().Dot(x.vec, q.Vector))}
		if old, ok := best[x.ref]; !ok || h.compare(old) < 0 {
			best[x.ref] = h
		}
	}
	var hits []ObjectHit
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, ObjectHit.compare)
	return hits[:min(len(hits), q.K)]
}

// objectQueries returns queries of every kind about some logs.
func objectQueries(rng *rand.Rand, n int, logs ...*agents) (all []ObjectQuery) {
	for i := range n {
		a := logs[rng.IntN(len(logs))]
		q := ObjectQuery{Vector: unit(rng), Embedder: "test/1", K: 1 + rng.IntN(20)}
		if i%3 == 0 {
			q.Vector = a.past[rng.IntN(len(a.past))]
		}
		for range 1 + rng.IntN(6) {
			q.Audiences = append(q.Audiences, audience(rng.IntN(12)).ID()) // some twice, some unknown
		}
		switch i % 6 {
		case 1:
			q.Filter = func(r schemas.ObjectRef) bool { return r.Offset%2 == 1 }
		case 2:
			q.Filter = func(r schemas.ObjectRef) bool { return r.Offset%50 == 3 && r.Index == 0 }
		case 3:
			q.Below = schemas.Watermark{}
			for _, a := range logs {
				q.Below[a.TP] = rng.Int64N(a.Next)
			}
		case 4:
			q.Embedder = "test/2"
		case 5:
			q.Only = []schemas.ObjectRef{}
			for range rng.IntN(30) {
				at := schemas.Position{Topic: a.TP.Topic, Partition: a.TP.Partition, Offset: rng.Int64N(a.Next)}
				q.Only = append(q.Only, schemas.ObjectRef{Position: at, Index: uint32(rng.IntN(2))})
			}
			slices.SortFunc(q.Only, schemas.ObjectRef.Compare)
		}
		all = append(all, q)
	}
	return all
}

func searchObjects(t testing.TB, p *Projection, q ObjectQuery) ([]ObjectHit, []ObjectStats) {
	t.Helper()
	hits, stats, err := p.SearchObjects(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits, stats
}

// TestObjectProjection runs the suite with agents' events and commands, each in partitions of their
// own, and steps so small that a log seals several.
func TestObjectProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind: kindOf(Options{SealRows: 48, M: 4, EfConstruction: 20}),
		Generate: func(seed uint64, partitions, records int) []projtest.Shard {
			shards := projtest.Generate(seed, partitions, records)[:partitions/2]
			for i := len(shards); i < partitions; i++ {
				a := newAgents(int32(i), seed)
				for range records {
					a.some(12)
				}
				shards = append(shards, a.Shard)
			}
			return shards
		},
		Change: func(r *recountv1.Record) bool {
			changed := changeEmbedding(r)
			for _, o := range r.GetObjects().GetObjects() {
				for _, part := range o.Parts {
					changed = changed || len(part.Embedding) > 0
					for i := range part.Embedding {
						part.Embedding[i] *= -1
					}
				}
			}
			return changed
		},
		Read: func(t *testing.T, p projections.Projection) { readObjects(t, p.(*Projection)) },
	})
}

// readObjects reads in every way and checks that the results agree, while batches are applied.
func readObjects(t *testing.T, p *Projection) {
	readEverything(t, p)
	q := ObjectQuery{Vector: at(1), Embedder: "test/1", K: 7, Below: p.Watermark()}
	for i := range 12 {
		q.Audiences = append(q.Audiences, audience(i).ID())
	}
	hits, _, err := p.SearchObjects(t.Context(), q)
	if err != nil {
		t.Error(err)
		return
	}
	again := q
	again.Only = []schemas.ObjectRef{}
	for _, h := range hits {
		again.Only = append(again.Only, h.Ref)
	}
	exact, _, err := p.SearchObjects(t.Context(), again)
	if err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(hits, exact); diff != "" {
		t.Errorf("the hits, compared alone (- hits, + alone): %s", diff)
	}
	for _, s := range p.ObjectStats() {
		if s.Rows > s.Runs {
			t.Errorf("%s: %d rows of %d runs", s.TP, s.Rows, s.Runs)
		}
	}
}

// TestSearchObjects compares searches of every kind with a comparison of every passage: in memory,
// sealed, and reopened.
func TestSearchObjects(t *testing.T) {
	for name, seal := range map[string]int{"hot": 0, "sealed": 100} {
		t.Run(name, func(t *testing.T) {
			opts := Options{SealRows: seal}
			p := open(t, t.TempDir(), opts)
			logs := []*agents{newAgents(0, 1), newAgents(2, 1)}
			for i := range 500 {
				logs[i%2].some(10)
				if i%33 == 0 {
					logs[i%2].apply(t, p)
				}
			}
			for _, a := range logs {
				a.apply(t, p)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			all, queries := passagesOf(logs...), objectQueries(rng, 120, logs...)
			for _, when := range []string{"live", "reopened"} {
				found := 0
				for i, q := range queries {
					got, _ := searchObjects(t, p, q)
					if diff := gocmp.Diff(got, wantedObjects(all, q)); diff != "" {
						t.Fatalf("%s, query %d (got - want +): %s", when, i, diff)
					}
					found += len(got)
				}
				if found < 500 {
					t.Fatalf("%d hits in all: too few to mean anything", found)
				}
				closeOf(t, p)
				p = open(t, p.dir, opts)
			}
			closeOf(t, p)
		})
	}
}

// TestObjectsAsOf checks at every 100th position that an answer below it equals that of a
// projection that was built only up to there.
func TestObjectsAsOf(t *testing.T) {
	opts := Options{SealRows: 64}
	a := newAgents(0, 4)
	for range 700 {
		a.some(12)
	}
	whole, then := fresh(t, opts), fresh(t, opts)
	a.apply(t, whole)
	queries := objectQueries(rand.New(rand.NewPCG(2, 2)), 30, a)
	for below := int64(0); below <= a.Next; below += 100 {
		a.applyTo(t, then, below)
		for i, q := range queries {
			q.Below = nil
			want, wantStats := searchObjects(t, then, q)
			q.Below = schemas.Watermark{a.TP: below}
			got, stats := searchObjects(t, whole, q)
			if diff := gocmp.Diff(got, want); diff != "" {
				t.Fatalf("query %d below %d (got - want +): %s", i, below, diff)
			}
			if diff := gocmp.Diff(stats, wantStats); diff != "" {
				t.Fatalf("query %d below %d: stats (got - want +): %s", i, below, diff)
			}
		}
	}
}

// TestObjectsIsolated checks that objects of other audiences change neither an answer nor its
// counts.
func TestObjectsIsolated(t *testing.T) {
	opts := Options{SealRows: 64}
	mine := audience(3)
	a, alone := newAgents(0, 5), newAgents(0, 5)
	for range 600 {
		a.some(12)
	}
	// alone has the objects of one audience at the same offsets, and nothing else.
	for _, r := range a.Records {
		var objects []*recountv1.Object
		for _, o := range r.GetObjects().Objects {
			if schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility) != mine {
				o = object(audience(0))
			}
			objects = append(objects, o)
		}
		alone.Next = r.Origin.Offset
		alone.add(r.GetObjects().Embedder, objects...)
	}
	p, q := fresh(t, opts), fresh(t, opts)
	a.apply(t, p)
	alone.apply(t, q)
	for i, query := range objectQueries(rand.New(rand.NewPCG(3, 3)), 60, a) {
		query.Audiences = []schemas.AudienceID{mine.ID()}
		got, stats := searchObjects(t, p, query)
		want, wantStats := searchObjects(t, q, query)
		if diff := gocmp.Diff(got, want); diff != "" {
			t.Fatalf("query %d (got - want +): %s", i, diff)
		}
		if diff := gocmp.Diff(stats, wantStats); diff != "" {
			t.Fatalf("query %d: stats (got - want +): %s", i, diff)
		}
	}
}

// TestObjectRepeats checks that repeated passages of an audience are one row, that equal scores
// come newest first, and that an object is one hit even if several of its parts are near.
func TestObjectRepeats(t *testing.T) {
	for name, seal := range map[string]int{"hot": 0, "sealed": 20} {
		p := fresh(t, Options{SealRows: seal})
		a := newAgents(0, 1)
		of := audience(1)
		for range 100 {
			a.add("test/1", object(of, at(0)))
		}
		a.add("test/1", object(of, at(1), at(0), nil, at(0)), object(audience(2), at(0)))
		a.apply(t, p)
		if st := p.ObjectStats(); len(st) != 1 || st[0].Rows != 3 || st[0].Runs != 104 || st[0].Spaces != 2 {
			t.Errorf("%s: stats %+v", name, st)
		}
		hits, stats := searchObjects(t, p, ObjectQuery{Vector: at(0), Embedder: "test/1", K: 3, Audiences: []schemas.AudienceID{of.ID()}})
		if len(hits) != 3 || hits[0].Ref.Offset != 100 || hits[0].Part != 1 || hits[1].Ref.Offset != 99 || hits[2].Ref.Offset != 98 {
			t.Errorf("%s: %+v", name, hits)
		}
		if want := []ObjectStats{{TP: a.TP, Spaces: 1, Rows: 2, Hits: 3}}; !slices.Equal(stats, want) {
			t.Errorf("%s: stats %+v, want %+v", name, stats, want)
		}
	}
}

// TestManySmallAudiences checks that thousands of audiences need no file each and little memory,
// and that one query can search all of them.
func TestManySmallAudiences(t *testing.T) {
	const n = 3000
	p := open(t, t.TempDir(), Options{SealRows: 1000})
	a := newAgents(0, 1)
	var all []schemas.AudienceID
	for i := range 2 * n {
		of := schemas.AudienceOf("", "w", "s"+string(rune(0x4e00+i%n)), "a", recountv1.Visibility_VISIBILITY_SESSION)
		if i < n {
			all = append(all, of.ID())
		}
		a.add("test/1", object(of, unit(a.rng)))
	}
	a.apply(t, p)
	closeOf(t, p)
	if files := filesOf(t, p.dir); len(files) > 2*n/1000+1 {
		t.Errorf("%d files", len(files))
	}
	p = open(t, p.dir, Options{SealRows: 1000})
	defer closeOf(t, p)
	q := ObjectQuery{Vector: unit(a.rng), Embedder: "test/1", K: 20, Audiences: all}
	got, stats := searchObjects(t, p, q)
	if stats[0].Spaces != n || stats[0].Rows != 2*n {
		t.Errorf("stats %+v", stats)
	}
	if diff := gocmp.Diff(got, wantedObjects(passagesOf(a), q)); diff != "" {
		t.Errorf("(got - want +): %s", diff)
	}
}

func TestEveryStepOfObjectsBroken(t *testing.T) {
	opts := Options{SealRows: 24, Logger: quiet}
	a := newAgents(0, 9)
	for range 90 {
		a.some(8)
	}
	sealedtest.EveryStepBroken(t, sealedtest.Steps{
		Log: a.Shard, AtLeast: 40, Verify: verify,
		Open: func(dir string, d sealed.Disk) (projections.Projection, error) {
			o := opts
			o.disk = d
			return Open(dir, o)
		},
	})
}

// TestObjectBounds checks what cannot be applied or searched for, and which queries find nothing.
func TestObjectBounds(t *testing.T) {
	of := []schemas.AudienceID{audience(1).ID()}
	p := fresh(t, Options{})
	a := newAgents(0, 1)
	a.add("test/1", object(audience(1), at(0)))
	a.apply(t, p)
	for name, q := range map[string]ObjectQuery{
		"no k":              {Vector: at(0), Embedder: "test/1", Audiences: of},
		"no audience":       {Vector: at(0), Embedder: "test/1", K: 3},
		"another audience":  {Vector: at(0), Embedder: "test/1", K: 3, Audiences: []schemas.AudienceID{audience(2).ID()}},
		"unknown embedder":  {Vector: at(0), Embedder: "test/9", K: 3, Audiences: of},
		"nothing below":     {Vector: at(0), Embedder: "test/1", K: 3, Audiences: of, Below: schemas.Watermark{}},
		"only none":         {Vector: at(0), Embedder: "test/1", K: 3, Audiences: of, Only: []schemas.ObjectRef{}},
		"a filter for none": {Vector: at(0), Embedder: "test/1", K: 3, Audiences: of, Filter: func(schemas.ObjectRef) bool { return false }},
	} {
		if hits, _ := searchObjects(t, p, q); len(hits) != 0 {
			t.Errorf("%s: %v", name, hits)
		}
	}
	hits, _ := searchObjects(t, p, ObjectQuery{Vector: at(0), Embedder: "test/1", K: 1 << 60, EF: 1 << 60, Audiences: of})
	if len(hits) != 1 {
		t.Errorf("huge k: %v", hits)
	}
	for name, vec := range badVectors() {
		bad := newAgents(1, 1)
		bad.add("test/1", object(audience(1), at(0)))
		at := bad.add("test/1", object(audience(1), unit(a.rng), vec))
		err := p.Apply(t.Context(), bad.Batch(0, bad.Next))
		var re *projections.RecordError
		if !errors.As(err, &re) || !errors.Is(err, schemas.ErrPoison) || re.Position.Offset != at || p.Next(bad.TP) != 0 {
			t.Errorf("%s: got %v, want a RecordError of offset %d", name, err, at)
		}
		if _, _, err := p.SearchObjects(t.Context(), ObjectQuery{Vector: vec, Embedder: "test/1", K: 1, Audiences: of}); err == nil {
			t.Errorf("%s: can be asked for", name)
		}
	}
}
