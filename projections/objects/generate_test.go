package objects

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// generator imitates the processor's output for a few agents of two tenants: messages, calls,
// states and plans with versions in several partitions; statements that agree and that do not;
// edges to events that came before, come later, in another partition, or never; event ids that both
// tenants use; texts of every script and length; and times over the whole range.
type generator struct {
	rng  *rand.Rand
	seed uint64
	made int64
}

var (
	tenants    = []string{"", "", "acme"}
	workspaces = []string{"/src/app", "/src/infra", ""}
	agents     = []string{"claude", "ada", "größe", ""}
	texts      = []string{"the tests pass", "The  tests pass", "größter Wert 日本語 🚀", "", "deploy\nto production"}
	edgeKinds  = []recountv1.ObjectEdgeKind{
		recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_CAUSED_BY, recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPPORTS, recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OTHER,
		recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_USED,
	}
)

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func eventID(seed uint64, n int64) schemas.EventID {
	return schemas.NewCanon("objects/test").Int(int64(seed)).Int(n).ID()
}

func (g *generator) time() int64 {
	switch g.rng.IntN(40) {
	case 0:
		return 0
	case 1:
		return -g.rng.Int64()
	case 2:
		return math.MaxInt64 - g.rng.Int64N(3)
	}
	return 1_790_000_000_000_000_000 + g.made/3*1_000_000_000 // some at the same time
}

func (g *generator) object(tenant, workspace, agent, session string, v recountv1.Visibility) *recountv1.Object {
	text := pick(g.rng, texts)
	switch g.rng.IntN(30) {
	case 0:
		text = strings.Repeat("größe", g.rng.IntN(3*headBytes))
	case 1:
		text = strings.Repeat("x", pieceBytes*g.rng.IntN(3)+headBytes)
	}
	title, _, _ := strings.Cut(text, "\n")
	if g.rng.IntN(3) == 0 {
		title = "another title"
	}
	o := &recountv1.Object{
		Type: recountv1.ObjectType(1 + g.rng.IntN(9)), Memory: recountv1.MemoryKind(g.rng.IntN(5)),
		Tenant: tenant, Workspace: workspace, Agent: agent, Session: session, Visibility: v,
		Importance: g.rng.Float32(), TimeUnixNano: g.time(),
		Title: title, Text: text, ContentHash: xxh3.HashString(strings.ToLower(strings.Join(strings.Fields(text), " "))),
	}
	if o.ValidFromUnixNano = o.TimeUnixNano; g.rng.IntN(3) == 0 {
		o.ValidFromUnixNano = g.rng.Int64()
	}
	if g.rng.IntN(5) == 0 {
		o.ValidUntilUnixNano = g.rng.Int64()
	}
	if g.rng.IntN(20) == 0 {
		o.ContentHash = 0
	}
	if g.rng.IntN(3) == 0 {
		o.Claim = &recountv1.Claim{Subject: pick(g.rng, []string{"build", "port"}), Predicate: "is", Value: fmt.Sprint(g.rng.IntN(3)), Rule: "stated"}
	}
	if len(text) > 0 {
		o.Parts = []*recountv1.ObjectPart{{End: uint32(len(text)), ContentHash: o.ContentHash, Embedding: make([]float32, 384)}}
	}
	if g.rng.IntN(3) == 0 {
		o.Tool = &recountv1.ToolUse{Name: "bash", CallId: fmt.Sprint("c", g.made), Command: "make", DurationNano: -1}
		o.Attributes = []*recountv1.ObjectAttribute{{Key: "k", Value: "v"}}
	}
	return o
}

func (g *generator) record(tp schemas.TopicPartition, offset int64) *recountv1.Record {
	g.made++
	tenant, workspace, agent := pick(g.rng, tenants), pick(g.rng, workspaces), pick(g.rng, agents)
	session := ""
	if g.rng.IntN(5) > 0 {
		session = fmt.Sprint("s", g.rng.IntN(6))
	}
	n := g.made
	if g.rng.IntN(20) == 0 {
		n = g.rng.Int64N(g.made) // an id that others use too
	}
	id := eventID(g.seed, n)
	v := recountv1.Visibility(g.rng.IntN(5))
	b := &recountv1.ObjectBatch{Objects: []*recountv1.Object{g.object(tenant, workspace, agent, session, v)}}
	own := schemas.EventObjectID(tenant, workspace, agent, id)
	b.Objects[0].Id = own[:]
	if g.rng.IntN(4) == 0 {
		named := schemas.NamedObjectID(tenant, workspace, recountv1.ObjectType_OBJECT_TYPE_STATE, agent, fmt.Sprint("key", g.rng.IntN(3)))
		o := g.object(tenant, workspace, agent, session, v)
		o.Id, o.Versioned, o.Removed = named[:], true, g.rng.IntN(9) == 0
		b.Objects = append(b.Objects, o)
		b.Edges = append(b.Edges, &recountv1.ObjectEdge{From: own[:], Kind: recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPPORTS, ObjectId: named[:], Confidence: 1, Rule: "stated"})
	}
	for range g.rng.IntN(4) {
		e := &recountv1.ObjectEdge{From: pick(g.rng, b.Objects).Id, Kind: pick(g.rng, edgeKinds), Confidence: g.rng.Float32(), Rule: "stated"}
		switch g.rng.IntN(4) {
		case 0:
			e.Entity = pick(g.rng, []string{"commit:9fceb02", "session:" + session, "tool:bash", "session:s1", "call:c1", "call:c2"})
		case 1:
			to := eventID(g.seed+1000, g.rng.Int64N(5)) // never arrives
			e.EventId = to[:]
		case 2:
			to := schemas.NamedObjectID(tenant, workspace, recountv1.ObjectType_OBJECT_TYPE_STATE, agent, fmt.Sprint("key", g.rng.IntN(3)))
			e.ObjectId = to[:]
		default:
			to := eventID(g.seed, 1+g.rng.Int64N(2*g.made))
			e.EventId = to[:]
		}
		b.Edges = append(b.Edges, e)
	}
	return &recountv1.Record{
		Origin:  schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset}.Proto(),
		EventId: id[:], EventType: eventType(id), TimeUnixNano: b.Objects[0].TimeUnixNano,
		Body: &recountv1.Record_Objects{Objects: b},
	}
}

func generate(seed uint64, partitions, records int) []projtest.Shard {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0xa6e)), seed: seed}
	shards := make([]projtest.Shard, partitions)
	for i := range shards {
		shards[i].TP = schemas.TopicPartition{Topic: defaultTopic, Partition: int32(i)}
	}
	if partitions > 1 {
		shards[partitions-1].TP.Topic = "other.agents"
	}
	seen := make([]map[schemas.EventID]bool, partitions)
	for range partitions * records {
		n := g.rng.IntN(partitions)
		s := &shards[n]
		if seen[n] == nil {
			seen[n] = map[schemas.EventID]bool{}
		}
		if g.rng.IntN(12) == 0 {
			s.Next += int64(g.rng.IntN(5))
		}
		r := g.record(s.TP, s.Next)
		if as, _ := schemas.SeenAs(r); seen[n][as] {
			continue // a partition contains each event once
		} else {
			seen[n][as] = true
		}
		if g.rng.IntN(30) == 0 {
			r.Body = nil
		}
		s.Records = append(s.Records, r)
		s.Next++
	}
	return shards
}

// eventType returns the type of the event with an id.
func eventType(id schemas.EventID) string {
	return [...]string{"user_message", "assistant_message", "a type of its own"}[id[0]%3]
}
