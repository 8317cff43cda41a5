package lexical

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func allAudiences() []schemas.AudienceID {
	var ids []schemas.AudienceID
	for _, o := range objectAudiences {
		ids = append(ids, audienceOf(o))
	}
	return ids
}

// TestProjectionOfObjects runs the suite with commands and objects in one log.
func TestProjectionOfObjects(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind:     Kind,
		Records:  250,
		Crashes:  8,
		Generate: mixedShards,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Change: func(r *recountv1.Record) bool {
			if in := r.GetIntent(); in != nil {
				in.ContentHash++
				return true
			}
			for _, o := range r.GetObjects().GetObjects() {
				if len(o.Parts) > 0 {
					o.Text += " changed"
					o.Parts[len(o.Parts)-1].End = uint32(len(o.Text))
					return true
				}
			}
			return false
		},
		Read: func(t *testing.T, p projections.Projection) {
			hits, stats, err := p.(*Index).SearchObjects(t.Context(), ObjectQuery{Text: "cart timeout deploy", K: 20, Audiences: allAudiences()})
			if err != nil {
				t.Errorf("search: %v", err)
			}
			for _, h := range hits {
				if h.Ref.Offset >= stats.Watermark[h.Ref.TP()] {
					t.Errorf("hit at %s, above the watermark %s", h.Ref, stats.Watermark)
				}
			}
		},
	})
}

// randomQuery returns a query of any kind.
func randomQuery(rng *rand.Rand, shards []projtest.Shard) ObjectQuery {
	q := ObjectQuery{K: 1 + rng.IntN(20), Distinct: rng.IntN(2) == 0}
	for range 1 + rng.IntN(6) {
		q.Text += objectWords[rng.IntN(len(objectWords))] + " "
	}
	ids := allAudiences()
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	q.Audiences = ids[:rng.IntN(len(ids)+1)]
	switch rng.IntN(5) {
	case 0:
		q.Filter = func(r schemas.ObjectRef) bool { return r.Offset%7 == 3 }
	case 1:
		q.Only = []schemas.ObjectRef{}
		for _, sh := range shards {
			for offset := rng.Int64N(30); offset < sh.Next; offset += 1 + rng.Int64N(60) {
				q.Only = append(q.Only, schemas.ObjectRef{Position: schemas.Position{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Offset: offset}, Index: uint32(rng.IntN(3))})
			}
		}
	}
	return q
}

// TestObjectsEqualOracle checks that hits, their order, and the bits of scores and statistics equal
// those of scoring every part, for states of any age.
func TestObjectsEqualOracle(t *testing.T) {
	records, queries := 1500, 300
	if projtest.Soak() {
		records, queries = 10_000, 5000
	} else if racing.On {
		queries = 30 // one goroutine searches
	}
	shards := agentShards(5, 2, records)
	x := open(t)
	fill(t, x, shards)
	oracle := newObjectOracle(shards)
	rng := rand.New(rand.NewPCG(4, 4))
	found, scored, had := 0, 0, 0
	for i := range queries {
		q := randomQuery(rng, shards)
		switch rng.IntN(3) {
		case 0:
			q.Below = schemas.Watermark{shards[0].TP: rng.Int64N(shards[0].Next), shards[1].TP: rng.Int64N(shards[1].Next)}
		case 1:
			q.Below = schemas.Watermark{shards[1].TP: rng.Int64N(shards[1].Next)}
		}
		got, stats, err := x.SearchObjects(t.Context(), q)
		check(t, err)
		want, wantStats := oracle.search(q)
		if d := cmp.Diff(got, want, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("query %d, %+v: got (-), want (+):\n%s", i, q, d)
		}
		if d := cmp.Diff(stats, wantStats, cmpopts.IgnoreFields(ObjectStats{}, "Watermark", "Scored")); d != "" {
			t.Fatalf("query %d, %+v: statistics: got (-), want (+):\n%s", i, q, d)
		}
		found += len(got)
		scored += stats.Scored
		had += int(stats.Parts)
	}
	if found < queries {
		t.Errorf("%d hits of %d queries: too few to compare", found, queries)
	}
	if scored*2 > had {
		t.Errorf("%d of %d parts were scored: none are passed over", scored, had)
	}
}

