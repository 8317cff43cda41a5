package lexical

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// objectLog makes logs of agents' events.
type objectLog struct {
	rng   *rand.Rand
	seed  uint64
	made  int64
	texts []string
}

var (
	objectWords = strings.Fields(`the cart fails checkout payment retry userSessionStore src/cart/service.go timeout 結帳失敗 再試行する
		ошибка 🚀 größter deploy --no-cache HTTP 500 redis pool is exhausted because of and api_server error E1234 fix test flaky`)
	objectAudiences = []*recountv1.Object{
		{Workspace: "shop", Visibility: recountv1.Visibility_VISIBILITY_WORKSPACE},
		{Workspace: "shop", Visibility: recountv1.Visibility_VISIBILITY_WORKSPACE},
		{Workspace: "shop", Visibility: recountv1.Visibility_VISIBILITY_WORKSPACE},
		{Workspace: "shop", Session: "s1", Visibility: recountv1.Visibility_VISIBILITY_SESSION},
		{Workspace: "shop", Session: "s2", Visibility: recountv1.Visibility_VISIBILITY_SESSION},
		{Tenant: "other", Workspace: "shop", Visibility: recountv1.Visibility_VISIBILITY_WORKSPACE},
		{Agent: "ada", Visibility: recountv1.Visibility_VISIBILITY_PRIVATE},
		{Visibility: recountv1.Visibility_VISIBILITY_TENANT},
	}
)

func audienceOf(o *recountv1.Object) schemas.AudienceID {
	return schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility).ID()
}

// text returns a few words, with the first ones of the list more frequent, or a text that it
// returned before.
func (g *objectLog) text() string {
	if len(g.texts) > 0 && g.rng.IntN(5) == 0 {
		return g.texts[g.rng.IntN(len(g.texts))]
	}
	var words []string
	for range g.rng.IntN(24) {
		words = append(words, objectWords[int(float64(len(objectWords))*g.rng.Float64()*g.rng.Float64())])
	}
	if g.rng.IntN(3) == 0 {
		words = append(words, fmt.Sprint("unique", g.made))
	}
	g.texts = append(g.texts, strings.Join(words, " "))
	return g.texts[len(g.texts)-1]
}

func (g *objectLog) object() *recountv1.Object {
	a := objectAudiences[g.rng.IntN(len(objectAudiences))]
	o := &recountv1.Object{Tenant: a.Tenant, Workspace: a.Workspace, Session: a.Session, Agent: a.Agent, Visibility: a.Visibility, Text: g.text()}
	switch g.rng.IntN(4) {
	case 0:
		o.Title = objectWords[g.rng.IntN(len(objectWords))]
	case 1:
		o.Title, _, _ = strings.Cut(o.Text, " ")
	}
	if g.rng.IntN(3) == 0 {
		o.Tool = &recountv1.ToolUse{CallId: fmt.Sprint("call", g.rng.IntN(3))}
		if g.rng.IntN(2) == 0 {
			o.Type = recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL
		}
	}
	parts := []int{0, 1, 1, 1, 1, 2, 3}[g.rng.IntN(7)]
	if g.rng.IntN(400) == 0 {
		parts = 2100 // more than a window has
	}
	for i := range parts {
		start, end := len(o.Text)*(i%5)/(min(parts, 5)+1), len(o.Text)*(i%5+2)/(min(parts, 5)+1)
		o.Parts = append(o.Parts, &recountv1.ObjectPart{Start: uint32(start), End: uint32(end), ContentHash: xxh3.HashString(o.Text[start:end])})
	}
	return o
}

func (g *objectLog) record(tp schemas.TopicPartition, offset int64) *recountv1.Record {
	g.made++
	id := schemas.NewCanon("lexical/objects").Int(int64(g.seed)).Int(g.made).ID()
	batch := &recountv1.ObjectBatch{}
	for range []int{1, 1, 1, 2, 3}[g.rng.IntN(5)] {
		batch.Objects = append(batch.Objects, g.object())
	}
	return &recountv1.Record{
		Origin: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset}.Proto(), EventId: id[:],
		EventType: []string{schemas.TypeUserMessage, schemas.TypeToolResult}[g.rng.IntN(2)], Body: &recountv1.Record_Objects{Objects: batch},
	}
}

