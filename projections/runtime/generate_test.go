package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// told is one observation with its observer.
type told struct {
	by *recountv1.Observer
	o  *recountv1.Observation
}

// generator makes traces of a few services: clients and servers of several kinds; producers and
// consumers joined by parents or links; Zipkin's shared ids; spans whose parents are missing, are
// themselves, form a cycle or are in another service without a client; ids reused elsewhere; spans
// reported twice with other fields; times over the whole range; and lines of access logs.
type generator struct {
	rng *rand.Rand
	all []told
	// past are spans that later ones may link to or take the id of.
	past []*recountv1.Observation
}

const services = 7

var kinds = []recountv1.RuntimeKind{
	recountv1.RuntimeKind_RUNTIME_KIND_CALLS, recountv1.RuntimeKind_RUNTIME_KIND_RPC,
	recountv1.RuntimeKind_RUNTIME_KIND_QUERIES, recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED,
}

func (g *generator) id(n int) []byte {
	b := make([]byte, 0, 16)
	for range n / 8 {
		b = binary.BigEndian.AppendUint64(b, g.rng.Uint64())
	}
	return b
}

func (g *generator) observer(service int) *recountv1.Observer {
	return &recountv1.Observer{
		Service: fmt.Sprint("s", service), Version: fmt.Sprint("1.", g.rng.IntN(2)), Instance: fmt.Sprint("pod-", g.rng.IntN(2)),
		Repository: "github.com/acme/shop",
	}
}

func (g *generator) time() int64 {
	switch g.rng.IntN(40) {
	case 0:
		return 0
	case 1:
		return -g.rng.Int64()
	case 2:
		return math.MaxInt64 - g.rng.Int64N(1000)
	}
	return 1_790_000_000_000_000_000 + g.rng.Int64N(3*86_400_000_000_000)
}

func (g *generator) duration() int64 {
	switch g.rng.IntN(20) {
	case 0:
		return 0
	case 1:
		return math.MaxInt64 - g.rng.Int64N(1000)
	}
	return int64(math.Exp(g.rng.Float64() * 25))
}

func (g *generator) tell(service int, trace, parent []byte, side recountv1.Side, kind recountv1.RuntimeKind, operation string) *recountv1.Observation {
	o := &recountv1.Observation{
		TraceId: trace, SpanId: g.id(8), ParentId: parent, Side: side, Kind: kind,
		Operation: operation, StartUnixNano: g.time(), DurationNano: g.duration(), Templated: g.rng.IntN(3) == 0,
	}
	if side == recountv1.Side_SIDE_CALLER {
		o.Peer = fmt.Sprint("peer-", g.rng.IntN(3))
	}
	if g.rng.IntN(5) == 0 {
		o.Status = recountv1.Status_STATUS_ERROR
	}
	g.all = append(g.all, told{g.observer(service), o})
	g.past = append(g.past, o)
	return o
}

// below adds what a span of a service causes.
func (g *generator) below(service int, trace, parent []byte, depth int) {
	const (
		inside = recountv1.Side_SIDE_INSIDE
		caller = recountv1.Side_SIDE_CALLER
		called = recountv1.Side_SIDE_CALLED
	)
	if depth > 4 {
		return
	}
	for range g.rng.IntN(4) {
		to, kind, op := g.rng.IntN(services), kinds[g.rng.IntN(len(kinds))], fmt.Sprint("op-", g.rng.IntN(4))
		switch g.rng.IntN(14) {
		case 0: // internal work
			o := g.tell(service, trace, parent, inside, 0, "work")
			g.below(service, trace, o.SpanId, depth+1)
		case 1: // no answer
			g.tell(service, trace, parent, caller, kind, op)
		case 2: // no client span
			o := g.tell(to, trace, parent, called, kind, op)
			g.below(to, trace, o.SpanId, depth+1)
		case 3: // the parent is not reported
			o := g.tell(to, trace, g.id(8), called, kind, op)
			g.below(to, trace, o.SpanId, depth+1)
		case 4: // Zipkin
			c := g.tell(service, trace, parent, caller, kind, op)
			s := g.tell(to, trace, parent, called, kind, op)
			s.SpanId = c.SpanId
			g.below(to, trace, s.SpanId, depth+1)
		case 5: // its own parent
			o := g.tell(to, trace, nil, called, kind, op)
			o.ParentId = o.SpanId
		case 6: // a cycle of parents
			a := g.tell(service, trace, nil, caller, kind, op)
			b := g.tell(to, trace, a.SpanId, called, kind, op)
			a.ParentId = b.SpanId
		case 7: // the id of another span
			o := g.tell(to, trace, parent, recountv1.Side(g.rng.IntN(4)), kind, op)
			if other := g.past[g.rng.IntN(len(g.past))]; len(other.SpanId) > 0 {
				o.SpanId = other.SpanId
				if g.rng.IntN(2) == 0 {
					o.TraceId = other.TraceId
				}
			}
		case 8: // produced, and consumed elsewhere
			p := g.tell(service, trace, parent, caller, recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES, "orders")
			for range g.rng.IntN(3) {
				c := g.tell(to, g.id(16), nil, called, recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, "orders")
				c.Links = []*recountv1.SpanLink{{TraceId: trace, SpanId: p.SpanId}}
				if g.rng.IntN(2) == 0 {
					c.TraceId, c.ParentId = trace, p.SpanId
				}
				for range g.rng.IntN(4) {
					if other := g.past[g.rng.IntN(len(g.past))]; len(other.SpanId) > 0 {
						c.Links = append(c.Links, &recountv1.SpanLink{TraceId: other.TraceId, SpanId: other.SpanId})
					}
				}
				g.below(to, c.TraceId, c.SpanId, depth+1)
			}
		default:
			c := g.tell(service, trace, parent, caller, kind, op)
			s := g.tell(to, trace, c.SpanId, called, kind, op)
			g.below(to, trace, s.SpanId, depth+1)
		}
	}
}

