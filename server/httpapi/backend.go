package httpapi

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
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
	Find(ctx context.Context, r query.FindRequest) (query.FindResponse, error)
	// Show finds one command by its id, an unambiguous prefix of it, or its
	// position. It fails with a *query.NotFoundError or *query.AmbiguousError.
	Show(ctx context.Context, ref string) (query.ShowResponse, error)
	// Why tells what led to a command. It fails as Show does, or with a
	// *query.RequestError or *query.NotVisibleError, as do those that follow.
	Why(ctx context.Context, r query.WhyRequest) (query.WhyResponse, error)
	// Stitch tells the narrative around a command.
	Stitch(ctx context.Context, r query.StitchRequest) (query.StitchResponse, error)
	// Diff aligns two narratives.
	Diff(ctx context.Context, r query.DiffRequest) (query.DiffResponse, error)
	// Insights tells what recurs.
	Insights(ctx context.Context, r query.InsightsRequest) (query.InsightsResponse, error)
	// Answerer answers the questions about code and about what runs, and those for
	// evidence: Question.Ask asks it with types.
	question.Answerer
	// Export writes a code graph to w, in one of the formats of code.Export.
	Export(ctx context.Context, r code.ExportRequest, w io.Writer) error
	// Follow hands commands to each as they become visible (query.Follow). It ends
	// with ErrUnavailable when the node stops: go on from the last Followed.Next.
	Follow(ctx context.Context, r query.FollowRequest, each func(query.Followed) error) error
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

// EventError is what is wrong with one of the events to be appended, and its place among
// them: the first is 0.
type EventError struct {
	Index, Of int
	Err       error
}

func (e *EventError) Error() string { return fmt.Sprintf("event %d of %d: %v", e.Index+1, e.Of, e.Err) }
func (e *EventError) Unwrap() error { return e.Err }

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
	Filters query.Filters
	// Limit bounds the number, 0 for no bound; not with FormatArrow.
	Limit int
}

// StatusRequest asks for the status.
type StatusRequest struct {
	// Roots computes every projection's root, which reads the whole state.
	Roots bool
	// Mark asks for the mark of the event at this position; nil for none.
	Mark *schemas.Position
}

// Status is how a node stands.
type Status struct {
	Version     string             `json:"version" example:"0.1.0" doc:"The program's version."`
	DataDir     string             `json:"data_dir" example:"/home/ada/.local/share/recount" doc:"The data directory."`
	DataID      string             `json:"data_id" example:"6a1f0c55d2e94b6f" doc:"The data directory's own id."`
	PID         int                `json:"pid" example:"4711" doc:"The process."`
	Roles       []string           `json:"roles" nullable:"false" doc:"What this process does."`
	Started     time.Time          `json:"started" doc:"Since when it runs."`
	Ready       bool               `json:"ready" doc:"Whether the projections have caught up with what the log held at the start."`
	Tokens      *TokensStatus      `json:"tokens,omitempty" doc:"The tokens file, where there is one."`
	Log         LogStatus          `json:"log" doc:"The log."`
	Spool       SpoolStatus        `json:"spool" doc:"Recorded commands on their way to the log."`
	Projections []ProjectionStatus `json:"projections" nullable:"false" doc:"The projections."`
	Intents     IntentStatus       `json:"intents" doc:"The commands in the projections."`
}

// TokensStatus is how the tokens file stands.
type TokensStatus struct {
	File     string   `json:"file" example:"/etc/recount/tokens.yaml" doc:"The file."`
	InForce  int      `json:"in_force" example:"3" doc:"Its entries whose tokens are admitted, or were until they expired."`
	Mistakes []string `json:"mistakes" nullable:"false" doc:"What is not in force, and why: an entry, or every one where the file cannot be read."`
}

