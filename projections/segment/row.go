package segment

import (
	"iter"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View looks at one row in place. It costs nothing to make, its texts and its
// embedding are views of the segment's memory: they are good only until the
// function that was handed the View returns. Row copies what should last, and
// strings.Clone a single text.
type View struct {
	c   *columns
	row int
	tp  schemas.TopicPartition
	f   *file // nil for a hot row
	// room is for the embedding of a hot row, once it was asked for.
	room *dense
}

// Position is where the event stands in the log.
func (v *View) Position() schemas.Position {
	return schemas.Position{Topic: v.tp.Topic, Partition: v.tp.Partition, Offset: v.c.offset[v.row]}
}

// Offset is the position's last part.
func (v *View) Offset() int64 { return v.c.offset[v.row] }

// ID is the event's.
func (v *View) ID() schemas.EventID { return v.c.id[v.row] }

// UnixNano is when the command started.
func (v *View) UnixNano() int64 { return v.c.time[v.row] }

// Time is when the command started.
func (v *View) Time() time.Time { return time.Unix(0, v.c.time[v.row]).UTC() }

// The texts of a row.

// Command is the command's text.
func (v *View) Command() string { return v.c.text[textCommand].at(v.row) }

// StatedIntent is what the author said it was for.
func (v *View) StatedIntent() string { return v.c.text[textStatedIntent].at(v.row) }

// OutputTail is the end of its output.
func (v *View) OutputTail() string { return v.c.text[textOutputTail].at(v.row) }

// Workspace is the event's key.
func (v *View) Workspace() string { return v.c.dict[dictWorkspace].at(v.row) }

// Cwd is the working directory.
func (v *View) Cwd() string { return v.c.dict[dictCwd].at(v.row) }

// Session is the shell's session.
func (v *View) Session() string { return v.c.dict[dictSession].at(v.row) }

// Shell is the shell's name.
func (v *View) Shell() string { return v.c.dict[dictShell].at(v.row) }

// User is the account.
func (v *View) User() string { return v.c.dict[dictUser].at(v.row) }

// Host is the machine.
func (v *View) Host() string { return v.c.dict[dictHost].at(v.row) }

// Author is a human or an agent's name.
func (v *View) Author() string { return v.c.dict[dictAuthor].at(v.row) }

// Template is the command with its values replaced.
func (v *View) Template() string { return v.c.dict[dictTemplate].at(v.row) }

// GitHead is the commit that was checked out.
func (v *View) GitHead() string { return v.c.dict[dictGitHead].at(v.row) }

// Embedder names what made the embedding.
func (v *View) Embedder() string { return v.c.dict[dictEmbedder].at(v.row) }

// Category is what kind of work the command is.
func (v *View) Category() recountv1.Category { return recountv1.Category(v.c.category[v.row]) }

// Confidence is how sure the reading of the command is.
func (v *View) Confidence() float32 { return v.c.confidence[v.row] }

// Complexity counts the command's parts.
func (v *View) Complexity() uint32 { return v.c.complexity[v.row] }

// ExitCode is the exit code, and whether it is known.
func (v *View) ExitCode() (code int32, known bool) {
	return v.c.exitCode[v.row], v.c.hasExit.at(v.row)
}

// Duration is how long it ran, and whether that is known.
func (v *View) Duration() (d time.Duration, known bool) {
	return time.Duration(v.c.duration[v.row]), v.c.hasDuration.at(v.row)
}

// ContextHash is the hash of the surroundings.
func (v *View) ContextHash() uint64 { return v.c.contextHash[v.row] }

// ContentHash is equal for commands that a reader would call the same.
func (v *View) ContentHash() uint64 { return v.c.contentHash[v.row] }

// Parent is the event that led to this one; the zero id if none was named.
func (v *View) Parent() schemas.EventID { return v.c.parent[v.row] }

// Embedding is the row's embedding, nil if it has none; in place if it is sealed. The error is
// damage in the file, whose embeddings are checked when one is first asked for.
func (v *View) Embedding() ([]float32, error) {
	if v.f != nil {
		if err := v.f.vectors(); err != nil {
			return nil, err
		}
	}
	if v.room == nil && v.c.vectors.flat == nil {
		v.room = new(dense)
	}
	return v.c.embeddingOf(v.row, v.room), nil
}

// Programs are the binaries that the command runs, in order.
func (v *View) Programs() iter.Seq[string] { return v.texts(listPrograms) }

// Concepts are the classes that the command touches.
func (v *View) Concepts() iter.Seq[string] { return v.texts(listConcepts) }

func (v *View) texts(list int) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := &v.c.dict[listItems[list]]
		for i, hi := v.c.span(list, v.row); i < hi; i++ {
			if !yield(d.at(i)) {
				return
			}
		}
	}
}

