package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// shape describes the object that an event of a type makes.
type shape struct {
	object recountv1.ObjectType
	memory recountv1.MemoryKind
	// importance is the default if the event has none.
	importance float32
	// describe fills in the title, the text and the fields of the type.
	describe func(*maker)
}

const (
	typeMemory = recountv1.ObjectType_OBJECT_TYPE_MEMORY
	episodic   = recountv1.MemoryKind_MEMORY_KIND_EPISODIC
	factual    = recountv1.MemoryKind_MEMORY_KIND_FACTUAL
	procedural = recountv1.MemoryKind_MEMORY_KIND_PROCEDURAL
	reflective = recountv1.MemoryKind_MEMORY_KIND_REFLECTIVE
)

// shapes are the known types. What was stated in order to be remembered has the highest importance,
// the output of tools the lowest unless it is a failure (result).
var shapes = map[string]shape{
	schemas.TypeUserMessage:      {typeMemory, episodic, 0.6, (*maker).message},
	schemas.TypeAssistantMessage: {typeMemory, episodic, 0.5, (*maker).message},
	schemas.TypeToolCall:         {recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL, 0, 0.4, (*maker).call},
	schemas.TypeToolResult:       {typeMemory, factual, 0.4, (*maker).result},
	schemas.TypePlanUpdated:      {typeMemory, procedural, 0.6, (*maker).plan},
	schemas.TypeCritique:         {typeMemory, reflective, 0.6, (*maker).critique},
	schemas.TypeMemoryStated:     {typeMemory, factual, 0.8, (*maker).statement},
	schemas.TypeStateChanged:     {recountv1.ObjectType_OBJECT_TYPE_STATE, 0, 0.5, (*maker).state},
	schemas.TypeArtifact:         {recountv1.ObjectType_OBJECT_TYPE_ARTIFACT, 0, 0.6, (*maker).artifact},
	schemas.TypeTaskStarted:      {recountv1.ObjectType_OBJECT_TYPE_TASK, 0, 0.7, (*maker).task},
	schemas.TypeTaskFinished:     {recountv1.ObjectType_OBJECT_TYPE_TASK, 0, 0.7, (*maker).task},
	schemas.TypeHandoff:          {recountv1.ObjectType_OBJECT_TYPE_HANDOFF, 0, 0.6, (*maker).handoff},
	schemas.TypeRecallUsed:       {recountv1.ObjectType_OBJECT_TYPE_RECALL, 0, 0.1, (*maker).recall},
	schemas.TypeWorkAnnounced:    {recountv1.ObjectType_OBJECT_TYPE_ANNOUNCEMENT, 0, 0.5, (*maker).announced},
	schemas.TypeWorkEnded:        {recountv1.ObjectType_OBJECT_TYPE_ANNOUNCEMENT, 0, 0.3, (*maker).announced},
}

var unknown = shape{recountv1.ObjectType_OBJECT_TYPE_EVENT, 0, 0.3, (*maker).event}

// failedImportance is the importance of a failed result, because people search for those.
const failedImportance = 0.6

func (b *maker) message() {
	b.o.Text = paragraphs(b.m.Text, b.m.Thought)
	b.read = append(b.read, b.o.Text)
}

// event keeps the fields of an event of unknown type.
func (b *maker) event() {
	m := b.m
	b.o.Text = paragraphs(m.Text, m.Thought, callText(m.Tool), m.GetTool().GetResult(), planText(m.Plan), stateText(m.State),
		artifactText(m.Artifact), m.GetTask().GetTitle(), m.GetHandoff().GetReason(), statementText(m.Memory))
	if b.o.Title = title(b.o.Text); b.o.Title == "" {
		b.o.Title = title(b.e.Type)
	}
	b.note("event_type", b.e.Type)
	b.read = append(b.read, b.o.Text)
}

func (b *maker) call() {
	t := b.m.Tool
	said := callText(t)
	b.o.Text = paragraphs(said, b.m.Text, b.m.Thought)
	b.o.Title = title(said)
	b.tool()
	if t.GetCommand() == "" {
		b.read = append(b.read, b.o.Text)
	} else {
		b.read = append(b.read, b.m.Text, b.m.Thought)
	}
}

func (b *maker) result() {
	t := b.m.Tool
	b.o.Text = paragraphs(t.GetResult(), b.m.Text, b.m.Thought)
	name := t.GetCommand()
	if name == "" {
		name = t.GetName()
	}
	switch line := title(b.o.Text); {
	case name != "" && line != "":
		b.o.Title = title(schemas.Clip(name, maxTitle/2) + ": " + line)
	default:
		b.o.Title = title(name + line)
	}
	if t.GetFailed() || t.GetExitCode() != 0 {
		b.o.Importance = failedImportance
	}
	b.tool()
	b.read = append(b.read, b.o.Text)
}

// maxCommand is the maximum length of a command.executed, in bytes: a longer line matches none.
const maxCommand = 1 << 20

// tool fills in the fields of the call and interprets its command.
func (b *maker) tool() {
	t := b.m.Tool
	if t == nil {
		return
	}
	use := &recountv1.ToolUse{
		Name: t.Name, CallId: t.CallId, Command: t.Command, Cwd: t.Cwd,
		Failed: t.Failed, ExitCode: t.ExitCode, DurationNano: -1,
	}
	if t.Duration != nil {
		use.DurationNano = int64(t.Duration.AsDuration())
	}
	b.o.Tool = use
	if strings.TrimSpace(t.Command) == "" || len(t.Command) > maxCommand || strings.IndexByte(t.Command, 0) >= 0 {
		return
	}
	in := b.commands.Understand(t.Command, t.Cwd)
	use.Template, use.CommandHash = in.Template, in.ContentHash
	if b.o.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL {
		b.resources = in.Resources
	}
}