// LogStatus is how the log stands.
type LogStatus struct {
	Kind     string            `json:"kind" enum:"embedded,external" example:"embedded" doc:"In this process, or brokers elsewhere."`
	Brokers  []string          `json:"brokers,omitempty" doc:"Where Kafka clients connect."`
	Ends     schemas.Watermark `json:"ends" example:"recount.commands/0:42" doc:"The next offset of each partition."`
	Rejected int64             `json:"rejected" example:"0" doc:"Events that can never be applied, in the rejected topic."`
	// Unread are partitions that no input of this process reads.
	Unread     []string   `json:"unread,omitempty" example:"recount.commands/7" doc:"Partitions that nobody reads: their events are not seen. For a few seconds after partitions were added that is as it should be."`
	Mark       *string    `json:"mark,omitempty" example:"6a1f0c55d2e94b6f0a1b2c3d4e5f6071" doc:"If asked for by mark: what tells the event at that position, and so all before it in its partition, from those of another log that has the same offsets, as one has that was restored from a copy; empty where there is none."`
	FollowsLog bool       `json:"follows_log" doc:"Whether this process projects."`
	Bytes      int64      `json:"bytes,omitempty" example:"9961472" doc:"What the embedded log takes of the disk, as du counts it."`
	SpansSince *time.Time `json:"spans_since,omitempty" doc:"Since when spans are known: what came before was given up by retention."`
	Error      string     `json:"error,omitempty" doc:"Why the log could not be asked."`
}

// SpoolStatus is how the spool of the data directory stands.
type SpoolStatus struct {
	Dir          string        `json:"dir" example:"/home/ada/.local/share/recount/spool" doc:"The folder."`
	Waiting      int           `json:"waiting" example:"0" doc:"Entries that are not in the log yet."`
	Fault        string        `json:"fault,omitempty" doc:"Why nothing can be written to it, or why it could not be drained."`
	DamagedBytes int64         `json:"damaged_bytes" example:"0" doc:"Bytes that could not be read, in its file damaged."`
	Refused      int           `json:"refused" example:"0" doc:"Entries that the log can never take, in its file refused."`
	Lost         int64         `json:"lost" example:"0" doc:"Entries that could not be written, since its file lost was made."`
	LastLost     *time.Time    `json:"last_lost,omitempty" doc:"When the last of them was."`
	Servers      []SpoolServer `json:"servers" nullable:"false" doc:"What waits to be sent to servers elsewhere."`
}

// SpoolServer is what waits for a server elsewhere.
type SpoolServer struct {
	URL     string `json:"url" example:"https://recount.example.com" doc:"The server."`
	Waiting int    `json:"waiting" example:"3" doc:"Entries that wait for a verb that asks it."`
}

// ProjectionStatus is how a projection stands.
type ProjectionStatus struct {
	Name       string            `json:"name" example:"segment" doc:"The projection."`
	Generation string            `json:"generation,omitempty" doc:"The folder of its live generation."`
	Watermark  schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"What it has applied."`
	Lag        int64             `json:"lag" example:"0" doc:"Events in the log that it has not applied."`
	Partitions []PartitionLag    `json:"partitions" nullable:"false" doc:"The lag by partition."`
	Root       *schemas.Hash     `json:"root,omitempty" doc:"The hash of its whole state, if asked for."`
	Bytes      int64             `json:"bytes,omitempty" example:"20971520" doc:"What it takes of the disk, as du counts it."`
	Segments   int               `json:"segments,omitempty" doc:"Sealed TBF files."`
	Shards     []VectorShard     `json:"shards,omitempty" doc:"What the vector index holds, by partition."`
}

// VectorShard is the vector index of one partition.
type VectorShard struct {
	Topic     string `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32  `json:"partition" example:"0" doc:"The partition."`
	Commands  int    `json:"commands" example:"120344" doc:"Commands that have an embedding."`
	Vectors   int    `json:"vectors" example:"30112" doc:"Distinct vectors among them."`
	Files     int    `json:"files" example:"33" doc:"Sealed files."`
}

// PartitionLag is the lag of one partition.
type PartitionLag struct {
	Topic     string `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32  `json:"partition" example:"0" doc:"The partition."`
	Next      int64  `json:"next" example:"42" doc:"The next offset to apply."`
	End       int64  `json:"end" example:"42" doc:"The next offset of the log."`
	Lag       int64  `json:"lag" example:"0" doc:"The difference."`
}

// IntentStatus counts commands.
type IntentStatus struct {
	Count  int64      `json:"count" example:"120344" doc:"Commands."`
	Oldest *time.Time `json:"oldest,omitempty" doc:"The earliest start."`
	Newest *time.Time `json:"newest,omitempty" doc:"The latest start."`
	Recent Recent     `json:"recent" doc:"How the newest of them ended."`
	// Shards add up to Count.
	Shards []IntentShard `json:"shards" nullable:"false" doc:"The partitions that hold commands."`
}

// IntentShard is the commands of one partition.
type IntentShard struct {
	Topic     string    `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32     `json:"partition" example:"0" doc:"The partition."`
	Count     int64     `json:"count" example:"30086" doc:"Commands."`
	Hot       int64     `json:"hot" example:"1200" doc:"Those of them that are not sealed in a segment yet."`
	Segments  int       `json:"segments" example:"1" doc:"Sealed TBF files."`
	Bytes     int64     `json:"bytes" example:"21000000" doc:"Of the sealed files."`
	Oldest    time.Time `json:"oldest" doc:"The earliest start."`
	Newest    time.Time `json:"newest" doc:"The latest start."`
}