// Resources are what the command reads and writes.
func (v *View) Resources() iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for i, hi := v.c.span(listResources, v.row); i < hi; i++ {
			r := Resource{
				Kind:   recountv1.ResourceKind(v.c.resourceKind[i]),
				Access: recountv1.Access(v.c.resourceAccess[i]),
				Name:   v.c.dict[dictResource].at(i),
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Tokens are the command's parts, in source order.
func (v *View) Tokens() iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for i, hi := v.c.span(listTokens, v.row); i < hi; i++ {
			t := Token{
				Kind:   recountv1.TokenKind(v.c.tokenKind[i]),
				Text:   v.c.dict[dictToken].at(i),
				Offset: v.c.tokenOffset[i],
			}
			if !yield(t) {
				return
			}
		}
	}
}

// Resource is something that a command reads or writes.
type Resource struct {
	Kind   recountv1.ResourceKind
	Access recountv1.Access
	Name   string
}

// Token is one part of a command.
type Token struct {
	Kind   recountv1.TokenKind
	Text   string
	Offset uint32 // byte position in the command
}

// Row is an intent as it is stored, in memory of its own.
type Row struct {
	Position  schemas.Position
	ID        schemas.EventID
	Time      time.Time // when the command started
	EventTime time.Time // the event's time

	Command      string
	StatedIntent string
	OutputTail   string
	Workspace    string
	Cwd          string
	Session      string
	Shell        string
	User         string
	Host         string
	Author       string
	Template     string
	GitHead      string
	Embedder     string

	Category    recountv1.Category
	Confidence  float32
	Complexity  uint32
	ExitCode    *int32         // nil: unknown
	Duration    *time.Duration // nil: unknown
	ContextHash uint64
	ContentHash uint64
	Parent      schemas.EventID // zero: none named

	Programs  []string
	Concepts  []string
	Resources []Resource
	Tokens    []Token
}

// Row copies the row. The embedding stays behind: see [View.Embedding].
func (v *View) Row() Row {
	r := Row{
		Position: v.Position(), ID: v.ID(), Time: v.Time(), EventTime: time.Unix(0, v.c.eventTime[v.row]).UTC(),
		Command: strings.Clone(v.Command()), StatedIntent: strings.Clone(v.StatedIntent()), OutputTail: strings.Clone(v.OutputTail()),
		Workspace: strings.Clone(v.Workspace()), Cwd: strings.Clone(v.Cwd()), Session: strings.Clone(v.Session()),
		Shell: strings.Clone(v.Shell()), User: strings.Clone(v.User()), Host: strings.Clone(v.Host()),
		Author: strings.Clone(v.Author()), Template: strings.Clone(v.Template()), GitHead: strings.Clone(v.GitHead()),
		Embedder: strings.Clone(v.Embedder()),
		Category: v.Category(), Confidence: v.Confidence(), Complexity: v.Complexity(),
		ContextHash: v.ContextHash(), ContentHash: v.ContentHash(), Parent: v.Parent(),
	}
	if code, ok := v.ExitCode(); ok {
		r.ExitCode = &code
	}
	if d, ok := v.Duration(); ok {
		r.Duration = &d
	}
	for s := range v.Programs() {
		r.Programs = append(r.Programs, strings.Clone(s))
	}
	for s := range v.Concepts() {
		r.Concepts = append(r.Concepts, strings.Clone(s))
	}
	for res := range v.Resources() {
		res.Name = strings.Clone(res.Name)
		r.Resources = append(r.Resources, res)
	}
	for t := range v.Tokens() {
		t.Text = strings.Clone(t.Text)
		r.Tokens = append(r.Tokens, t)
	}
	return r
}
