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

// links is what a table has in memory of what its objects are called, of what they say, and
// of the edges that lead from them, about 75 bytes an object that names one other: what led
// to what is followed without a read. Of the edges to entities it has those to calls of tools, at
// which a call and its result meet.
//
// It is as far ahead of a view as the table: who reads it skips rows that the view has not.
type links struct {
	seed maphash.Seed

	mu sync.RWMutex // guards all
	// index has ids by their hashes: the number of an id and one, 0 where there is none. A
	// power of two of places, of which at most three quarters are taken.
	index []uint32
	ids   []linked
	rows  []linkRow // as those of the table
	edges []link    // of row after row
	// things are the numbers of the ids of objects, by rows that are not what an event made
	// by itself: the id of such a one follows from the event's.
	things map[uint32]uint32
	// older is, of an id and a row that is of it, the row before that one, and one.
	older map[idRow]uint32
	said  sayings
}

// linked is an id: of an event, a thing, or what an edge leads to.
type linked struct {
	id schemas.EventID
	// made is the last row that is a version of this object, or the first of this event,
	// and one; led the last edge that leads to it, and one.
	made, led uint32
}

type idRow struct{ id, row uint32 }

// linkRow is an object: the number of its event's id, its first edge, the number of the
// name of its event's type, and the halves of its content hash.
type linkRow struct{ event, first, typ, hash, high uint32 }

func (r *linkRow) contentHash() uint64 { return uint64(r.high)<<32 | uint64(r.hash) }

// link is an edge. What it is stands, but for the confidence, in the dictionary of names.
type link struct {
	to, from, label uint32
	next            uint32 // the edge before it that leads there, and one
	confidence      float32
}

// To is what an edge names.
type To byte

// What edges name: an event, by what it led to or by that it was of use, an object, a call.
const (
	ToEvent To = iota + 1
	ToUsed
	ToObject
	ToCall
)

const callEntity = "call:"

// entityID stands for an entity that objects of an audience name, where ids of events and
// objects are meant.
func entityID(a schemas.AudienceID, name string) schemas.EventID {
	var room [128]byte
	b := append(append(room[:0], a[:]...), name...)
	return xxh3.Hash128(b).Bytes()
}

// linkOf is what an edge names, and by what; 0 where it has no link.
func linkOf(a schemas.AudienceID, e *recountv1.ObjectEdge) (schemas.EventID, To) {
	switch {
	case uses(e):
		return schemas.EventID(e.EventId), ToUsed
	case len(e.EventId) > 0:
		return schemas.EventID(e.EventId), ToEvent
	case len(e.ObjectId) > 0:
		return schemas.EventID(e.ObjectId), ToObject
	case strings.HasPrefix(e.Entity, callEntity):
		return entityID(a, e.Entity), ToCall // by all of whatever kind that name it
	}
	return schemas.EventID{}, 0
}

// appendLabel is what an edge is: a byte of what it names, its kind, its rule, its name.
func appendLabel(b []byte, to To, e *recountv1.ObjectEdge) []byte {
	b = binary.AppendUvarint(append(b, byte(to)), uint64(uint32(e.Kind)))
	return append(appendText(b, e.Rule), e.Name...)
}

// labelled takes a label apart; false where it is another name.
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

// rawRow is an object before it is added, but for its edges. thing is the id of one that is
// not what an event made by itself, or nil; first says that it is the first of its event.
type rawRow struct {
	event    schemas.EventID
	thing    *schemas.ObjectID
	first    bool
	typ      uint32
	audience *schemas.AudienceID
	hash     uint64 // of its content
}

// rawLink is an edge before it is added.
type rawLink struct {
	to         schemas.EventID
	label      uint32
	confidence float32
}

func newLinks() links { return links{seed: maphash.MakeSeed()} }

// reserve makes room for so many rows.
func (l *links) reserve(n int) {
	l.ids, l.rows, l.edges = make([]linked, 0, n+n/4), make([]linkRow, 0, n), make([]link, 0, n+n/4)
}

// add adds what a row has.
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

// find is the number of an id; false where there is none such. l.mu is held.
func (l *links) find(id *schemas.EventID) (uint32, bool) {
	if len(l.index) == 0 {
		return 0, false
	}
	n := l.index[l.place(id)]
	return n - 1, n != 0
}

// place is where the number of an id stands in the index, or would.
func (l *links) place(id *schemas.EventID) uint32 {
	mask := uint32(len(l.index) - 1)
	at := uint32(maphash.Bytes(l.seed, id[:])) & mask
	for l.index[at] != 0 && l.ids[l.index[at]-1].id != *id {
		at = (at + 1) & mask
	}
	return at
}

// number is that of an id, which is added if there is none such.
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

// edgesOf are the edges from a row.
func (l *links) edgesOf(row uint32) (all []link, first uint32) {
	first = l.rows[row].first
	end := uint32(len(l.edges))
	if int(row)+1 < len(l.rows) {
		end = l.rows[row+1].first
	}
	return l.edges[first:end], first
}

// own says whether a row is what its event made by itself.
func (r *row) own() bool { return r.index == 0 && r.memory&flagVersioned == 0 }

// ids are the id of a row's object and that of its event. t.links.mu is held.
func (t *table) ids(row uint32) (schemas.ObjectID, schemas.EventID) {
	l := &t.links
	event := l.ids[l.rows[row].event].id
	r := t.at(row)
	if r.own() {
		return schemas.EventObjectID(t.audiences.at(r.audience).Tenant, *t.names.at(r.workspace), *t.names.at(r.agent), event), event
	}
	return l.ids[l.things[row]].id, event
}

// perLinkBlock is how many rows a block of links has.
const perLinkBlock = 16

// encodeLinks is block n of the links of the first `rows` rows.
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

// decodeLinks adds the links of a block; the rows are there.
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
