package agentlog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// run is one run of an agent, or one conversation.
type run struct {
	f                     *file
	session, agent, model string
	workspace             string
	unique                bool // the run's own ids are globally unique
	cwd                   string
	// hook is the name of the agent if it has hooks, whose commands have the ids that they would
	// have had from a hook.
	hook                     string
	attributes               map[string]string  // of each event
	branches                 map[string]eventID // the last events of subagents, by the calls that started them
	n                        int                // number of events so far
	last                     eventID            // the parent of the next event
	round                    []eventID          // results since the agent's last message
	calls                    map[string]*call
	order                    []*call // calls that wait for their result
	taskStarted, taskWasOver bool
}

// eventID is zero if there is no event.
type eventID struct{ schemas.EventID }

func (id eventID) String() string {
	if id.IsZero() {
		return ""
	}
	return id.EventID.String()
}

// event is an event of a run before it is encoded.
type event struct {
	typ string
	// own is its id in the run.
	own string
	at  time.Time
	// parent is the event that it follows; causes are other events that led to it.
	parent eventID
	causes []eventID
	*recountv1.AgentEvent
}

// begin returns the run with a name, and creates it at the first call.
func (f *file) begin(session, agent, workspace string) *run {
	if f.o.Session != "" {
		session = f.o.Session
	}
	if session == "" {
		session = f.o.Name
	}
	if r := f.runs[session]; r != nil {
		return r
	}
	if f.o.Agent != "" {
		agent = f.o.Agent
	}
	if f.o.Workspace != "" {
		workspace = f.o.Workspace
	}
	r := &run{f: f, session: fit(clean(session), 256), agent: fit(clean(agent), 256), workspace: fit(clean(workspace), 4096), calls: map[string]*call{}}
	f.runs[session] = r
	f.order = append(f.order, r)
	if f.o.Began != nil {
		f.o.Began(r.session)
	}
	return r
}

// place returns the workspace of a directory.
func (f *file) place(cwd string) string {
	if f.o.WorkspaceOf != nil && cwd != "" {
		if w := f.o.WorkspaceOf(cwd); w != "" {
			return w
		}
	}
	return cwd
}

// memory returns the workspace of the run's events but its commands.
func (r *run) memory() string {
	if r.f.o.MemoryOf != nil && r.workspace != r.f.o.Workspace {
		return fit(clean(cmp.Or(r.f.o.MemoryOf(r.workspace), r.workspace)), 4096)
	}
	return r.workspace
}

// add makes an event, which becomes the parent of the next one.
func (r *run) add(e event) eventID {
	id := r.emit(e)
	if !id.IsZero() {
		r.last, r.round = id, nil
	}
	return id
}

// emit makes an event and returns its id.
func (r *run) emit(e event) eventID {
	m := e.AgentEvent
	m.Tenant, m.Workspace, m.Agent, m.Session = r.f.o.Tenant, r.memory(), r.agent, r.session
	m.Visibility = r.f.o.Visibility
	if m.Model == "" && (e.typ == schemas.TypeToolCall || e.typ == schemas.TypeAssistantMessage) {
		m.Model = r.model
	}
	if !e.at.IsZero() {
		m.OccurredAt = timestamppb.New(e.at)
	}
	m.ParentEventId = e.parent.String()
	for _, c := range e.causes[:min(len(e.causes), 256)] {
		m.CausedBy = append(m.CausedBy, c.String())
	}
	tidy(m)
	if r.f.o.Redact != nil {
		r.f.o.Redact(m)
	}
	id := r.id(e)
	cut(m)
	r.n++
	return r.send(id, e.typ, e.at, m, schemas.KeyOf(m))
}

// send passes an event on, unless it would be refused.
func (r *run) send(id schemas.EventID, typ string, at time.Time, m proto.Message, key []byte) eventID {
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err == nil {
		err = schemas.Validate(m)
	}
	if err != nil {
		r.f.skip(r.f.line, fmt.Sprintf("%s of session %s: %v", typ, r.session, err))
		return eventID{}
	}
	source := "import/" + r.f.format.Name
	if at.IsZero() {
		at, source = r.f.o.Time, source+"/untimed"
	}
	r.f.emit(schemas.Event{
		ID: id, Type: typ, Source: source, Time: at.UTC(), Key: key,
		ContentType: schemas.ContentProto, Payload: payload,
	})
	return eventID{id}
}

// id returns an event's id; the package comment says what it is made of.
func (r *run) id(e event) schemas.EventID {
	m := e.AgentEvent
	c := schemas.NewCanon("recount/import/agent/1").String(r.f.format.Name).String(m.Tenant).String(m.Session).String(e.typ).String(e.own)
	if r.unique {
		return c.ID()
	}
	if !e.at.IsZero() {
		c.Int(e.at.UnixNano())
	}
	c.String(m.ParentEventId).String(m.Text).String(m.Thought)
	c.String(m.GetTool().GetName()).String(m.GetTool().GetCallId()).String(m.GetTool().GetArguments()).String(m.GetTool().GetResult())
	c.String(m.GetState().GetKey()).String(m.GetState().GetValue())
	c.String(m.GetArtifact().GetUri()).String(m.GetArtifact().GetContent())
	c.String(m.GetTask().GetTitle()).String(m.GetTask().GetOutcome())
	for _, s := range m.GetPlan().GetSteps() {
		c.String(s.GetText()).String(s.GetStatus())
	}
	return c.ID()
}

