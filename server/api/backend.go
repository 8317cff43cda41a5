package api

import (
	"context"
	"io"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
)

// Backend is what the API serves. A node is one, in the process; a Client is
// one, over HTTP; so a caller need not know which it holds.
type Backend interface {
	// Append redacts, stores and syncs events, and says where they stand. All are
	// checked before any is stored; what is wrong with one is an *EventError. An event without an id gets the one derived
	// from its content; one that is already there is not appended again, so that
	// after an outage, when some may have been stored, all may be sent again.
	Append(ctx context.Context, events []schemas.Event) ([]Appended, error)
	Find(ctx context.Context, r commands.FindRequest) (commands.FindResponse, error)
	// Show finds one command by its id, an unambiguous prefix of it, or its
	// position. It fails with a *query.NotFoundError or *query.AmbiguousError.
	Show(ctx context.Context, ref string) (commands.ShowResponse, error)
	// Why tells what led to a command. It fails as Show does, or with a
	// *query.RequestError or *query.NotVisibleError, as do those that follow.
	Why(ctx context.Context, r commands.WhyRequest) (commands.WhyResponse, error)
	// Stitch tells the narrative around a command.
	Stitch(ctx context.Context, r commands.StitchRequest) (commands.StitchResponse, error)
	// Diff aligns two narratives.
	Diff(ctx context.Context, r commands.DiffRequest) (commands.DiffResponse, error)
	// Insights tells what recurs.
	Insights(ctx context.Context, r commands.InsightsRequest) (commands.InsightsResponse, error)
	// Answerer answers the questions about code and about what runs, and those for
	// evidence: Question.Ask asks it with types.
	question.Answerer
	// Export writes a code graph to w, in one of the formats of code.Export.
	Export(ctx context.Context, r code.ExportRequest, w io.Writer) error
	// Follow hands commands to each as they become visible (commands.Follow). It ends
	// with ErrUnavailable when the node stops: go on from the last Followed.Next.
	Follow(ctx context.Context, r commands.FollowRequest, each func(commands.Followed) error) error
	// Scan writes the commands that a request selects to w: as lines of JSON
	// oldest first, as Arrow by partition and offset.
	Scan(ctx context.Context, r ScanRequest, w io.Writer) error
	// Objects writes agents' objects to w, on behalf of the context's principal.
	Objects(ctx context.Context, r evidence.ExportRequest, w io.Writer) error
	Status(ctx context.Context, r StatusRequest) (Status, error)
	// Rebuild makes projections anew from offset zero beside the live ones and
	// switches to them.
	Rebuild(ctx context.Context, r RebuildRequest, progress func(Progress)) (RebuildReport, error)
	// Verify replays the log into a scratch directory and compares.
	Verify(ctx context.Context, r VerifyRequest, progress func(Progress)) (VerifyReport, error)
	// Backup copies the log, whole and of one moment, into a folder of the machine.
	Backup(ctx context.Context, r BackupRequest, progress func(Progress)) (BackupReport, error)
	// Fsck checks every snapshot of the code graph as it is stored.
	Fsck(ctx context.Context, r FsckRequest, progress func(Progress)) (FsckReport, error)
	// Grow gives a topic more partitions.
	Grow(ctx context.Context, r GrowRequest, progress func(Progress)) (GrowReport, error)
	// Forget erases what events held, for good.
	Forget(ctx context.Context, r ForgetRequest, progress func(Progress)) (ForgetReport, error)
	// Retain gives up old spans.
	Retain(ctx context.Context, r RetainRequest, progress func(Progress)) (RetainReport, error)
}

// Appended says where an event stands.
type Appended struct {
	ID       schemas.EventID  `json:"id" format:"uuid" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"The event's id: the producer's, or derived from the content."`
	Position schemas.Position `json:"position" doc:"Where it stands in the log, synced to disk."`
	// Duplicate: the same id was there before, and nothing was appended.
	Duplicate bool `json:"duplicate,omitempty" doc:"The log had this id before; nothing was appended."`
	Redacted  int  `json:"redacted,omitempty" example:"1" doc:"How many secrets were replaced by [redacted:KIND]."`
}

// Formats of a scan.
const (
	FormatNDJSON = "ndjson"
	FormatArrow  = "arrow"
)

// ScanRequest selects intents.
type ScanRequest struct {
	Format string
	// Filters say which.
	Filters commands.Filters
	// Limit bounds the number, 0 for no bound; not with FormatArrow.
	Limit int
}
