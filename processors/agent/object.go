package agent

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maker builds the object of one event.
type maker struct {
	e        schemas.Event
	m        *recountv1.AgentEvent
	commands *command.Memory

	o     *recountv1.Object
	edges []*recountv1.ObjectEdge
	// resources are the resources that a call's command names.
	resources []*recountv1.Resource
	// read are the texts that are searched for references.
	read []string
}

// make fills in the object and its edges.
func (b *maker) make() {
	m, o := b.m, b.o
	s, known := shapes[b.e.Type]
	if !known {
		s = unknown
	}
	o.Type, o.Memory, o.Importance = s.object, s.memory, s.importance
	o.Tenant, o.Workspace, o.Agent, o.Session = m.Tenant, m.Workspace, m.Agent, m.Session
	o.Visibility = schemas.AudienceOf(m.Tenant, m.Workspace, m.Session, m.Agent, m.Visibility).Visibility
	o.TimeUnixNano = nanos(m.OccurredAt, b.e.Time.UnixNano())
	o.ValidFromUnixNano = nanos(m.ValidFrom, o.TimeUnixNano)
	o.ValidUntilUnixNano = nanos(m.ValidUntil, 0)

	s.describe(b)
	if m.Importance != nil {
		o.Importance = m.GetImportance()
	}
	if o.Id == nil {
		id := schemas.EventObjectID(m.Tenant, m.Workspace, m.Agent, b.e.ID)
		o.Id = id[:]
	}
	if o.Title == "" {
		o.Title = title(o.Text)
	}
	o.ContentHash = contentHash(o)
	b.note("model", m.Model)
	b.split()
	b.attributes()
	b.relate()
}

// version gives the object the id of a named thing, of which it is a version.
func (b *maker) version(owner, name string) {
	id := schemas.NamedObjectID(b.m.Tenant, b.m.Workspace, b.o.Type, owner, name)
	b.o.Id, b.o.Versioned = id[:], true
}

// note adds an attribute of ours unless the value is empty.
func (b *maker) note(key, value string) {
	if value != "" {
		b.o.Attributes = append(b.o.Attributes, &recountv1.ObjectAttribute{Key: key, Value: value})
	}
}

// attributes adds the producer's attributes to ours, sorted by key; on equal keys ours come first.
func (b *maker) attributes() {
	for _, k := range slices.Sorted(maps.Keys(b.m.Attributes)) {
		b.o.Attributes = append(b.o.Attributes, &recountv1.ObjectAttribute{Key: k, Value: b.m.Attributes[k]})
	}
	slices.SortStableFunc(b.o.Attributes, func(x, y *recountv1.ObjectAttribute) int { return cmp.Compare(x.Key, y.Key) })
}

// split splits the object's text into parts and records in the attributes how much was omitted.
func (b *maker) split() {
	spans, beyond := split(b.o.Text)
	if len(spans) == 0 {
		return
	}
	slab := make([]recountv1.ObjectPart, len(spans))
	b.o.Parts = make([]*recountv1.ObjectPart, len(spans))
	for i, s := range spans {
		p := &slab[i]
		p.Start, p.End = uint32(s.start), uint32(s.end)
		p.ContentHash = command.ContentHash(b.o.Text[s.start:s.end])
		b.o.Parts[i] = p
	}
	if n := len(spans); n > headParts+tailParts {
		b.note("parts_embedded", strconv.Itoa(headParts+tailParts)+" of "+strconv.Itoa(n))
	}
	if beyond > 0 {
		b.note("bytes_not_indexed", strconv.Itoa(beyond))
	}
}
