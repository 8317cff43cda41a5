package api

import (
	"context"
	"io"
	"time"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
)

// Backend is the set of operations of Recount. A node implements it in its own process, a Client
// over HTTP, so a caller need not know which of them it holds.
type Backend interface {
	// Append redacts, stores and syncs events and returns their positions. All events are checked
	// before any is stored; an event that fails the check is reported as an *EventError. An event
	// without an id gets an id derived from its content. An event whose id the log already has is
	// not appended again, so that after an outage a caller can send all its events again.
	Append(ctx context.Context, events []schemas.Event) ([]Appended, error)
	// Show returns one command by its id, an unambiguous prefix of its id, or its position. It
	// fails with a *query.NotFoundError or a *query.AmbiguousError.
	Show(ctx context.Context, ref string) (commands.ShowResponse, error)
	// Event returns the event at a position of the log, of whatever kind. It fails with a
	// *query.NotFoundError, or an *query.ErasedError.
	Event(ctx context.Context, at schemas.Position) (StoredEvent, error)
	// LogTopics lists the topics of the log.
	LogTopics(ctx context.Context) (LogTopics, error)
	// LogPage reads consecutive events of a partition. It fails with a *query.NotFoundError if there is
	// no such partition.
	LogPage(ctx context.Context, r LogRequest) (LogPage, error)
	// Answerer answers the questions about commands, code, runtime and evidence. Question.Ask is
	// the typed way to call it.
	question.Answerer
	// Export writes a code graph to w, in one of the formats of code.Export.
	Export(ctx context.Context, r code.ExportRequest, w io.Writer) error
	// Follow calls each with the commands as they become visible (commands.Follow). It ends with
	// ErrUnavailable when the node stops: the caller continues from the last Followed.Next.
	Follow(ctx context.Context, r commands.FollowRequest, each func(commands.Followed) error) error
	// Changes calls each when events that the context's principal may ask about have become visible:
	// at once with the topics it tells of, then with those in which something did. It ends with
	// ErrUnavailable when the node stops: the caller continues from the last Changed.Next.
	Changes(ctx context.Context, r ChangesRequest, each func(Changed) error) error
	// Scan writes the selected commands to w: as lines of JSON in order of time, oldest first, or
	// as Arrow in order of partition and offset.
	Scan(ctx context.Context, r ScanRequest, w io.Writer) error
	// Objects writes the agents' objects that the context's principal may read to w.
	Objects(ctx context.Context, r evidence.ExportRequest, w io.Writer) error
	Status(ctx context.Context, r StatusRequest) (Status, error)
	// Rebuild rebuilds projections from offset zero beside the live ones, then switches to the new
	// ones.
	Rebuild(ctx context.Context, r RebuildRequest, progress func(Progress)) (RebuildReport, error)
	// Verify replays the log into a scratch directory and compares the result with the live state.
	Verify(ctx context.Context, r VerifyRequest, progress func(Progress)) (VerifyReport, error)
	// Backup copies the whole log, as it is at one moment, into a folder on the server's machine.
	Backup(ctx context.Context, r BackupRequest, progress func(Progress)) (BackupReport, error)
	// Fsck checks every stored snapshot of the code graph.
	Fsck(ctx context.Context, r FsckRequest, progress func(Progress)) (FsckReport, error)
	// Grow adds partitions to a topic.
	Grow(ctx context.Context, r GrowRequest, progress func(Progress)) (GrowReport, error)
	// Forget permanently erases the contents of events.
	Forget(ctx context.Context, r ForgetRequest, progress func(Progress)) (ForgetReport, error)
	// Retain removes the oldest events of a topic from the log.
	Retain(ctx context.Context, r RetainRequest, progress func(Progress)) (RetainReport, error)
}

// ChangesRequest says what is known already.
type ChangesRequest struct {
	// From is the watermark up to which the caller has asked: what became visible since is reported
	// at once. Nil is now.
	From schemas.Watermark
	// Beat is the interval of calls without a change, zero for none.
	Beat time.Duration
}

// Changed tells in which topics events became visible.
type Changed struct {
	// Follows is set in the first call: the topics that this stream tells of. Of others the
	// principal may not ask, or not about all of it.
	Follows []string `json:"follows,omitempty"`
	Topics  []string `json:"topics,omitempty"`
	// Next is the watermark of this state.
	Next schemas.Watermark `json:"-"`
}

// Appended is the result of appending one event.
type Appended struct {
	ID       schemas.EventID  `json:"id" format:"uuid" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"The event's id: the producer's, or derived from the content."`
	Position schemas.Position `json:"position" doc:"The event's position in the log, where it is synced to disk."`
	// Duplicate reports that the log had this id before, so nothing was appended.
	Duplicate bool `json:"duplicate,omitempty" doc:"The log already had an event with this id; nothing was appended."`
	// Retired reports that the log had this id before and retention removed the event.
	Retired  bool `json:"retired,omitempty" doc:"Retention removed the event with this id, and nothing was appended. The position is that of another event removed at the same time; the event's own position is not kept."`
	Redacted int  `json:"redacted,omitempty" example:"1" doc:"The number of secrets that were replaced by [redacted:KIND]."`
}

// The formats of a scan.
const (
	FormatNDJSON = "ndjson"
	FormatArrow  = "arrow"
)

// ScanRequest selects commands and the format in which Scan writes them.
type ScanRequest struct {
	Format string
	// Filters select the commands.
	Filters commands.Filters
	// Limit is the maximum number of commands, 0 for no limit. It is not allowed with FormatArrow.
	Limit int
}
