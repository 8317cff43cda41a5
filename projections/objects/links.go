package objects

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// links holds in memory the ids and content hashes of a table's objects, and the edges that lead
// from them, so that chains of edges are followed without a read. It takes about 75 bytes per
// object that names one other. Of the edges to entities it has those to tool calls, which join a
// call and its result.
//
// Like the table, it may be ahead of a view: readers skip rows that the view does not contain.
type links struct {
	seed maphash.Seed

	mu sync.RWMutex // guards everything below
	// index is an open-addressing hash table of ids: the number of an id plus one, or 0. Its length
	// is a power of two, and at most three quarters of it are in use.
	index []uint32
	ids   []linked
	rows  []linkRow // parallel to those of the table
	edges []link    // grouped by row
	// things maps rows to the number of their object's id, for objects whose id is not derived from
	// the event's.
	things map[uint32]uint32
	// older maps an id and one of its rows to the previous row of that id, plus one.
	older map[idRow]uint32
	said  contentCounts
}

// linked is an id of an event, of an object, or of the target of an edge.
type linked struct {
	id schemas.EventID
	// made is the last row that is a version of this object, or the first row of this event, plus
	// one. led is the last edge that leads to it, plus one.
	made, led uint32
}

type idRow struct{ id, row uint32 }

// linkRow is an object: the number of its event's id, the index of its first edge, the number of
// the name of its event's type, and the halves of its content hash.
type linkRow struct{ event, first, typ, hash, high uint32 }

func (r *linkRow) contentHash() uint64 { return uint64(r.high)<<32 | uint64(r.hash) }

// link is an edge. Its label is the number of a name that encodes everything but the confidence.
type link struct {
	to, from, label uint32
	next            uint32 // the previous edge to the same target, plus one
	confidence      float32
}

// To is the kind of target of an edge.
type To byte

// These are the kinds of targets: an event (by an edge other than "used"), an event that was used,
// an object, a tool call.
const (
	ToEvent To = iota + 1
	ToUsed
	ToObject
	ToCall
)

const callEntity = "call:"

// entityID returns an id for an entity named by objects of an audience, to be used like the ids of
// events and objects.
func entityID(a schemas.AudienceID, name string) schemas.EventID {
	var room [128]byte
	b := append(append(room[:0], a[:]...), name...)
	return xxh3.Hash128(b).Bytes()
}

// linkOf returns the target of an edge and its kind, or 0 if the edge is not kept in links.
func linkOf(a schemas.AudienceID, e *recountv1.ObjectEdge) (schemas.EventID, To) {
	switch {
	case uses(e):
		return schemas.EventID(e.EventId), ToUsed
	case len(e.EventId) > 0:
		return schemas.EventID(e.EventId), ToEvent
	case len(e.ObjectId) > 0:
		return schemas.EventID(e.ObjectId), ToObject
	case strings.HasPrefix(e.Entity, callEntity):
		return entityID(a, e.Entity), ToCall // edges of every kind
	}
	return schemas.EventID{}, 0
}

// appendLabel appends the label of an edge: a byte for the kind of target, the edge's kind, its
// rule, its name.
func appendLabel(b []byte, to To, e *recountv1.ObjectEdge) []byte {
	b = binary.AppendUvarint(append(b, byte(to)), uint64(uint32(e.Kind)))
	return append(cut.AppendText(b, e.Rule), e.Name...)
}

// labelled decodes a label; ok is false if s is some other name.
func labelled(s string) (to To, kind recountv1.ObjectEdgeKind, rule, name string, ok bool) {
	if s == "" || To(s[0]) < ToEvent || To(s[0]) > ToCall {
		return 0, 0, "", "", false
	}
	k, s2, ok1 := cutUvarint(s[1:])
	n, s3, ok2 := cutUvarint(s2)
	if !ok1 || !ok2 || k > math.MaxUint32 || n > uint64(len(s3)) {
		return 0, 0, "", "", false
	}
	return To(s[0]), recountv1.ObjectEdgeKind(int32(uint32(k))), s3[:n], s3[n:], true
}

func cutUvarint(s string) (uint64, string, bool) {
	var n uint64
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, s[i+1:], true
		}
	}
	return 0, "", false
}

// rawRow is an object to be added, without its edges. thing is the id of an object whose id is not
// derived from its event's, else nil. first marks the first object of an event.
type rawRow struct {
	event    schemas.EventID
	thing    *schemas.ObjectID
	first    bool
	typ      uint32
	audience *schemas.AudienceID
	hash     uint64 // that of the content
}

// rawLink is an edge to be added.
type rawLink struct {
	to         schemas.EventID
	label      uint32
	confidence float32
}

func newLinks() links { return links{seed: maphash.MakeSeed()} }

// reserve allocates space for n rows.
func (l *links) reserve(n int) {
	l.ids, l.rows, l.edges = make([]linked, 0, n+n/4), make([]linkRow, 0, n), make([]link, 0, n+n/4)
}

// add appends a row and its edges.
func (l *links) add(raw *rawRow, edges []rawLink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	row := uint32(len(l.rows))
	r := linkRow{event: l.number(raw.event), first: uint32(len(l.edges)), typ: raw.typ, hash: uint32(raw.hash), high: uint32(raw.hash >> 32)}
	if raw.first {
		l.made(r.event, row)
	}
	if raw.thing != nil {
		n := l.number(*raw.thing)
		if l.things == nil {
			l.things = map[uint32]uint32{}
		}
		if l.things[row] = n; n != r.event || !raw.first {
			l.made(n, row)
		}
	}
	for _, e := range edges {
		to := l.number(e.to)
		l.edges = append(l.edges, link{to: to, from: row, label: e.label, next: l.ids[to].led, confidence: e.confidence})
		l.ids[to].led = uint32(len(l.edges))
	}
	l.rows = append(l.rows, r)
	if raw.hash != 0 {
		l.said.add(l.mark(raw.audience, raw.hash))
	}
}

