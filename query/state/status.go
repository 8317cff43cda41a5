// Package state has the types of the question how a node stands (server/api has them under the same
// names). It imports nothing that answers, so that the small program can print an answer
// (decision 128).
package state

import (
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// StatusRequest asks for the status.
type StatusRequest struct {
	// Roots asks for every projection's root hash, which requires reading the whole state.
	Roots bool
	// Mark asks for the mark of the event at this position; nil asks for none.
	Mark *schemas.Position
}

// Status is the state of a node.
type Status struct {
	Version     string             `json:"version" example:"0.1.0" doc:"The program's version."`
	DataDir     string             `json:"data_dir" example:"/home/ada/.local/share/recount" doc:"The data directory."`
	DataID      string             `json:"data_id" example:"6a1f0c55d2e94b6f" doc:"The data directory's own id."`
	PID         int                `json:"pid" example:"4711" doc:"The process id."`
	Roles       []string           `json:"roles" nullable:"false" doc:"The roles of this process."`
	Started     time.Time          `json:"started" doc:"When the process started."`
	Ready       bool               `json:"ready" doc:"Whether the projections have applied everything that the log held at the start."`
	Tokens      *TokensStatus      `json:"tokens,omitempty" doc:"The tokens file, if there is one."`
	Log         LogStatus          `json:"log" doc:"The log."`
	Erasing     *ErasingStatus     `json:"erasing,omitempty" doc:"The erasure that is in progress, if there is one."`
	Spool       SpoolStatus        `json:"spool" doc:"Recorded commands that are waiting to be appended to the log."`
	Watch       []WatchStatus      `json:"watch,omitempty" doc:"The repositories whose commits this process imports."`
	Projections []ProjectionStatus `json:"projections" nullable:"false" doc:"The projections."`
	Intents     IntentStatus       `json:"intents" doc:"The commands in the projections."`
}

// Unseen reports whether questions do not see all commands below w yet: a server that has just started
// answers before its projections have caught up with the log.
func (s Status) Unseen(w schemas.Watermark) bool {
	for _, p := range s.Projections {
		for _, l := range p.Partitions {
			if strings.HasSuffix(l.Topic, schemas.TopicCommands) && l.Next < w[schemas.TopicPartition{Topic: l.Topic, Partition: l.Partition}] {
				return true
			}
		}
	}
	return false
}

// WatchStatus is the state of a repository whose commits the server imports as they are made.
type WatchStatus struct {
	Path       string     `json:"path" example:"/home/ada/src/shop" doc:"Its directory."`
	Repository string     `json:"repository,omitempty" example:"example.org/acme/shop" doc:"Its name; absent before the first import."`
	Synced     *time.Time `json:"synced,omitempty" doc:"When everything in it was last imported."`
	Commits    int64      `json:"commits" example:"3" doc:"The commits that were imported since the start."`
	Error      string     `json:"error,omitempty" doc:"Why it is not imported at present; it is tried again."`
}

// ErasingStatus is the progress of an erasure whose events are already hidden from answers.
type ErasingStatus struct {
	Events int       `json:"events" example:"1" doc:"The number of events to erase."`
	Since  time.Time `json:"since" doc:"When it began."`
	Phase  string    `json:"phase" example:"replay" doc:"The current phase."`
	Done   int64     `json:"done" example:"71000" doc:"The part of this phase that is done, in events."`
	Total  int64     `json:"total" example:"100000" doc:"The whole of this phase, in events; 0 if that is not known."`
}

// TokensStatus is the state of the tokens file.
type TokensStatus struct {
	File     string   `json:"file" example:"/etc/recount/tokens.yaml" doc:"The file."`
	InForce  int      `json:"in_force" example:"3" doc:"The number of its entries without a mistake, including those that have expired."`
	Mistakes []string `json:"mistakes" nullable:"false" doc:"What is not in force, and why: an entry, or the whole file if it cannot be read."`
}

// LogStatus is the state of the log.
type LogStatus struct {
	Kind     string            `json:"kind" enum:"embedded,external" example:"embedded" doc:"embedded: the log is in this process. external: it is on other brokers."`
	Brokers  []string          `json:"brokers,omitempty" doc:"The addresses that Kafka clients connect to."`
	Ends     schemas.Watermark `json:"ends" example:"recount.commands/0:42" doc:"The next offset of each partition."`
	Rejected int64             `json:"rejected" example:"0" doc:"The number of events in the topic rejected: no projection can ever apply them."`
	// Unread lists the partitions that no input of this process reads.
	Unread []string `json:"unread,omitempty" example:"recount.commands/7" doc:"Partitions that no process reads: their events are not seen. This is normal for a few seconds after partitions were added."`
	Mark   *string  `json:"mark,omitempty" example:"6a1f0c55d2e94b6f0a1b2c3d4e5f6071" doc:"If the request has mark: a hash that identifies the event at that position. Another log with the same offsets, such as one restored from a copy, has a different mark there. Empty if there is no such event."`
	// Full tells why the embedded log refuses appends.
	Full       string     `json:"full,omitempty" example:"the disk is nearly full: 23 MiB free, 256 MiB required" doc:"Why the embedded log refuses appends at present."`
	FollowsLog bool       `json:"follows_log" doc:"Whether this process applies the log to projections."`
	Bytes      int64      `json:"bytes,omitempty" example:"9961472" doc:"Disk usage of the embedded log, as du counts it."`
	SpansSince *time.Time `json:"spans_since,omitempty" doc:"The time from which spans are complete: retention removed earlier ones and kept their hourly sums."`
	SumsSince  *time.Time `json:"sums_since,omitempty" doc:"The time from which sums of spans are complete, if an older version's retention removed earlier sums with their spans."`
	// CommandsSince and AgentsSince are as SpansSince; of these no sums stay.
	CommandsSince *time.Time `json:"commands_since,omitempty" doc:"The time from which commands are complete: retention removed those received earlier."`
	AgentsSince   *time.Time `json:"agents_since,omitempty" doc:"The time from which agents' events are complete: retention removed those received earlier."`
	Error         string     `json:"error,omitempty" doc:"Why the log could not be read."`
}

// SpoolStatus is the state of the spool in the data directory.
type SpoolStatus struct {
	Dir          string        `json:"dir" example:"/home/ada/.local/share/recount/spool" doc:"The folder."`
	Waiting      int           `json:"waiting" example:"0" doc:"Entries that are not in the log yet."`
	Fault        string        `json:"fault,omitempty" doc:"Why nothing can be written to the spool, or why it could not be drained."`
	DamagedBytes int64         `json:"damaged_bytes" example:"0" doc:"Unreadable bytes, moved to the file damaged."`
	Refused      int           `json:"refused" example:"0" doc:"Entries that the log can never accept, moved to the file refused."`
	Lost         int64         `json:"lost" example:"0" doc:"Entries that could not be written since the file lost was created."`
	LastLost     *time.Time    `json:"last_lost,omitempty" doc:"When the last entry was lost."`
	Servers      []SpoolServer `json:"servers" nullable:"false" doc:"Entries that are waiting to be sent to remote servers."`
}

// SpoolServer counts the spooled entries for one remote server.
type SpoolServer struct {
	URL     string `json:"url" example:"https://recount.example.com" doc:"The server."`
	Waiting int    `json:"waiting" example:"3" doc:"Entries that are sent when the next verb contacts the server."`
}

// ProjectionStatus is the state of a projection.
type ProjectionStatus struct {
	Name       string            `json:"name" example:"segment" doc:"The projection."`
	Generation string            `json:"generation,omitempty" doc:"The folder of its live generation."`
	Watermark  schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"The offsets below which it has applied everything."`
	Lag        int64             `json:"lag" example:"0" doc:"Events of the log that it has not applied yet."`
	Partitions []PartitionLag    `json:"partitions" nullable:"false" doc:"The lag by partition."`
	Root       *schemas.Hash     `json:"root,omitempty" doc:"The hash of its whole state, if roots was set."`
	Bytes      int64             `json:"bytes,omitempty" example:"20971520" doc:"Its disk usage, as du counts it."`
	Segments   int               `json:"segments,omitempty" doc:"Sealed TBF files."`
	Shards     []VectorShard     `json:"shards,omitempty" doc:"The contents of the vector index, by partition."`
}

// VectorShard is the vector index of one partition.
type VectorShard struct {
	Topic     string `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32  `json:"partition" example:"0" doc:"The partition."`
	Commands  int    `json:"commands" example:"120344" doc:"Commands that have an embedding."`
	Vectors   int    `json:"vectors" example:"30112" doc:"Distinct vectors among them."`
	Files     int    `json:"files" example:"33" doc:"Sealed files."`
}

// PartitionLag is the lag of a projection in one partition.
type PartitionLag struct {
	Topic     string `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32  `json:"partition" example:"0" doc:"The partition."`
	Next      int64  `json:"next" example:"42" doc:"The next offset to apply."`
	End       int64  `json:"end" example:"42" doc:"The next offset of the log."`
	Lag       int64  `json:"lag" example:"0" doc:"The number of events between the two."`
}

// IntentStatus counts the commands in the projections.
type IntentStatus struct {
	Count  int64      `json:"count" example:"120344" doc:"Commands."`
	Oldest *time.Time `json:"oldest,omitempty" doc:"The earliest start."`
	Newest *time.Time `json:"newest,omitempty" doc:"The latest start."`
	Recent Recent     `json:"recent" doc:"Outcomes of the newest commands."`
	// Shards has one entry per partition; their counts add up to Count.
	Shards []IntentShard `json:"shards" nullable:"false" doc:"The partitions that hold commands."`
}

// IntentShard counts the commands of one partition.
type IntentShard struct {
	Topic     string    `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32     `json:"partition" example:"0" doc:"The partition."`
	Count     int64     `json:"count" example:"30086" doc:"Commands."`
	Hot       int64     `json:"hot" example:"1200" doc:"Commands that are not sealed in a segment yet."`
	Segments  int       `json:"segments" example:"1" doc:"Sealed TBF files."`
	Bytes     int64     `json:"bytes" example:"21000000" doc:"Size of the sealed files in bytes."`
	Oldest    time.Time `json:"oldest" doc:"The earliest start."`
	Newest    time.Time `json:"newest" doc:"The latest start."`
}

// RecentCommands is the maximum number of commands that Recent counts.
const RecentCommands = 10_000

// Recent counts the newest commands by outcome.
type Recent struct {
	Commands int64 `json:"commands" example:"10000" doc:"The number of commands counted, at most 10,000."`
	OK       int64 `json:"ok" example:"8901" doc:"Ended with exit code 0, or with 1 where that answers no, as of grep."`
	Failed   int64 `json:"failed" example:"670" doc:"Ended with another exit code, and were not interrupted."`
	Unknown  int64 `json:"unknown" example:"429" doc:"No outcome seen yet, or interrupted."`
	// FailureRate is Failed / (OK + Failed).
	FailureRate float64 `json:"failure_rate" example:"0.07" doc:"Failed commands as a fraction of those whose outcome is known."`
}