// RecentCommands is how many commands Recent looks at.
const RecentCommands = 10_000

// Recent is how the newest commands ended.
type Recent struct {
	Commands int64 `json:"commands" example:"10000" doc:"How many were looked at, 10,000 at most."`
	OK       int64 `json:"ok" example:"8901" doc:"Ended with exit code 0."`
	Failed   int64 `json:"failed" example:"670" doc:"Ended with another exit code."`
	Unknown  int64 `json:"unknown" example:"429" doc:"No outcome seen yet."`
	// FailureRate is of those whose outcome is known.
	FailureRate float64 `json:"failure_rate" example:"0.07" doc:"Failed, of those whose outcome is known."`
}

// RebuildRequest asks for projections made anew.
type RebuildRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Which; none means all."`
}

// VerifyRequest asks for a comparison of live and replayed state.
type VerifyRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Which; none means all."`
}

// BackupRequest asks for a backup.
type BackupRequest struct {
	Dir string `json:"dir" example:"/backup/recount" doc:"The folder, by its absolute path on the server's machine: a new one, an empty one, or one with a backup of this log, of which what is there already is kept."`
}

// BackupReport is what a backup holds.
type BackupReport struct {
	Dir    string            `json:"dir" example:"/backup/recount" doc:"Where it is."`
	Files  int               `json:"files" example:"17" doc:"Files of the log."`
	Bytes  int64             `json:"bytes" example:"52428800" doc:"Of all files."`
	Copied int64             `json:"copied" example:"1048576" doc:"Bytes that were not there from an earlier backup."`
	Ends   schemas.Watermark `json:"ends" example:"recount.commands/0:42" doc:"Everything before these offsets is in it."`
	Made   time.Time         `json:"made,omitzero" doc:"When it was made, of one that is read."`
	// Spooled says that commands wait in the spool, which is not part of it.
	Spooled   bool  `json:"spooled,omitempty" doc:"Whether recorded commands were waiting to be appended, which are not in it."`
	ElapsedMS int64 `json:"elapsed_ms" example:"850" doc:"How long it took."`
}

// GrowRequest asks for partitions to be added to a topic.
type GrowRequest struct {
	Topic      string `json:"topic" example:"commands" doc:"The topic, with or without its prefix."`
	Partitions int    `json:"partitions" minimum:"1" maximum:"1024" example:"8" doc:"How many it is to have in all."`
}

// GrowReport says how many there are.
type GrowReport struct {
	Topic      string `json:"topic" example:"recount.commands" doc:"The topic's full name."`
	Before     int    `json:"before" example:"4" doc:"How many partitions it had."`
	Partitions int    `json:"partitions" example:"8" doc:"How many it has."`
}

// FsckRequest asks for a check of the code graph.
type FsckRequest struct{}

// FsckReport is what a check of the code graph read, and what it found wrong.
type FsckReport struct {
	OK           bool              `json:"ok" doc:"Nothing is wrong."`
	Watermark    schemas.Watermark `json:"watermark" example:"recount.commits/0:42" doc:"What the projection had applied."`
	Repositories int               `json:"repositories" example:"2" doc:"Repositories."`
	Commits      int               `json:"commits" example:"3719" doc:"Commits, with a graph or without."`
	Snapshots    int               `json:"snapshots" example:"1000" doc:"Snapshots, whose hashes were computed anew."`
	Chunks       int               `json:"chunks" example:"12000" doc:"Chunks, whose hashes were computed anew, each once."`
	Entries      uint64            `json:"entries" example:"190000" doc:"Entries of maps in them."`
	Edges        uint64            `json:"edges" example:"60000" doc:"Edges of each repository's newest graph, whose ends and other direction were looked at."`
	Bytes        int64             `json:"bytes" example:"14000000" doc:"Bytes of the chunks, unpacked."`
	Unused       int               `json:"unused" example:"0" doc:"Chunks that no snapshot has: they do no harm, and gc removes them."`
	Faults       []FsckFault       `json:"faults" nullable:"false" doc:"What is wrong, the first 100."`
	More         bool              `json:"more,omitempty" doc:"The check ended at 100 faults: there may be more."`
	ElapsedMS    int64             `json:"elapsed_ms" example:"480" doc:"How long it took."`
}

