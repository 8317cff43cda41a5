package agent

import (
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	other           = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OTHER
	belongs         = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_BELONGS_TO_SESSION
	ownedBy         = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OWNED_BY_AGENT
	derivedFrom     = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_DERIVED_FROM
	causedBy        = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_CAUSED_BY
	usesTool        = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_USES_TOOL
	toolProduces    = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_TOOL_PRODUCES
	supports        = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPPORTS
	contradicts     = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_CONTRADICTS
	supersedes      = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPERSEDES
	refersTo        = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_REFERS_TO
	partOfTask      = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_PART_OF_TASK
	handedTo        = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_HANDED_TO
	used            = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_USED
	maxStatedFiles  = 1024 // as in the schema
	maxCommandFiles = 64
)

// These rules state how an edge is known, in addition to those of references (refs.go).
const (
	ruleStated  = "stated"  // the producer states it
	ruleType    = "type"    // it follows from the type of the event
	ruleCommand = "command" // the command's arguments show it
)

// words maps the names that a Relation can use to kinds of edges; other names are kept as they are.
var words = map[string]recountv1.ObjectEdgeKind{
	"supports":     supports,
	"contradicts":  contradicts,
	"supersedes":   supersedes,
	"derived_from": derivedFrom,
	"refers_to":    refersTo,
	"caused_by":    causedBy,
	"used":         used,
}

// relate adds the event's edges: who and where, what caused it, what it states, and what its texts
// mention.
func (b *maker) relate() {
	m := b.m
	if m.Session != "" {
		b.entity(belongs, "session:"+m.Session, 1, ruleStated)
	}
	if m.Agent != "" {
		b.entity(ownedBy, "agent:"+m.Agent, 1, ruleStated)
	}
	b.causes()
	b.calls()
	b.tasks()
	if h := m.Handoff; h != nil {
		if h.ToAgent != "" {
			b.entity(handedTo, "agent:"+h.ToAgent, 1, ruleStated)
		}
		if h.ToSession != "" {
			b.entity(handedTo, "session:"+h.ToSession, 1, ruleStated)
		}
	}
	if a := m.Artifact; a.GetUri() != "" {
		if strings.Contains(a.Uri, "://") {
			b.entity(refersTo, "url:"+a.Uri, 1, ruleStated)
		} else {
			b.entity(refersTo, "file:"+cleanPath(a.Uri), 1, ruleStated)
		}
	}
	if subject := subjectOf(m.Announcement); subject != "" {
		b.entity(refersTo, subject, 1, ruleStated)
	}
	if form := formOf(m.Memory); form != "" {
		b.add(&recountv1.ObjectEdge{Kind: other, Name: "is", Entity: "kind:" + form, Confidence: 1, Rule: ruleStated})
	}
	for _, r := range m.Relations {
		b.relation(r)
	}
	b.references()
}

// causes adds edges to the events that led to this one. An object made from exactly one event is
// also derived from it.
func (b *maker) causes() {
	m := b.m
	if m.ParentEventId != "" {
		b.event16(causedBy, m.ParentEventId, 1, ruleStated)
	}
	for _, id := range m.CausedBy {
		b.event16(causedBy, id, 1, ruleStated)
	}
	switch b.e.Type {
	case schemas.TypeMemoryStated, schemas.TypeCritique, schemas.TypeArtifact:
		if m.ParentEventId != "" {
			b.event16(derivedFrom, m.ParentEventId, 0.8, ruleType)
		}
	}
}

// calls adds the edges of a call or its result. Both name the call, so the order in which they
// arrive does not matter.
func (b *maker) calls() {
	t := b.m.Tool
	if t == nil {
		return
	}
	if t.Name != "" && b.e.Type == schemas.TypeToolCall {
		b.entity(usesTool, "tool:"+t.Name, 1, ruleStated)
	}
	if t.CallId != "" {
		b.entity(toolProduces, "call:"+b.m.Session+"/"+t.CallId, 1, ruleStated)
	}
	for _, f := range t.Files[:min(len(t.Files), maxStatedFiles)] {
		if f != "" {
			b.entity(refersTo, "file:"+cleanPath(f), 1, ruleStated)
		}
	}
	b.commandNames()
}

