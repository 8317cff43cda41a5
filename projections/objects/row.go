package objects

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// headBytes is about how much of an object's text is stored with it; pieceBytes is the size of the
// pieces of the rest.
const (
	headBytes  = 4 << 10
	pieceBytes = 32 << 10
)

var marshal = proto.MarshalOptions{Deterministic: true}

// cutHead returns the length of the head of a text, which does not split a rune.
func cutHead(text string) int {
	if len(text) <= headBytes {
		return len(text)
	}
	n := headBytes
	for n > headBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// stored returns the part of an object that is kept in its message: without embeddings, which the
// projection `vector` stores, its id, and the text beyond the head.
func stored(o *recountv1.Object) *recountv1.Object {
	s := &recountv1.Object{
		Type: o.Type, Memory: o.Memory, Versioned: o.Versioned,
		Tenant: o.Tenant, Workspace: o.Workspace, Agent: o.Agent, Session: o.Session,
		Visibility: o.Visibility, Importance: o.Importance,
		TimeUnixNano: o.TimeUnixNano, ValidFromUnixNano: o.ValidFromUnixNano, ValidUntilUnixNano: o.ValidUntilUnixNano,
		Title: o.Title, Text: o.Text[:cutHead(o.Text)], Parts: o.Parts,
		ContentHash: o.ContentHash, Claim: o.Claim, Tool: o.Tool, Attributes: o.Attributes, Removed: o.Removed,
	}
	if strings.HasPrefix(s.Text, s.Title) {
		s.Title = "" // titled encodes it as a length of the text
	}
	if len(o.Parts) > 0 {
		s.Parts = make([]*recountv1.ObjectPart, len(o.Parts))
		for i, p := range o.Parts {
			s.Parts[i] = &recountv1.ObjectPart{Start: p.Start, End: p.End, ContentHash: p.ContentHash}
		}
	}
	return s
}

// titled returns one plus the length of the title if the text's head begins with it, else 0.
func titled(o *recountv1.Object) uint64 {
	if strings.HasPrefix(o.Text[:cutHead(o.Text)], o.Title) {
		return uint64(len(o.Title)) + 1
	}
	return 0
}

// appendEvent appends the value of an event's row. from has, for each edge, the number of the
// object that it leads from.
func appendEvent(b []byte, r *recountv1.Record, from []int) ([]byte, error) {
	batch := r.GetObjects()
	b = append(b, r.EventId...)
	b = cut.AppendText(b, r.EventType)
	b = binary.AppendUvarint(b, uint64(len(batch.Objects)))
	for _, o := range batch.Objects {
		b = binary.AppendUvarint(append(b, o.Id...), titled(o))
		b = binary.AppendUvarint(b, uint64(len(o.Text)-cutHead(o.Text)))
		var err error
		if b, err = appendMessage(b, stored(o)); err != nil {
			return b, err
		}
	}
	b = binary.AppendUvarint(b, uint64(len(batch.Edges)))
	for i, e := range batch.Edges {
		b = binary.AppendUvarint(b, uint64(from[i]))
		kept := &recountv1.ObjectEdge{
			Kind: e.Kind, Name: e.Name, EventId: e.EventId, ObjectId: e.ObjectId, Entity: e.Entity, Confidence: e.Confidence, Rule: e.Rule,
		}
		var err error
		if b, err = appendMessage(b, kept); err != nil {
			return b, err
		}
	}
	return b, nil
}

func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(marshal.Size(m)))
	return marshal.MarshalAppend(b, m)
}

// event is a decoded row, except for the messages of its objects and edges.
type event struct {
	id      schemas.EventID
	typ     string
	objects []rawObject
	edges   []rawEdge
}

type rawObject struct {
	id           schemas.ObjectID
	titled, rest uint64
	message      []byte
}

type rawEdge struct {
	from    uint32
	message []byte
}

// decodeEvent decodes a row. It never panics, whatever the input.
func decodeEvent(b []byte) (*event, error) {
	c := cut.Of(b)
	e := &event{}
	copy(e.id[:], c.Take(16))
	e.typ = string(c.Bytes())
	n := c.Uvarint()
	if n == 0 || n > maxObjects {
		c.Fail(fmt.Errorf("%d objects", n))
	}
	for i := uint64(0); i < n && c.Err == nil; i++ {
		var o rawObject
		copy(o.id[:], c.Take(16))
		o.titled, o.rest, o.message = c.Uvarint(), c.Uvarint(), c.Bytes()
		e.objects = append(e.objects, o)
	}
	edges := c.Uvarint()
	for i := uint64(0); i < edges && c.Err == nil; i++ {
		from := c.Uvarint()
		if from >= n {
			c.Fail(fmt.Errorf("edge from object %d of %d", from, n))
		}
		e.edges = append(e.edges, rawEdge{uint32(from), c.Bytes()})
	}
	return e, c.End()
}

// object decodes object i and returns the length of its text beyond the head.
func (e *event) object(i uint32) (*recountv1.Object, int, error) {
	raw := e.objects[i]
	id := raw.id
	o := &recountv1.Object{}
	if err := proto.Unmarshal(raw.message, o); err != nil {
		return nil, 0, fmt.Errorf("object %d: %w", i, err)
	}
	if raw.titled > uint64(len(o.Text))+1 || raw.rest > 1<<40 {
		return nil, 0, fmt.Errorf("object %d: title of %d bytes in a text of %d and %d", i, raw.titled, len(o.Text), raw.rest)
	}
	o.Id = id[:]
	if raw.titled > 0 {
		o.Title = o.Text[:raw.titled-1]
	}
	return o, int(raw.rest), nil
}

// edgesFrom decodes the edges that lead from object i.
func (e *event) edgesFrom(i uint32) ([]*recountv1.ObjectEdge, error) {
	from := e.objects[i].id
	var all []*recountv1.ObjectEdge
	for n, raw := range e.edges {
		if raw.from != i {
			continue
		}
		m := &recountv1.ObjectEdge{}
		if err := proto.Unmarshal(raw.message, m); err != nil {
			return nil, fmt.Errorf("edge %d: %w", n, err)
		}
		m.From = from[:]
		all = append(all, m)
	}
	return all, nil
}