// TestObjectsAsOf checks at every 100th position that an answer equals that of an index that was
// built only up to there: hits, statistics and the work done.
func TestObjectsAsOf(t *testing.T) {
	shards := agentShards(6, 2, 1500)
	x, y := open(t), open(t)
	fill(t, x, shards)
	rng := rand.New(rand.NewPCG(7, 7))
	for at := int64(0); at < max(shards[0].Next, shards[1].Next); at += 100 {
		for i, sh := range shards {
			to := min(at+100*int64(1-i)+37, sh.Next) // the partitions are not at the same offset
			check(t, y.Apply(t.Context(), sh.Batch(y.Next(sh.TP), max(to, y.Next(sh.TP)))))
		}
		for range 8 {
			q := randomQuery(rng, shards)
			want, wantStats, err := y.SearchObjects(t.Context(), q)
			check(t, err)
			q.Below = y.Watermark()
			got, stats, err := x.SearchObjects(t.Context(), q)
			check(t, err)
			if d := cmp.Diff(got, want) + cmp.Diff(stats, wantStats); d != "" {
				t.Fatalf("as of %s, %+v: got (-), want (+):\n%s", q.Below, q, d)
			}
		}
	}
}

// TestManyAudiences searches the lists of many small audiences and a large one while they grow.
func TestManyAudiences(t *testing.T) {
	p := newProse(3)
	small, large := messages(p, 0, 600, 30), messages(p, 0, 2500, 1)
	large.Partition = 1
	shards := []projtest.Shard{{TP: small.TP(), Next: small.Next, Records: small.Records}, {TP: large.TP(), Next: large.Next, Records: large.Records}}
	for _, r := range shards[1].Records {
		r.Origin.Partition = 1
		id := schemas.NewCanon("large").Int(r.Origin.Offset).ID()
		r.EventId = id[:]
	}
	x, oracle := open(t), newObjectOracle(shards)
	for i := range 10 {
		below := schemas.Watermark{}
		for _, sh := range shards {
			to := sh.Next * int64(i+1) / 10
			check(t, x.Apply(t.Context(), sh.Batch(x.Next(sh.TP), to)))
			below[sh.TP] = to
		}
		for range 3 {
			q := ObjectQuery{Text: p.text(30), Audiences: sessions(30), K: 20, Below: below}
			want, wantStats := oracle.search(q)
			q.Below = nil
			got, stats, err := x.SearchObjects(t.Context(), q)
			check(t, err)
			if d := cmp.Diff(got, want) + cmp.Diff(stats, wantStats, cmpopts.IgnoreFields(ObjectStats{}, "Watermark", "Scored")); d != "" {
				t.Fatalf("%+v: got (-), want (+):\n%s", q, d)
			}
		}
	}
}