func (l *links) made(id, row uint32) {
	if before := l.ids[id].made; before != 0 {
		if l.older == nil {
			l.older = map[idRow]uint32{}
		}
		l.older[idRow{id, row}] = before
	}
	l.ids[id].made = row + 1
}

// find returns the number of an id, or false if there is none. l.mu is held.
func (l *links) find(id *schemas.EventID) (uint32, bool) {
	if len(l.index) == 0 {
		return 0, false
	}
	n := l.index[l.place(id)]
	return n - 1, n != 0
}

// place returns the slot of an id in the index, or the free slot where it would be added.
func (l *links) place(id *schemas.EventID) uint32 {
	mask := uint32(len(l.index) - 1)
	at := uint32(maphash.Bytes(l.seed, id[:])) & mask
	for l.index[at] != 0 && l.ids[l.index[at]-1].id != *id {
		at = (at + 1) & mask
	}
	return at
}

// number returns the number of an id, which it adds if needed.
func (l *links) number(id schemas.EventID) uint32 {
	if len(l.ids)+1 > len(l.index)/4*3 {
		l.index = make([]uint32, max(1<<10, 2*len(l.index)))
		for n := range l.ids {
			l.index[l.place(&l.ids[n].id)] = uint32(n) + 1
		}
	}
	at := l.place(&id)
	if l.index[at] == 0 {
		l.ids = append(l.ids, linked{id: id})
		l.index[at] = uint32(len(l.ids))
	}
	return l.index[at] - 1
}

// edgesOf returns the edges from a row.
func (l *links) edgesOf(row uint32) (all []link, first uint32) {
	first = l.rows[row].first
	end := uint32(len(l.edges))
	if int(row)+1 < len(l.rows) {
		end = l.rows[row+1].first
	}
	return l.edges[first:end], first
}

// own reports whether the id of a row's object is derived from its event's.
func (r *row) own() bool { return r.index == 0 && r.memory&flagVersioned == 0 }

// ids returns the id of a row's object and that of its event. t.links.mu is held.
func (t *table) ids(row uint32) (schemas.ObjectID, schemas.EventID) {
	l := &t.links
	event := l.ids[l.rows[row].event].id
	r := t.at(row)
	if r.own() {
		return schemas.EventObjectID(t.audiences.at(r.audience).Tenant, *t.names.at(r.workspace), *t.names.at(r.agent), event), event
	}
	return l.ids[l.things[row]].id, event
}

// perLinkBlock is the number of rows per stored block of links.
const perLinkBlock = 16

// encodeLinks appends block n of the links of the first `rows` rows.
func (t *table) encodeLinks(b []byte, n, rows uint32) []byte {
	l := &t.links
	for k := n * perLinkBlock; k < rows && k < (n+1)*perLinkBlock; k++ {
		r := l.rows[k]
		b = append(b, l.ids[r.event].id[:]...)
		if !t.at(k).own() {
			b = append(b, l.ids[l.things[k]].id[:]...)
		}
		b = binary.LittleEndian.AppendUint64(b, r.contentHash())
		edges, _ := l.edgesOf(k)
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.typ)), uint64(len(edges)))
		for _, e := range edges {
			b = binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, uint64(e.label)), math.Float32bits(e.confidence))
			b = append(b, l.ids[e.to].id[:]...)
		}
	}
	return b
}

// decodeLinks adds the links of a block. The rows themselves are already loaded.
func (t *table) decodeLinks(b []byte) error {
	n := uint32(len(t.links.rows))
	if len(b) == 0 || n%perLinkBlock != 0 {
		return fmt.Errorf("a block of links behind object %d, %d bytes", n, len(b))
	}
	c := cut.Of(b)
	name := func() uint32 {
		v := c.Uvarint()
		if v >= uint64(t.names.n.Load()) {
			c.Fail(fmt.Errorf("name %d of %d", v, t.names.n.Load()))
			return 0
		}
		return uint32(v)
	}
	var edges []rawLink
	for i := uint32(0); len(c.Rest) > 0 && c.Err == nil; i++ {
		if i == perLinkBlock || n+i >= t.n.Load() {
			c.Fail(errors.New("more than can be"))
			break
		}
		r := t.at(n + i)
		raw := rawRow{first: r.index == 0, audience: &t.audiences.at(r.audience).id}
		copy(raw.event[:], c.Take(16))
		if !r.own() {
			raw.thing = new(schemas.ObjectID)
			copy(raw.thing[:], c.Take(16))
		}
		if hash := c.Take(8); hash != nil {
			raw.hash = binary.LittleEndian.Uint64(hash)
		}
		raw.typ = name()
		edges = edges[:0]
		for range c.Count(len(c.Rest) / (1 + 4 + 16)) {
			e := rawLink{label: name()}
			if _, _, _, _, ok := labelled(*t.names.at(e.label)); !ok && c.Err == nil {
				c.Fail(errors.New("an edge that cannot be"))
			}
			if bits := c.Take(4); bits != nil {
				e.confidence = math.Float32frombits(binary.LittleEndian.Uint32(bits))
			}
			copy(e.to[:], c.Take(16))
			edges = append(edges, e)
		}
		if c.Err == nil {
			t.links.add(&raw, edges)
		}
	}
	return ended("a block of links", &c)
}

func (l *links) take(from *links) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seed, l.index, l.ids, l.rows, l.edges, l.things, l.older = from.seed, from.index, from.ids, from.rows, from.edges, from.things, from.older
	l.said = from.said
}