// commandNames adds the files and URLs that a command names. Files are named as the command
// resolves them: absolute if its directory is known.
func (b *maker) commandNames() {
	n := 0
	for _, r := range b.resources {
		if n == maxCommandFiles {
			return
		}
		switch r.Kind {
		case recountv1.ResourceKind_RESOURCE_KIND_PATH:
			if r.Name == b.m.GetTool().GetCwd() || strings.ContainsAny(r.Name, " \t\n()\"'<>|*?") {
				continue // the directory it runs in, or an argument that is not a path
			}
			b.entity(refersTo, "file:"+cleanPath(r.Name), 0.9, ruleCommand)
		case recountv1.ResourceKind_RESOURCE_KIND_URL:
			b.entity(refersTo, "url:"+r.Name, 0.9, ruleCommand)
		default:
			continue
		}
		n++
	}
}

// tasks adds an edge to the task that an event is part of: the one that it names, or the attribute
// `task`. A task itself is part of the task in its attribute `task`.
func (b *maker) tasks() {
	id := b.m.Attributes["task"]
	isTask := b.o.Type == recountv1.ObjectType_OBJECT_TYPE_TASK
	if t := b.m.Task; !isTask && t.GetId() != "" {
		id = t.GetId()
	}
	if id == "" || isTask && id == b.m.GetTask().GetId() {
		return
	}
	task := schemas.NamedObjectID(b.m.Tenant, b.m.Workspace, recountv1.ObjectType_OBJECT_TYPE_TASK, "", id)
	b.add(&recountv1.ObjectEdge{Kind: partOfTask, ObjectId: task[:], Confidence: 1, Rule: ruleStated})
}

// relation adds what the event states about another event or about something outside.
func (b *maker) relation(r *recountv1.Relation) {
	word := strings.ToLower(strings.TrimSpace(r.Kind))
	word = strings.NewReplacer("-", "_", " ", "_").Replace(word)
	kind, known := words[word]
	name := ""
	if !known {
		kind, name = other, r.Kind
	}
	confidence := float32(1)
	if r.Confidence != nil {
		confidence = r.GetConfidence()
	}
	if r.EventId != "" {
		id := schemas.ProducerID(b.e.Source, r.EventId)
		b.add(&recountv1.ObjectEdge{Kind: kind, Name: name, EventId: id[:], Confidence: confidence, Rule: ruleStated})
	}
	if ref := strings.TrimSpace(r.Ref); ref != "" {
		b.add(&recountv1.ObjectEdge{Kind: kind, Name: name, Entity: canonicalRef(ref), Confidence: confidence, Rule: ruleStated})
	}
}

func (b *maker) event16(kind recountv1.ObjectEdgeKind, id string, confidence float32, rule string) {
	to := schemas.ProducerID(b.e.Source, id)
	if to == b.e.ID {
		return // an event that caused itself carries no information
	}
	b.add(&recountv1.ObjectEdge{Kind: kind, EventId: to[:], Confidence: confidence, Rule: rule})
}

func (b *maker) entity(kind recountv1.ObjectEdgeKind, name string, confidence float32, rule string) bool {
	return b.add(&recountv1.ObjectEdge{Kind: kind, Entity: name, Confidence: confidence, Rule: rule})
}

// add adds an edge unless an equal one exists; the first has the best evidence.
func (b *maker) add(e *recountv1.ObjectEdge) bool {
	for _, have := range b.edges {
		if have.Kind == e.Kind && have.Entity == e.Entity && have.Name == e.Name &&
			string(have.EventId) == string(e.EventId) && string(have.ObjectId) == string(e.ObjectId) {
			return false
		}
	}
	e.From = b.o.Id
	b.edges = append(b.edges, e)
	return true
}
