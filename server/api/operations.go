package api

import (
	"time"

	"github.com/recountdb/recount/internal/progress"
	"github.com/recountdb/recount/schemas"
)

// RebuildRequest asks to rebuild projections.
type RebuildRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Names of projections; none means all."`
}

// VerifyRequest asks to compare live and replayed state.
type VerifyRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Names of projections; none means all."`
}

// BackupRequest asks for a copy of the log in a folder.
type BackupRequest struct {
	Dir string `json:"dir" example:"/backup/recount" doc:"The absolute path of the folder on the server's machine: a new or empty folder, or one with an earlier backup of this log, to which only what is missing is added."`
}

// BackupReport describes a backup.
type BackupReport struct {
	Dir    string            `json:"dir" example:"/backup/recount" doc:"The folder of the backup."`
	Files  int               `json:"files" example:"17" doc:"Files of the log."`
	Bytes  int64             `json:"bytes" example:"52428800" doc:"Size of all files in bytes."`
	Copied int64             `json:"copied" example:"1048576" doc:"Bytes copied now, not by an earlier backup."`
	Ends   schemas.Watermark `json:"ends" example:"recount.commands/0:42" doc:"The backup holds everything before these offsets."`
	Made   time.Time         `json:"made,omitzero" doc:"When the backup was made; only set when an existing backup is read."`
	// Spooled reports that commands wait in the spool, which is not part of the backup.
	Spooled   bool  `json:"spooled,omitempty" doc:"Whether recorded commands were still waiting in the spool; the backup does not hold them."`
	ElapsedMS int64 `json:"elapsed_ms" example:"850" doc:"Duration in milliseconds."`
}

// GrowRequest asks to add partitions to a topic.
type GrowRequest struct {
	Topic      string `json:"topic" example:"commands" doc:"The topic, with or without its prefix."`
	Partitions int    `json:"partitions" minimum:"1" maximum:"1024" example:"8" doc:"The new total number of partitions."`
}

// GrowReport reports the number of partitions before and after.
type GrowReport struct {
	Topic      string `json:"topic" example:"recount.commands" doc:"The topic's full name."`
	Before     int    `json:"before" example:"4" doc:"The number of partitions before."`
	Partitions int    `json:"partitions" example:"8" doc:"The number of partitions now."`
}

// FsckRequest asks to check the code graph.
type FsckRequest struct{}

// FsckReport reports what a check of the code graph read and which faults it found.
type FsckReport struct {
	OK           bool              `json:"ok" doc:"Nothing is wrong."`
	Watermark    schemas.Watermark `json:"watermark" example:"recount.commits/0:42" doc:"The offsets that the projection had applied."`
	Repositories int               `json:"repositories" example:"2" doc:"Repositories."`
	Commits      int               `json:"commits" example:"3719" doc:"Commits, with or without a graph."`
	Snapshots    int               `json:"snapshots" example:"1000" doc:"Snapshots; each one's hash was recomputed."`
	Chunks       int               `json:"chunks" example:"12000" doc:"Chunks; each one's hash was recomputed once."`
	Entries      uint64            `json:"entries" example:"190000" doc:"Map entries in those chunks."`
	Edges        uint64            `json:"edges" example:"60000" doc:"Edges of each repository's newest graph; their ends and reverse edges were checked."`
	Bytes        int64             `json:"bytes" example:"14000000" doc:"Uncompressed size of the chunks in bytes."`
	Unused       int               `json:"unused" example:"0" doc:"Chunks that no snapshot refers to. They are harmless, and gc removes them."`
	Faults       []FsckFault       `json:"faults" nullable:"false" doc:"The first 100 faults."`
	More         bool              `json:"more,omitempty" doc:"The check stopped at 100 faults; there may be more."`
	ElapsedMS    int64             `json:"elapsed_ms" example:"480" doc:"Duration in milliseconds."`
}

// FsckFault is one fault in the stored code graph.
type FsckFault struct {
	Repo   string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit string `json:"commit,omitempty" doc:"The commit in whose snapshot the fault was found first."`
	Map    string `json:"map,omitempty" example:"out" doc:"The map of the snapshot."`
	Chunk  string `json:"chunk,omitempty" doc:"The chunk, by its hash."`
	What   string `json:"what" doc:"What is wrong."`
}

// Progress is the progress of a long-running operation.
type Progress = progress.Progress

// RebuildReport is the result of a rebuild.
type RebuildReport struct {
	Projections []RebuiltProjection `json:"projections" nullable:"false" doc:"The projections that were rebuilt."`
	Events      int64               `json:"events" example:"100000" doc:"Events replayed."`
	ElapsedMS   int64               `json:"elapsed_ms" example:"2900" doc:"Duration in milliseconds."`
	PerSecond   float64             `json:"per_second" example:"34000" doc:"Events per second."`
}

// RebuiltProjection is one rebuilt projection.
type RebuiltProjection struct {
	Name       string            `json:"name" example:"segment" doc:"The projection."`
	Generation string            `json:"generation" doc:"The folder of the new generation."`
	Watermark  schemas.Watermark `json:"watermark" doc:"The watermark at which the new generation went live."`
}

// VerifyReport is the result of a verification.
type VerifyReport struct {
	OK bool `json:"ok" doc:"True if live and replayed state are equal and every partition is read by some process."`
	// Unread lists the partitions whose events are in neither the live nor the replayed state.
	Unread      []string             `json:"unread,omitempty" example:"recount.commands/7" doc:"Partitions that no process reads: neither state holds their events."`
	Projections []VerifiedProjection `json:"projections" nullable:"false" doc:"Each projection compared."`
	Events      int64                `json:"events" example:"100000" doc:"Events replayed."`
	Erased      int                  `json:"erased,omitempty" example:"3" doc:"Erased events: both states skip their offsets."`
	ElapsedMS   int64                `json:"elapsed_ms" example:"2900" doc:"Duration in milliseconds."`
}

// VerifiedProjection is the comparison of one projection.
type VerifiedProjection struct {
	Name      string            `json:"name" example:"segment" doc:"The projection."`
	Watermark schemas.Watermark `json:"watermark" doc:"The watermark at which live and replayed state were compared."`
	Live      schemas.Hash      `json:"live_root" doc:"The root of the live state."`
	Replayed  schemas.Hash      `json:"replayed_root" doc:"The root of the replayed state."`
	Keys      int64             `json:"keys" doc:"Keys compared."`
	Files     int               `json:"files" doc:"Sealed files compared, byte for byte."`
	// Differences holds the first few; Differing counts all.
	Differences []Difference `json:"differences,omitempty" doc:"The first differences."`
	Differing   int64        `json:"differing" doc:"Total number of differences."`
	Error       string       `json:"error,omitempty" doc:"Why the live state could not be read."`
}

// Difference is one place where live and replayed state differ.
type Difference struct {
	// Kind says what differs. key_missing and file_missing: only the replayed state has it;
	// key_extra and file_extra: only the live state has it.
	Kind     string `json:"kind" enum:"key_missing,key_extra,key_differs,file_missing,file_extra,file_differs" doc:"What differs."`
	Key      string `json:"key,omitempty" doc:"The key, quoted."`
	File     string `json:"file,omitempty" doc:"The file, relative to the projection's folder."`
	Byte     int64  `json:"byte" doc:"Offset of the first byte that differs."`
	Live     string `json:"live,omitempty" doc:"The bytes of the live state there, in hex."`
	Replayed string `json:"replayed,omitempty" doc:"The bytes of the replayed state there, in hex."`
}
