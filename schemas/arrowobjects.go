package schemas

import (
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ObjectRow is one version of an agent's object as it is exported, with what its event says.
type ObjectRow struct {
	Position    string       `json:"position" example:"recount.agents/0/1042" doc:"The position of its event."`
	ID          string       `json:"id" doc:"The object's id, shared by all its versions."`
	EventID     string       `json:"event_id" format:"uuid" doc:"The event that made this version."`
	EventType   string       `json:"event_type" example:"tool_result_returned" doc:"The event's type."`
	Type        string       `json:"type" example:"memory" doc:"memory, state, artifact, tool_call, task, handoff, event, recall."`
	Memory      string       `json:"memory,omitempty" example:"factual" doc:"The kind of memory: episodic, factual, procedural, reflective."`
	Tenant      string       `json:"tenant,omitempty" doc:"The tenant; empty for the default tenant."`
	Workspace   string       `json:"workspace,omitempty" example:"/src/app" doc:"The workspace's name."`
	Agent       string       `json:"agent,omitempty" example:"claude" doc:"The agent's name."`
	Session     string       `json:"session,omitempty" example:"run-17" doc:"The session's name."`
	Visibility  string       `json:"visibility" example:"workspace" doc:"Who may see it: private, session, workspace, tenant."`
	Time        time.Time    `json:"time" doc:"When it happened."`
	ValidFrom   time.Time    `json:"valid_from,omitzero" doc:"The time from which it is valid, if that is not its own time."`
	ValidUntil  time.Time    `json:"valid_until,omitzero" doc:"The time until which it is valid, if there is an end."`
	Importance  float32      `json:"importance" example:"0.6" doc:"0 to 1."`
	Removed     bool         `json:"removed,omitempty" doc:"Whether this version deletes the object."`
	Title       string       `json:"title,omitempty" doc:"A one-line title."`
	Text        string       `json:"text,omitempty" doc:"The whole text."`
	Subject     string       `json:"subject,omitempty" doc:"The subject of a comparable statement."`
	Predicate   string       `json:"predicate,omitempty" doc:"The property of the subject."`
	Value       string       `json:"value,omitempty" doc:"The stated value."`
	Tool        string       `json:"tool,omitempty" example:"bash" doc:"The tool, for a call or its result."`
	Command     string       `json:"command,omitempty" doc:"The shell command of the call."`
	ExitCode    *int32       `json:"exit_code,omitempty" doc:"The exit code of the call."`
	Failed      bool         `json:"failed,omitempty" doc:"Whether the tool reported an error."`
	ContentHash string       `json:"content_hash" example:"2c26b46b68ffc68f" doc:"A hash of the content: equal for objects with the same content."`
	Edges       []ObjectLink `json:"edges,omitempty" doc:"Its edges to other objects."`
}

// ObjectLink is an outgoing edge of an object.
type ObjectLink struct {
	Kind       string  `json:"kind" example:"caused_by" doc:"The kind of the edge, which may be the producer's own."`
	To         string  `json:"to" example:"session:run-17" doc:"The target: the id of an event or object, or a name such as file:src/cart.go."`
	Confidence float32 `json:"confidence" example:"1" doc:"Confidence, 0 to 1."`
	Rule       string  `json:"rule,omitempty" example:"stated" doc:"The rule that made the edge."`
}

// ObjectSchema is the Arrow schema of ObjectRow: one column for each JSON field.
var ObjectSchema = arrow.NewSchema([]arrow.Field{
	{Name: "position", Type: arrow.BinaryTypes.String},
	{Name: "id", Type: arrow.BinaryTypes.String},
	{Name: "event_id", Type: arrow.BinaryTypes.String},
	{Name: "event_type", Type: arrow.BinaryTypes.String},
	{Name: "type", Type: arrow.BinaryTypes.String},
	{Name: "memory", Type: arrow.BinaryTypes.String},
	{Name: "tenant", Type: arrow.BinaryTypes.String},
	{Name: "workspace", Type: arrow.BinaryTypes.String},
	{Name: "agent", Type: arrow.BinaryTypes.String},
	{Name: "session", Type: arrow.BinaryTypes.String},
	{Name: "visibility", Type: arrow.BinaryTypes.String},
	{Name: "time", Type: arrowTime},
	{Name: "valid_from", Type: arrowTime, Nullable: true},
	{Name: "valid_until", Type: arrowTime, Nullable: true},
	{Name: "importance", Type: arrow.PrimitiveTypes.Float32},
	{Name: "removed", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "title", Type: arrow.BinaryTypes.String},
	{Name: "text", Type: arrow.BinaryTypes.String},
	{Name: "subject", Type: arrow.BinaryTypes.String},
	{Name: "predicate", Type: arrow.BinaryTypes.String},
	{Name: "value", Type: arrow.BinaryTypes.String},
	{Name: "tool", Type: arrow.BinaryTypes.String},
	{Name: "command", Type: arrow.BinaryTypes.String},
	{Name: "exit_code", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "failed", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "content_hash", Type: arrow.BinaryTypes.String},
	{Name: "edges", Type: arrow.ListOfNonNullable(arrowLink)},
}, nil)

var arrowLink = arrow.StructOf(
	arrow.Field{Name: "kind", Type: arrow.BinaryTypes.String},
	arrow.Field{Name: "to", Type: arrow.BinaryTypes.String},
	arrow.Field{Name: "confidence", Type: arrow.PrimitiveTypes.Float32},
	arrow.Field{Name: "rule", Type: arrow.BinaryTypes.String},
)

// objectBatchRows and objectBatchBytes limit a batch of ObjectArrow, in rows and in bytes of text.
const (
	objectBatchRows  = 8192
	objectBatchBytes = 8 << 20
)

// ObjectArrow writes objects as an Arrow IPC stream of ObjectSchema. It is not safe for concurrent
// use.
type ObjectArrow struct {
	w     *ipc.Writer
	b     *array.RecordBuilder
	rows  int
	bytes int
}

// NewObjectArrow starts a stream on w. Close ends it.
func NewObjectArrow(w io.Writer) *ObjectArrow {
	return &ObjectArrow{
		w: ipc.NewWriter(w, ipc.WithSchema(ObjectSchema)),
		b: array.NewRecordBuilder(memory.DefaultAllocator, ObjectSchema),
	}
}

// Add adds a row. The row is written with its batch, at the latest by Close.
func (a *ObjectArrow) Add(o *ObjectRow) error {
	column := 0
	next := func() array.Builder {
		column++
		return a.b.Field(column - 1)
	}
	text := func(s string) {
		next().(*array.StringBuilder).Append(s)
		a.bytes += len(s)
	}
	moment := func(t time.Time, nullable bool) {
		b := next().(*array.TimestampBuilder)
		if nullable && t.IsZero() {
			b.AppendNull()
			return
		}
		b.Append(arrow.Timestamp(t.UnixNano()))
	}
	yes := func(is bool) { next().(*array.BooleanBuilder).Append(is) }

	for _, s := range []string{o.Position, o.ID, o.EventID, o.EventType, o.Type, o.Memory, o.Tenant, o.Workspace, o.Agent, o.Session, o.Visibility} {
		text(s)
	}
	moment(o.Time, false)
	moment(o.ValidFrom, true)
	moment(o.ValidUntil, true)
	next().(*array.Float32Builder).Append(o.Importance)
	yes(o.Removed)
	for _, s := range []string{o.Title, o.Text, o.Subject, o.Predicate, o.Value, o.Tool, o.Command} {
		text(s)
	}
	if exit := next().(*array.Int32Builder); o.ExitCode != nil {
		exit.Append(*o.ExitCode)
	} else {
		exit.AppendNull()
	}
	yes(o.Failed)
	text(o.ContentHash)
	a.edges(next().(*array.ListBuilder), o.Edges)
	if a.rows++; a.rows >= objectBatchRows || a.bytes >= objectBatchBytes {
		return a.flush()
	}
	return nil
}

func (a *ObjectArrow) edges(list *array.ListBuilder, all []ObjectLink) {
	list.Append(true)
	s := list.ValueBuilder().(*array.StructBuilder)
	for _, e := range all {
		s.Append(true)
		s.FieldBuilder(0).(*array.StringBuilder).Append(e.Kind)
		s.FieldBuilder(1).(*array.StringBuilder).Append(e.To)
		s.FieldBuilder(2).(*array.Float32Builder).Append(e.Confidence)
		s.FieldBuilder(3).(*array.StringBuilder).Append(e.Rule)
		a.bytes += len(e.To)
	}
}

func (a *ObjectArrow) flush() error {
	batch := a.b.NewRecordBatch()
	defer batch.Release()
	a.rows, a.bytes = 0, 0
	return a.w.Write(batch)
}

// Close writes the remaining rows and the end of the stream. It does not close the writer.
func (a *ObjectArrow) Close() error {
	if a.rows > 0 {
		if err := a.flush(); err != nil {
			return err
		}
	}
	return a.w.Close()
}