// begun makes the event of the run's start, once.
func (r *run) begun(own string, at time.Time, title string) {
	if r.taskStarted {
		return
	}
	r.taskStarted = true
	r.add(event{typ: schemas.TypeTaskStarted, own: own, at: at, AgentEvent: &recountv1.AgentEvent{
		Task: &recountv1.Task{Id: r.session, Title: firstLine(title)},
	}})
}

// finish makes the event of the run's end, once.
func (r *run) finish(own string, at time.Time, outcome, text string, attributes map[string]string) {
	if r.taskWasOver {
		return
	}
	r.taskWasOver = true
	r.add(event{typ: schemas.TypeTaskFinished, own: own, at: at, parent: r.last, AgentEvent: &recountv1.AgentEvent{
		Task: &recountv1.Task{Id: r.session, Outcome: fit(outcome, 64)}, Text: text, Attributes: attributes,
	}})
}

// maxText is the maximum length of a text that is kept whole, in bytes.
const maxText = 1 << 20

// texts returns the texts of an event, by the names of their fields.
func texts(m *recountv1.AgentEvent) map[string]*string {
	all := map[string]*string{"text": &m.Text, "thought": &m.Thought}
	if t := m.Tool; t != nil {
		all["tool.arguments"], all["tool.command"], all["tool.result"] = &t.Arguments, &t.Command, &t.Result
	}
	if s := m.State; s != nil {
		all["state.value"] = &s.Value
	}
	if a := m.Artifact; a != nil {
		all["artifact.content"] = &a.Content
	}
	if h := m.Handoff; h != nil {
		all["handoff.reason"] = &h.Reason
	}
	if s := m.Memory; s != nil {
		all["memory.value"] = &s.Value
	}
	return all
}

// tidy makes texts and names valid for an event.
func tidy(m *recountv1.AgentEvent) {
	for _, s := range texts(m) {
		*s = clean(*s)
	}
	m.Model = fit(clean(m.Model), 256)
	if t := m.Tool; t != nil {
		t.Name, t.CallId = fit(clean(t.Name), 256), fit(clean(t.CallId), 256)
		if t.Cwd = clean(t.Cwd); len(t.Cwd) > 4096 {
			t.Cwd = ""
		}
		kept := t.Files[:0]
		for _, p := range t.Files {
			if p = clean(p); p != "" && len(p) <= 4096 && len(kept) < 256 {
				kept = append(kept, p)
			}
		}
		t.Files = kept
	}
	if p := m.Plan; p != nil {
		p.Steps = p.Steps[:min(len(p.Steps), 1000)]
		for _, s := range p.Steps {
			s.Text, s.Status = headOf(clean(s.Text), 2048), fit(clean(s.Status), 64)
		}
	}
	if t := m.Task; t != nil {
		t.Title = headOf(clean(t.Title), 4096)
	}
	if h := m.Handoff; h != nil {
		h.ToAgent = fit(clean(h.ToAgent), 256)
	}
	for k, v := range m.Attributes {
		m.Attributes[k] = headOf(clean(v), 4096)
	}
}

// cut shortens texts that are too long, and records their length and hash.
func cut(m *recountv1.AgentEvent) {
	for name, s := range texts(m) {
		if len(*s) <= maxText {
			continue
		}
		sum := hashOf(*s)
		if m.Attributes == nil {
			m.Attributes = map[string]string{}
		}
		m.Attributes["cut."+name] = fmt.Sprintf("%d bytes, sha256 %s", len(*s), sum)
		if name == "artifact.content" {
			m.Artifact.Size, m.Artifact.ContentHash = int64(len(*s)), sum
		}
		head, tail := headOf(*s, maxText*2/3), tailOf(*s, maxText/3)
		*s = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(*s)-len(head)-len(tail), tail)
	}
}

// hashOf returns the hash of a text of any length, which is not copied as a whole.
func hashOf(s string) string {
	h := sha256.New()
	_, _ = io.CopyBuffer(h, struct{ io.Reader }{strings.NewReader(s)}, make([]byte, 32<<10)) // neither fails
	return hex.EncodeToString(h.Sum(nil))
}

// clean makes text valid for an event: valid UTF-8 without NUL bytes.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

// fit shortens a name; a shortened name ends in a hash of the whole, so that it remains distinct.
func fit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return headOf(s, n-17) + "~" + hex.EncodeToString(sum[:8])
}