// TestObjectsAreApart checks that objects of other audiences change no byte of an answer.
func TestObjectsAreApart(t *testing.T) {
	shards := agentShards(8, 2, 800)
	mine := []schemas.AudienceID{audienceOf(objectAudiences[0]), audienceOf(objectAudiences[4])}
	alone := make([]projtest.Shard, len(shards))
	for i, sh := range shards {
		alone[i] = projtest.Shard{TP: sh.TP, Next: sh.Next}
		for _, r := range sh.Records {
			batch := &recountv1.ObjectBatch{}
			for _, o := range r.GetObjects().GetObjects() {
				if !slices.Contains(mine, audienceOf(o)) {
					o = &recountv1.Object{} // the other objects keep their index
				}
				batch.Objects = append(batch.Objects, o)
			}
			alone[i].Records = append(alone[i].Records, &recountv1.Record{Origin: r.Origin, EventId: r.EventId, EventType: r.EventType, Body: &recountv1.Record_Objects{Objects: batch}})
		}
	}
	x, y := open(t), open(t)
	fill(t, x, shards)
	fill(t, y, alone)
	rng := rand.New(rand.NewPCG(9, 9))
	found := 0
	for range 200 {
		q := randomQuery(rng, shards)
		q.Audiences = mine
		got, stats, err := x.SearchObjects(t.Context(), q)
		check(t, err)
		want, wantStats, err := y.SearchObjects(t.Context(), q)
		check(t, err)
		if g, w := fmt.Sprintf("%+v %+v", got, stats), fmt.Sprintf("%+v %+v", want, wantStats); g != w {
			t.Fatalf("%+v: got %s, without the others %s", q, g, w)
		}
		found += len(got)
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// objects indexes one object at each offset, of one part, for one audience.
func objects(t *testing.T, texts ...string) (*Index, schemas.AudienceID) {
	t.Helper()
	x := open(t)
	b := schemas.Batch{Topic: "recount.agents", Next: int64(len(texts))}
	o := objectAudiences[0]
	for i, text := range texts {
		id := schemas.NewCanon("t").Int(int64(i)).ID()
		title, rest, ok := strings.Cut(text, " | ")
		if !ok {
			title, rest = "", text
		}
		b.Records = append(b.Records, &recountv1.Record{
			Origin: &recountv1.Position{Topic: b.Topic, Offset: int64(i)}, EventId: id[:],
			Body: &recountv1.Record_Objects{Objects: &recountv1.ObjectBatch{Objects: []*recountv1.Object{{
				Workspace: o.Workspace, Visibility: o.Visibility, Title: title, Text: rest,
				Parts: []*recountv1.ObjectPart{{End: uint32(len(rest))}},
			}}}},
		})
	}
	check(t, x.Apply(t.Context(), b))
	return x, audienceOf(o)
}

func TestObjectQueries(t *testing.T) {
	x, audience := objects(t,
		"The payment service fails with HTTP 500",
		"結帳失敗了，請再試一次",
		"再試行する",
		"deploy done🚀",
		"what is it",
		"go test ./cart | PASS",
		"배포가 실패했습니다",
		"if !found { return ErrMissing }",
		"水",
		"ทดสอบระบบ",
	)
	long := strings.Repeat("nothing like it ", 6000) + "payment"
	for name, c := range map[string]struct {
		text string
		want []int64
	}{
		"words":                                 {"payments failing", []int64{0}},
		"a question's small words do not count": {"what is the payment", []int64{0}},
		"nothing but small words":               {"what is it", []int64{4}},
		"a run of Chinese":                      {"失敗", []int64{1}},
		"two scripts":                           {"再試 payment", []int64{0, 2, 1}},
		"Korean without its ending":             {"실패", []int64{6}},
		"Thai":                                  {"ระบบ", []int64{9}},
		"a letter that stands alone":            {"水", []int64{8}},
		"a letter inside a run":                 {"敗", nil},
		"emoji":                                 {"🚀", []int64{3}},
		"the title":                             {"cart", []int64{5}},
		"signs are no operators":                {"!found +payment", []int64{7, 0}},
		"nothing":                               {"", nil},
		"a hundred kilobytes":                   {long, []int64{0}},
		"separators":                            {" ;|& \x00", nil},
		"bytes that are no text":                {"\xff\xfe payment", []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			hits, stats, err := x.SearchObjects(t.Context(), ObjectQuery{Text: c.text, Audiences: []schemas.AudienceID{audience}})
			check(t, err)
			var got []int64
			for _, h := range hits {
				got = append(got, h.Ref.Offset)
			}
			if d := cmp.Diff(got, c.want); d != "" {
				t.Errorf("got (-), want (+):\n%s\n%+v", d, stats)
			}
		})
	}
	if hits, stats, err := x.SearchObjects(t.Context(), ObjectQuery{Text: "payment"}); err != nil || len(hits) > 0 || stats.Parts > 0 {
		t.Errorf("no audience asked: got %v, %+v, %v", hits, stats, err)
	}
}

// TestLongObjectQuery checks that only 64 terms of a long query count.
func TestLongObjectQuery(t *testing.T) {
	x, audience := objects(t, "payment")
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "word%d ", i)
	}
	_, stats, err := x.SearchObjects(t.Context(), ObjectQuery{Text: text.String(), Audiences: []schemas.AudienceID{audience}})
	check(t, err)
	if len(stats.Terms) != maxQueryTerms {
		t.Errorf("%d terms, want %d", len(stats.Terms), maxQueryTerms)
	}
}