// FsckFault is something that is wrong.
type FsckFault struct {
	Repo   string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit string `json:"commit,omitempty" doc:"The commit whose snapshot it was met in first."`
	Map    string `json:"map,omitempty" example:"out" doc:"The map of the snapshot."`
	Chunk  string `json:"chunk,omitempty" doc:"The chunk, by its hash."`
	What   string `json:"what" doc:"What is wrong."`
}

// Progress is how far a long work is.
type Progress struct {
	Phase   string `json:"phase" example:"replay" doc:"What is being done: replay, catch up, switch, compare."`
	Done    int64  `json:"done" example:"50000" doc:"Events done."`
	Total   int64  `json:"total" example:"100000" doc:"Events in all."`
	Elapsed int64  `json:"elapsed_ms" example:"1200" doc:"Milliseconds since the start."`
}

// RebuildReport is what a rebuild did.
type RebuildReport struct {
	Projections []RebuiltProjection `json:"projections" nullable:"false" doc:"What was rebuilt."`
	Events      int64               `json:"events" example:"100000" doc:"Events replayed."`
	ElapsedMS   int64               `json:"elapsed_ms" example:"2900" doc:"How long it took."`
	PerSecond   float64             `json:"per_second" example:"34000" doc:"Events per second."`
}

// RebuiltProjection is one projection made anew.
type RebuiltProjection struct {
	Name       string            `json:"name" example:"segment" doc:"The projection."`
	Generation string            `json:"generation" doc:"The folder of the new generation."`
	Watermark  schemas.Watermark `json:"watermark" doc:"Where it stood at the switch."`
}

// VerifyReport is what verify found.
type VerifyReport struct {
	OK bool `json:"ok" doc:"Whether live and replayed state are equal, and every partition is read."`
	// Unread: events in these are neither live nor replayed.
	Unread      []string             `json:"unread,omitempty" example:"recount.commands/7" doc:"Partitions that nobody reads: their events are in neither."`
	Projections []VerifiedProjection `json:"projections" nullable:"false" doc:"Each projection compared."`
	Events      int64                `json:"events" example:"100000" doc:"Events replayed."`
	Erased      int                  `json:"erased,omitempty" example:"3" doc:"Events that were erased: their places are passed over by both."`
	ElapsedMS   int64                `json:"elapsed_ms" example:"2900" doc:"How long it took."`
}

// VerifiedProjection is one projection compared.
type VerifiedProjection struct {
	Name      string            `json:"name" example:"segment" doc:"The projection."`
	Watermark schemas.Watermark `json:"watermark" doc:"Where live and replayed state were compared."`
	Live      schemas.Hash      `json:"live_root" doc:"The root of the live state."`
	Replayed  schemas.Hash      `json:"replayed_root" doc:"The root of the replayed state."`
	Keys      int64             `json:"keys" doc:"Keys compared."`
	Files     int               `json:"files" doc:"Sealed files compared, byte for byte."`
	// Differences holds the first few; Differing counts all.
	Differences []Difference `json:"differences,omitempty" doc:"The first differences."`
	Differing   int64        `json:"differing" doc:"How many differences there are."`
	Error       string       `json:"error,omitempty" doc:"Why the live state could not be read."`
}

// Difference is one place where live and replayed state differ.
type Difference struct {
	// Kind: key_missing and file_missing are missing from the live state,
	// key_extra and file_extra are in the live state only.
	Kind     string `json:"kind" enum:"key_missing,key_extra,key_differs,file_missing,file_extra,file_differs" doc:"What differs."`
	Key      string `json:"key,omitempty" doc:"The key, quoted."`
	File     string `json:"file,omitempty" doc:"The file, relative to the projection's folder."`
	Byte     int64  `json:"byte" doc:"The first byte that differs."`
	Live     string `json:"live,omitempty" doc:"What the live state holds there, in hex."`
	Replayed string `json:"replayed,omitempty" doc:"What replaying the log gives, in hex."`
}