// agentShards returns logs of agents' events only.
func agentShards(seed uint64, partitions, records int) []projtest.Shard {
	g := &objectLog{rng: rand.New(rand.NewPCG(seed, 0xa9e)), seed: seed}
	shards := make([]projtest.Shard, partitions)
	for i := range shards {
		sh := &shards[i]
		sh.TP = schemas.TopicPartition{Topic: "recount.agents", Partition: int32(i)}
		for range records {
			sh.Next += int64(g.rng.IntN(2))
			sh.Records = append(sh.Records, g.record(sh.TP, sh.Next))
			sh.Next++
		}
	}
	return shards
}

// mixedShards returns logs of commands and agents' events.
func mixedShards(seed uint64, partitions, records int) []projtest.Shard {
	g := &objectLog{rng: rand.New(rand.NewPCG(seed, 0x3a)), seed: seed}
	shards := projtest.Generate(seed, partitions, records)
	for _, sh := range shards {
		for i, r := range sh.Records {
			if g.rng.IntN(2) == 0 {
				sh.Records[i] = g.record(sh.TP, r.Origin.Offset)
			}
		}
	}
	return shards
}

// objectOracle is BM25 by its definition, over parts that were read once.
type objectOracle struct{ parts []oraclePart }

type oraclePart struct {
	ref      schemas.ObjectRef
	part     uint32
	audience schemas.AudienceID
	hash     uint64
	terms    map[string]uint32
	length   uint32
}

func newObjectOracle(shards []projtest.Shard) *objectOracle {
	o := &objectOracle{}
	for _, sh := range shards {
		calls := map[string]string{}
		for _, r := range sh.Records {
			for i, obj := range r.GetObjects().GetObjects() {
				who, call := fmt.Sprint(audienceOf(obj), obj.Session, obj.GetTool().GetCallId()), ""
				switch {
				case obj.GetTool() == nil || len(obj.Parts) == 0:
				case obj.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL:
					calls[who] = obj.Text
				case r.EventType == schemas.TypeToolResult:
					call = calls[who]
				}
				for n, p := range obj.Parts {
					text := newAnalyser(true).part(speakerOf(r.EventType, obj), obj.Title, call, obj.Text[p.Start:p.End])
					part := oraclePart{
						ref:  schemas.ObjectRef{Position: schemas.PositionOf(r.Origin), Index: uint32(i)},
						part: uint32(n), audience: audienceOf(obj), hash: p.ContentHash,
						terms: map[string]uint32{}, length: min(text.length, bm25.MaxLength),
					}
					for _, w := range text.terms {
						part.terms[w.term] = min(w.weight, bm25.MaxWeight)
					}
					o.parts = append(o.parts, part)
				}
			}
		}
	}
	return o
}

func (o *objectOracle) search(q ObjectQuery) ([]ObjectHit, ObjectStats) {
	terms := q.terms()
	df := make([]uint64, len(terms))
	var stats ObjectStats
	var length uint64
	var there []oraclePart
	for _, p := range o.parts {
		if !slices.Contains(q.Audiences, p.audience) || q.Below != nil && p.ref.Offset >= q.Below[p.ref.TP()] {
			continue
		}
		there = append(there, p)
		stats.Parts++
		length += uint64(p.length)
		for t, term := range terms {
			if p.terms[term.Text] > 0 {
				df[t]++
			}
		}
	}
	for t, term := range terms {
		stats.Terms = append(stats.Terms, TermStats{Term: term.Text, Documents: df[t], IDF: bm25.IDF(stats.Parts, df[t])})
	}
	sc := bm25.NewScorer(stats.Parts, length)
	best := map[schemas.ObjectRef]ObjectHit{}
	for _, p := range there {
		if q.Filter != nil && !q.Filter(p.ref) || q.Only != nil && !slices.Contains(q.Only, p.ref) {
			continue
		}
		h := ObjectHit{Ref: p.ref, Part: p.part, ContentHash: p.hash}
		var score bm25.Points
		for t, term := range terms {
			if w := p.terms[term.Text]; w > 0 {
				score += sc.Score(bm25.Factor(stats.Parts, df[t]), w, p.length)
			}
		}
		h.Score = score.Float()
		if score > 0 && h.Score >= best[p.ref].Score {
			best[p.ref] = h
		}
	}
	var hits []ObjectHit
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b ObjectHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Ref.TP().Compare(b.Ref.TP()), cmp.Compare(b.Ref.Offset, a.Ref.Offset), a.Ref.Compare(b.Ref))
	})
	if q.Distinct {
		said := map[uint64]bool{}
		hits = slices.DeleteFunc(hits, func(h ObjectHit) bool {
			twice := said[h.ContentHash]
			said[h.ContentHash] = true
			return twice
		})
	}
	return hits[:min(len(hits), q.K)], stats
}