// written returns a part's terms with their weights, as text.
func written(p document) string {
	var all []string
	for _, w := range p.terms {
		all = append(all, fmt.Sprint(w.term, ":", w.weight))
	}
	return strings.Join(all, " ")
}

func TestPartTerms(t *testing.T) {
	for _, c := range []struct{ of, title, call, passage, want string }{
		{"", "", "", "git status", "git:4 status:4"},
		{"", "Deploy the cart", "", "deploy it now", "deploy:6 cart:2 now:4"},
		{"", "deploy", "", "deploy it now", "deploy:4 now:4"},
		{"", "", "", "the of", "the:4 of:4"},
		{"", "", "", "日本語です", "日本:4 本語:4 語で:4 です:4"},
		{"", "", "", "v2日本.txt", "v2:4 日本:4 txt:2 .txt:4"},
		{"", "", "", "ok👍🏽!", "ok:4 👍:4"},
		{"", "", "", "スーパー", "スー:4 ーパ:4 パー:4"},
		{"", "", "", "", ""},
		{"ada user", "", "", "deploy it", "ada:4 user:4 deploy:4"},
		{"claude-code", "", "", "read the code", "claude-code:4 read:4 code:4"},
		{"ada", "", "", "the of", "ada:4 the:4 of:4"},
		{"", "", "make test", "the test fails", "make:4 test:8 fail:4"},
		{"", "", "make the", "the of", "make:4 the:4 of:4"},
	} {
		if got := written(newAnalyser(true).part(c.of, c.title, c.call, c.passage)); got != c.want {
			t.Errorf("%q, %q, %q, %q: got %q, want %q", c.of, c.title, c.call, c.passage, got, c.want)
		}
	}
}

// TestAnalyserForgets checks that what an analyser has read before does not affect its results.
func TestAnalyserForgets(t *testing.T) {
	a := newAnalyser(true)
	for i := range 5 * maxTokens {
		a.part("", "", "", fmt.Sprint("word", i))
	}
	got := written(a.part("", "Deploy", "", "userSessionStore 日本語"))
	if want := written(newAnalyser(true).part("", "Deploy", "", "userSessionStore 日本語")); got != want {
		t.Errorf("got %v, afresh %v", got, want)
	}
	if kept := len(a.tokens); kept > maxTokens+2 {
		t.Errorf("%d tokens are kept", kept)
	}
}

// TestPartBeyondText checks that a part outside its text is an error of the record.
func TestPartBeyondText(t *testing.T) {
	x := open(t)
	sh := agentShards(3, 1, 40)[0]
	bad := slices.IndexFunc(sh.Records, func(r *recountv1.Record) bool {
		return r.Origin.Offset > 10 && len(r.GetObjects().Objects[0].Parts) > 0
	})
	sh.Records[bad].GetObjects().Objects[0].Parts[0].End += 1000
	err := x.Apply(context.Background(), sh.Batch(0, sh.Next))
	var re *projections.RecordError
	if !errors.Is(err, schemas.ErrPoison) || !errors.As(err, &re) || re.Position != schemas.PositionOf(sh.Records[bad].Origin) {
		t.Fatalf("got %v, want an error of class poison that names %v", err, sh.Records[bad].Origin)
	}
	sh.Records = slices.Delete(sh.Records, bad, bad+1)
	check(t, x.Apply(t.Context(), sh.Batch(0, sh.Next)))
	q := ObjectQuery{Text: "cart checkout", Audiences: allAudiences(), K: 100}
	got, _, err := x.SearchObjects(t.Context(), q)
	check(t, err)
	want, _ := newObjectOracle([]projtest.Shard{sh}).search(q)
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("got (-), want (+):\n%s", d)
	}
}