// traces makes at least `least` observations.
func (g *generator) traces(least int) {
	for len(g.all) < least {
		switch g.rng.IntN(10) {
		case 0:
			g.all = append(g.all, told{g.observer(g.rng.IntN(services)), &recountv1.Observation{
				Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS, Operation: "GET /", System: "http",
				StartUnixNano: g.time(), DurationNano: g.duration(), Status: recountv1.Status(g.rng.IntN(3)),
			}})
		case 1: // reported again with other fields
			if len(g.all) > 0 {
				again := g.all[g.rng.IntN(len(g.all))]
				again.o = proto.Clone(again.o).(*recountv1.Observation)
				again.o.Operation += " again"
				again.o.DurationNano++
				g.all = append(g.all, again)
			}
		default:
			service, trace := g.rng.IntN(services), g.id(16)
			root := g.tell(service, trace, nil, recountv1.Side(g.rng.IntN(4)), kinds[g.rng.IntN(2)], "root")
			g.below(service, trace, root.SpanId, 0)
		}
	}
}

// batch returns a record with some observations of one service.
func batch(tp schemas.TopicPartition, offset int64, all ...told) *recountv1.Record {
	b := &recountv1.SpanBatch{}
	c := schemas.NewCanon("runtime/test").String(tp.String()).Int(offset)
	for i, t := range all {
		at := -1
		for j, o := range b.Observers {
			if proto.Equal(o, t.by) {
				at = j
			}
		}
		if at < 0 {
			at = len(b.Observers)
			b.Observers = append(b.Observers, t.by)
		}
		o := proto.Clone(t.o).(*recountv1.Observation)
		o.Observer, o.Index = uint32(at), uint32(i)
		b.Observations = append(b.Observations, o)
	}
	id := c.ID()
	return &recountv1.Record{
		Origin:  schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset}.Proto(),
		EventId: id[:], EventType: schemas.TypeSpansExported,
		Body: &recountv1.Record_Spans{Spans: b},
	}
}

// logOf distributes observations to a log: each service's to its partition, in their order, several
// to an event.
func logOf(rng *rand.Rand, partitions int, all []told) []projtest.Shard {
	out := make([]projtest.Shard, partitions)
	waiting := make([][]told, partitions)
	for i := range out {
		out[i].TP = schemas.TopicPartition{Topic: defaultTopic, Partition: int32(i)}
	}
	flush := func(p int) {
		s := &out[p]
		if rng.IntN(12) == 0 {
			s.Next += int64(rng.IntN(5))
		}
		s.Records = append(s.Records, batch(s.TP, s.Next, waiting[p]...))
		s.Next++
		waiting[p] = nil
	}
	for _, t := range all {
		p := partitionOf(t.by.Service, partitions)
		if n := len(waiting[p]); n > 0 && waiting[p][0].by.Service != t.by.Service {
			flush(p)
		}
		if waiting[p] = append(waiting[p], t); rng.IntN(4) == 0 {
			flush(p)
		}
	}
	for p := range waiting {
		if len(waiting[p]) > 0 {
			flush(p)
		}
		out[p].Next += int64(rng.IntN(3))
	}
	return out
}

func partitionOf(service string, partitions int) int {
	return int(service[len(service)-1]) % partitions
}

// generate returns the log for projtest.
func generate(seed uint64, partitions, records int) []projtest.Shard {
	g := generator{rng: rand.New(rand.NewPCG(seed, 7))}
	g.traces(partitions * records * 3)
	// Most stay in order, some are moved far away.
	for i := range g.all {
		if g.rng.IntN(3) == 0 {
			j := g.rng.IntN(len(g.all))
			g.all[i], g.all[j] = g.all[j], g.all[i]
		}
	}
	return logOf(g.rng, partitions, g.all)
}
