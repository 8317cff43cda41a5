package feedback

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Stand is what an event says of a subject.
type Stand byte

const (
	// Useless and Useful are stated by feedback.given, Shown by context.returned.
	Useless Stand = iota
	Useful
	Shown
)

// Vote is what one event says of one subject.
type Vote struct {
	Position schemas.Position
	Stand    Stand
	Time     time.Time
	// Voter and Task are hashes: of a session, or else of an agent and a user; and of a task's text.
	Voter, Task schemas.EventID
	Workspace   string
}

// said is what both types of events have.
type said interface {
	GetTenant() string
	GetWorkspace() string
	GetAgent() string
	GetUser() string
	GetSession() string
	GetTask() string
	GetSubjects() []*recountv1.FeedbackSubject
}

// voteOf returns the content of an event of the projection, and its time; ok is false for any other.
func voteOf(r *recountv1.Record) (m said, stand Stand, at time.Time, ok bool) {
	switch b := r.GetBody().(type) {
	case *recountv1.Record_FeedbackGiven:
		if stand = Useless; b.FeedbackGiven.Useful {
			stand = Useful
		}
		return b.FeedbackGiven, stand, b.FeedbackGiven.OccurredAt.AsTime(), true
	case *recountv1.Record_ContextReturned:
		return b.ContextReturned, Shown, b.ContextReturned.OccurredAt.AsTime(), true
	}
	return nil, 0, time.Time{}, false
}

// voter identifies who says it: the session, or else the agent or person.
func voter(m said) schemas.EventID {
	c := schemas.NewCanon("recount/feedback/voter/1").String(m.GetWorkspace())
	if m.GetSession() != "" {
		return c.String("session").String(m.GetSession()).ID()
	}
	return c.String("agent").String(m.GetAgent()).String(m.GetUser()).ID()
}

func taskHash(task string) schemas.EventID {
	return schemas.NewCanon("recount/feedback/task/1").String(task).ID()
}

// append encodes a vote without its position: the stand (one byte), the time (nanoseconds, varint),
// the voter and the task (16 bytes each), the workspace.
func (v Vote) append(b []byte) []byte {
	b = append(b, byte(v.Stand))
	b = binary.AppendVarint(b, v.Time.UnixNano())
	b = append(append(b, v.Voter[:]...), v.Task[:]...)
	return append(b, v.Workspace...)
}

func parseVote(b []byte) (Vote, error) {
	var v Vote
	if len(b) == 0 || b[0] > byte(Shown) {
		return v, errors.New("a vote without a stand")
	}
	v.Stand, b = Stand(b[0]), b[1:]
	at, size := binary.Varint(b)
	if size <= 0 || len(b)-size < 2*len(v.Voter) {
		return v, errors.New("a vote that ends early")
	}
	v.Time, b = time.Unix(0, at).UTC(), b[size:]
	copy(v.Voter[:], b)
	copy(v.Task[:], b[len(v.Voter):])
	v.Workspace = string(b[2*len(v.Voter):])
	return v, nil
}
