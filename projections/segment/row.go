package segment

import (
	"iter"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is one row, read in place. Making one allocates nothing. Its texts and its embedding are
// views of the segment's memory, valid only until the function that received the View returns. Row
// copies the whole row; strings.Clone copies a single text.
type View struct {
	c   *columns
	row int
	tp  schemas.TopicPartition
	f   *file // nil for a hot row
	// room is a buffer for the embedding of a hot row, allocated on first use.
	room *dense
}

// Position returns the event's position in the log.
func (v *View) Position() schemas.Position {
	return schemas.Position{Topic: v.tp.Topic, Partition: v.tp.Partition, Offset: v.c.offset[v.row]}
}

// Offset returns the offset of the position.
func (v *View) Offset() int64 { return v.c.offset[v.row] }

// ID returns the event's id.
func (v *View) ID() schemas.EventID { return v.c.id[v.row] }

// UnixNano returns when the command started, in nanoseconds since 1970 UTC.
func (v *View) UnixNano() int64 { return v.c.time[v.row] }

// Time returns when the command started.
func (v *View) Time() time.Time { return time.Unix(0, v.c.time[v.row]).UTC() }

// The texts of a row.

// Command returns the text of the command.
func (v *View) Command() string { return v.c.text[textCommand].at(v.row) }

// StatedIntent returns the purpose that the author stated.
func (v *View) StatedIntent() string { return v.c.text[textStatedIntent].at(v.row) }

// OutputTail returns the end of the command's output.
func (v *View) OutputTail() string { return v.c.text[textOutputTail].at(v.row) }

// Workspace returns the workspace, which is the event's key.
func (v *View) Workspace() string { return v.c.dict[dictWorkspace].at(v.row) }

// Cwd returns the working directory.
func (v *View) Cwd() string { return v.c.dict[dictCwd].at(v.row) }

// Session returns the shell's session.
func (v *View) Session() string { return v.c.dict[dictSession].at(v.row) }

// Shell returns the name of the shell.
func (v *View) Shell() string { return v.c.dict[dictShell].at(v.row) }

// User returns the account that ran the command.
func (v *View) User() string { return v.c.dict[dictUser].at(v.row) }

// Host returns the name of the machine.
func (v *View) Host() string { return v.c.dict[dictHost].at(v.row) }

// Author returns the name of the person or the agent.
func (v *View) Author() string { return v.c.dict[dictAuthor].at(v.row) }

// Template returns the command with its values replaced by placeholders.
func (v *View) Template() string { return v.c.dict[dictTemplate].at(v.row) }

// GitHead returns the commit that was checked out.
func (v *View) GitHead() string { return v.c.dict[dictGitHead].at(v.row) }

// Embedder returns the name of what computed the embedding.
func (v *View) Embedder() string { return v.c.dict[dictEmbedder].at(v.row) }

// Category returns the kind of work that the command does.
func (v *View) Category() recountv1.Category { return recountv1.Category(v.c.category[v.row]) }

// Confidence returns how certain the interpretation of the command is, from 0 to 1.
func (v *View) Confidence() float32 { return v.c.confidence[v.row] }

// Complexity returns the number of the command's parts.
func (v *View) Complexity() uint32 { return v.c.complexity[v.row] }

// ExitCode returns the exit code; known is false if there is none.
func (v *View) ExitCode() (code int32, known bool) {
	return v.c.exitCode[v.row], v.c.hasExit.at(v.row)
}

// Duration returns how long the command ran; known is false if that is unknown.
func (v *View) Duration() (d time.Duration, known bool) {
	return time.Duration(v.c.duration[v.row]), v.c.hasDuration.at(v.row)
}

// ContextHash returns the hash of the command's surroundings.
func (v *View) ContextHash() uint64 { return v.c.contextHash[v.row] }

// ContentHash returns a hash that is equal for commands that a reader would call the same.
func (v *View) ContentHash() uint64 { return v.c.contentHash[v.row] }

// Parent returns the event that led to this one; the zero id if none was named.
func (v *View) Parent() schemas.EventID { return v.c.parent[v.row] }

// Embedding returns the row's embedding, nil if it has none; that of a sealed row is in place. The
// error is damage in the file, whose embeddings are checked on first use.
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

// Programs returns the programs that the command runs, in order.
func (v *View) Programs() iter.Seq[string] { return v.texts(listPrograms) }

// Concepts returns the classes that the command belongs to.
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

// Resources returns what the command reads and writes.
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

// Tokens returns the command's parts, in source order.
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
