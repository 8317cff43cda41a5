package ask

import (
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays/answer"
	"github.com/recountdb/recount/schemas"
)

// ShowResponse is everything known about one command.
type ShowResponse struct {
	Intent
	Detail
	Changes    *Changes          `json:"changes,omitempty" doc:"The files that changed while it ran; absent if the recorder did not look."`
	Replays    []answer.Replayed `json:"replays,omitempty" doc:"How it fared when it was replayed, the latest first."`
	Event      *RawEvent         `json:"event,omitempty" doc:"The event as stored in the log; absent if the log could not be read: event_error has the reason."`
	EventError string            `json:"event_error,omitempty" doc:"Why the event could not be read from the log."`
	Watermark  schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"The watermark that the answer was computed at."`
	Proof      []query.Step      `json:"proof" nullable:"false" doc:"The steps by which the answer was computed."`
}

// Detail has the other fields that a projection stores of a command.
type Detail struct {
	StatedIntent string           `json:"stated_intent,omitempty" doc:"The stated purpose, in the author's own words."`
	GitHead      string           `json:"git_head,omitempty" doc:"The commit that HEAD pointed to."`
	ParentID     *schemas.EventID `json:"parent_id,omitempty" format:"uuid" doc:"The event that led to this one."`
	OutputTail   string           `json:"output_tail,omitempty" doc:"The end of its output, with secrets redacted."`
	Tokens       []Token          `json:"tokens,omitempty" doc:"The command's structure, in source order."`
	Resources    []Resource       `json:"resources,omitempty" doc:"The resources that it reads and writes."`
	Programs     []string         `json:"programs,omitempty" doc:"The programs that it runs, in order."`
	Concepts     []string         `json:"concepts,omitempty" doc:"The concept classes of the command."`
	Complexity   uint32           `json:"complexity" example:"1" doc:"The number of commands, operators, redirections and substitutions."`
	Confidence   float32          `json:"confidence" example:"1" doc:"Confidence of the interpretation, 0 to 1."`
	ContextHash  string           `json:"context_hash" example:"9f86d081884c7d65" doc:"xxh3 over cwd, shell, user, host, git head and env, in hex."`
	ContentHash  string           `json:"content_hash" example:"2c26b46b68ffc68f" doc:"xxh3 over the command with white space folded, in hex: equal for commands with the same text."`
	Embedder     string           `json:"embedder,omitempty" example:"hash/1" doc:"The embedder that made the vector."`
}

// Token is a structural part of a command.
type Token struct {
	Kind   string `json:"kind" example:"flag" doc:"binary, subcommand, flag, argument, pipe, …"`
	Text   string `json:"text" example:"-af" doc:"Its text."`
	Offset uint32 `json:"offset" example:"19" doc:"Its byte position in the command."`
}

// Resource is something a command reads or writes.
type Resource struct {
	Kind   string `json:"kind" example:"path" doc:"path, url, container, image, host, branch, package, port."`
	Name   string `json:"name" example:"/src/app/Makefile" doc:"Its canonical name."`
	Access string `json:"access,omitempty" example:"read" doc:"read, write or read_write."`
}

// Changes are the files that a recorder saw to change while a command ran, whoever changed them.
type Changes struct {
	Below    string        `json:"below" example:"/src/app" doc:"The directory that was looked through: what it has and is not listed did not change, but git's objects."`
	LookedAt time.Time     `json:"looked_at" doc:"When the recorder had looked."`
	Files    []ChangedFile `json:"files" nullable:"false" doc:"The files, in order of their paths; git's own are last."`
}

// ChangedFile is a file that changed while a command ran.
type ChangedFile struct {
	Path   string `json:"path" example:"/src/app/go.sum" doc:"Its absolute path."`
	Change string `json:"change" enum:"created,changed,written,removed,touched" doc:"created, changed, removed, written (created or changed: the recorder did not know what was there), or touched (left as it was before)."`
	Size   int64  `json:"size,omitempty" doc:"Its length in bytes."`
	SHA256 string `json:"sha256,omitempty" doc:"The SHA-256 of its content in hex, if it was read."`
}

// These are what happens to a file; see ChangedFile.
const (
	ChangeCreated = "created"
	ChangeChanged = "changed"
	ChangeWritten = "written"
	ChangeRemoved = "removed"
	ChangeTouched = "touched"
)

// RawEvent is an event as stored in the log.
type RawEvent struct {
	Position    schemas.Position  `json:"position" doc:"Its position."`
	ID          schemas.EventID   `json:"id" format:"uuid" doc:"Its id."`
	Type        string            `json:"type" example:"command.executed" doc:"Its CloudEvents type."`
	Source      string            `json:"source" example:"recount" doc:"Its CloudEvents source."`
	Time        time.Time         `json:"time" doc:"Its CloudEvents time."`
	Appended    time.Time         `json:"appended" doc:"The log record's timestamp."`
	Key         string            `json:"key,omitempty" doc:"The key that chose its partition."`
	ContentType string            `json:"content_type" example:"application/json" doc:"The media type of the payload."`
	Headers     map[string]string `json:"headers,omitempty" doc:"The record's headers."`
	Payload     []byte            `json:"payload" doc:"The payload, in base64."`
}