// TestDamagedObjects replaces values by invalid ones and checks that reading them is an error or
// does no harm.
func TestDamagedObjects(t *testing.T) {
	x := open(t)
	shards := agentShards(3, 1, 800)
	fill(t, x, shards)
	type pair struct{ k, v []byte }
	var all []pair
	check(t, x.Dump(t.Context(), func(k, v []byte) error {
		all = append(all, pair{slices.Clone(k), slices.Clone(v)})
		return nil
	}))
	rng := rand.New(rand.NewPCG(3, 3))
	kinds := []byte{kindAudience, kindPosting, kindEntries, kindPlaced}
	found := map[byte]int{}
	for round := range 40 {
		kind := kinds[round%len(kinds)]
		y := open(t)
		tx, err := y.Begin(t.Context(), schemas.Batch{Topic: shards[0].TP.Topic, Next: shards[0].Next}, concerns)
		check(t, err)
		for _, p := range all {
			v := slices.Clone(p.v)
			if p.k[0] == kind {
				switch rng.IntN(3) {
				case 0:
					v = v[:rng.IntN(len(v))]
				case 1:
					v[rng.IntN(len(v))] ^= byte(1 + rng.IntN(255))
				default:
					v = append(v, 0)
				}
			}
			if p.k[0] >= store.FirstKind {
				check(t, tx.Set(p.k, v))
			}
		}
		check(t, tx.Commit())
		for range 5 {
			q := randomQuery(rng, shards)
			q.Audiences = allAudiences()
			_, _, err := y.SearchObjects(t.Context(), q)
			if err != nil {
				found[kind]++
				if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(err.Error(), "recount rebuild --projection lexical") {
					t.Fatalf("got %v, want a fatal error that names the way out", err)
				}
			}
		}
	}
	for _, kind := range kinds {
		if found[kind] == 0 {
			t.Errorf("damage of kind %#x was never found", kind)
		}
	}
}

func FuzzPartTerms(f *testing.F) {
	f.Add("title", "the userSessionStore fails 日本語 👍🏽 ทดสอบ")
	kept := newAnalyser(true)
	f.Fuzz(func(t *testing.T, title, passage string) {
		got := newAnalyser(true).part("ada user", title, "", passage)
		for _, w := range got.terms {
			if w.term == "" || len(w.term) > maxTerm || strings.ContainsRune(w.term, 0) || w.weight == 0 {
				t.Fatalf("term %q of weight %d", w.term, w.weight)
			}
		}
		if again := kept.part("ada user", title, "", passage); written(again) != written(got) || again.length != got.length || got.length == 0 {
			t.Fatalf("got %v, then %v", got, again)
		}
	})
}

func FuzzObjectValues(f *testing.F) {
	f.Add(partEntry{offset: 3, sum: 4, parts: 1}.append(nil), uint32(0))
	f.Add(placed{1, 2, 3, 4}.append(nil), uint32(1))
	f.Add(audience{0, 1, 2, 3}.encode(nil), uint32(1))
	f.Fuzz(func(t *testing.T, v []byte, n uint32) {
		if checkEntries(v, n) == nil {
			for i := range entries(v).len() {
				if e := entries(v).at(i); string(e.append(nil)) != string(v[i*entryBytes:(i+1)*entryBytes]) {
					t.Fatalf("entry %d comes back as %+v", i, e)
				}
			}
		}
		if all, err := decodePlaced(v); err == nil {
			var again []byte
			for _, p := range all {
				again = p.append(again)
			}
			if back, err := decodePlaced(again); err != nil || !slices.Equal(back, all) {
				t.Fatalf("%v comes back as %v, %v", all, back, err)
			}
		}
		if a, err := decodeAudience(v); err == nil {
			if back, err := decodeAudience(a.encode(nil)); err != nil || back != a {
				t.Fatalf("%v comes back as %v, %v", a, back, err)
			}
		}
	})
}