func (b *maker) plan() {
	p := b.m.Plan
	b.o.Text = paragraphs(b.m.Text, planText(p), b.m.Thought)
	b.note("plan", p.GetId())
	b.read = append(b.read, b.o.Text)
	switch {
	case b.m.Session != "":
		b.version(b.m.Session, p.GetId())
	case p.GetId() != "":
		b.version("\x00"+b.m.Agent, p.GetId()) // no session has this name
	}
}

// planText returns a plan's steps, one per line: "- [done] read the logs".
func planText(p *recountv1.Plan) string {
	var s strings.Builder
	for i, step := range p.GetSteps() {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString("- ")
		if step.Status != "" {
			s.WriteString("[" + step.Status + "] ")
		}
		s.WriteString(step.Text)
	}
	return s.String()
}

func (b *maker) critique() {
	b.o.Text = paragraphs(b.m.Text, b.m.Thought)
	b.o.Claim = readClaim(b.m.Text)
	b.read = append(b.read, b.o.Text)
}

func (b *maker) statement() {
	s := b.m.Memory
	said := statementText(s)
	if said != "" && s.Value != "" && strings.Contains(b.m.Text, s.Value) {
		said = "" // the text states it in its own words
	}
	b.o.Text = paragraphs(b.m.Text, said, b.m.Thought)
	if k := s.GetKind(); k != recountv1.MemoryKind_MEMORY_KIND_UNSPECIFIED {
		b.o.Memory = k
	}
	if b.o.Claim = stated(s); b.o.Claim == nil {
		b.o.Claim = readClaim(b.m.Text)
	}
	b.note("form", formOf(s))
	b.read = append(b.read, b.o.Text)
}

func statementText(s *recountv1.Statement) string {
	return strings.Join(strings.Fields(s.GetSubject()+" "+s.GetPredicate()+" "+s.GetValue()), " ")
}

func (b *maker) state() {
	s := b.m.State
	b.o.Text = paragraphs(stateText(s), b.m.Text, b.m.Thought)
	b.o.Title, b.o.Removed = title(s.GetKey()), s.GetRemoved()
	b.read = append(b.read, b.m.Text, b.m.Thought)
	if s != nil {
		b.version(b.m.Agent, s.Key)
	}
}

func stateText(s *recountv1.StateChange) string {
	switch {
	case s == nil:
		return ""
	case s.Removed:
		return s.Key + " removed"
	}
	return s.Key + " = " + s.Value
}

func (b *maker) artifact() {
	a := b.m.Artifact
	b.o.Text = paragraphs(artifactText(a), b.m.Text, b.m.Thought)
	b.read = append(b.read, b.m.Text, b.m.Thought)
	if a == nil {
		return
	}
	b.o.Title = title(a.Uri)
	hash, size := a.ContentHash, a.Size
	if a.Content != "" && hash == "" {
		sum := sha256.Sum256([]byte(a.Content))
		hash = hex.EncodeToString(sum[:])
	}
	if a.Content != "" && size == 0 {
		size = int64(len(a.Content))
	}
	b.note("content_hash", hash)
	b.note("media_type", a.MediaType)
	if size > 0 {
		b.note("size", strconv.FormatInt(size, 10))
	}
	if a.Uri != "" {
		b.version("", a.Uri)
	}
}

// artifactText puts the name first, so that a search for it finds the artifact.
func artifactText(a *recountv1.ArtifactProduced) string {
	return paragraphs(a.GetUri(), a.GetContent())
}

func (b *maker) task() {
	t := b.m.Task
	name := t.GetTitle()
	if name == "" {
		name = t.GetId()
	}
	status := "started"
	if b.e.Type == schemas.TypeTaskFinished {
		status = "finished"
	}
	line := strings.TrimSpace(name + " " + status)
	if t.GetOutcome() != "" {
		line += ": " + t.Outcome
	}
	b.o.Title = title(line)
	b.o.Text = paragraphs(line, b.m.Text, b.m.Thought)
	b.note("task", t.GetId())
	b.note("task_status", status)
	b.note("task_outcome", t.GetOutcome())
	b.read = append(b.read, t.GetTitle(), b.m.Text, b.m.Thought)
	if t.GetId() != "" {
		b.version("", t.Id)
	}
}

func (b *maker) handoff() {
	h := b.m.Handoff
	line := "handed over"
	if h.GetToAgent() != "" {
		line = "handed to " + h.ToAgent
	}
	b.o.Title = title(line)
	if h.GetReason() != "" {
		b.o.Title = title(line + ": " + title(h.Reason))
	}
	b.o.Text = paragraphs(line, h.GetReason(), b.m.Text, b.m.Thought)
	b.read = append(b.read, b.o.Text)
}

// recall sets no text: a search must find what was used, not the record of its use.
func (b *maker) recall() {
	line := "used"
	if b.m.Text != "" {
		line += " for: " + title(b.m.Text)
	}
	b.o.Title = title(line)
}
