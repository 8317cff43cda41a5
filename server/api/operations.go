package api

import (
	"time"

	"github.com/recountdb/recount/schemas"
)

// RebuildRequest asks to rebuild projections.
type RebuildRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Which; none means all."`
}

// VerifyRequest asks to compare live and replayed state.
type VerifyRequest struct {
	Projections []string `json:"projections,omitempty" doc:"Which; none means all."`
}

// BackupRequest asks for a copy of the log in a folder.
type BackupRequest struct {
	Dir string `json:"dir" example:"/backup/recount" doc:"The folder, by its absolute path on the server's machine: a new one, an empty one, or one with a backup of this log, of which what is there already is kept."`
}

// BackupReport describes a backup.
type BackupReport struct {
	Dir    string            `json:"dir" example:"/backup/recount" doc:"Where it is."`
	Files  int               `json:"files" example:"17" doc:"Files of the log."`
	Bytes  int64             `json:"bytes" example:"52428800" doc:"Of all files."`
	Copied int64             `json:"copied" example:"1048576" doc:"Bytes that were not there from an earlier backup."`
	Ends   schemas.Watermark `json:"ends" example:"recount.commands/0:42" doc:"Everything before these offsets is in it."`
	Made   time.Time         `json:"made,omitzero" doc:"When it was made, of one that is read."`
	// Spooled reports that commands wait in the spool, which is not part of the backup.
	Spooled   bool  `json:"spooled,omitempty" doc:"Whether recorded commands were waiting to be appended, which are not in it."`
	ElapsedMS int64 `json:"elapsed_ms" example:"850" doc:"How long it took."`
}

// GrowRequest asks to add partitions to a topic.
type GrowRequest struct {
	Topic      string `json:"topic" example:"commands" doc:"The topic, with or without its prefix."`
	Partitions int    `json:"partitions" minimum:"1" maximum:"1024" example:"8" doc:"How many it is to have in all."`
}

// GrowReport reports the number of partitions before and after.
type GrowReport struct {
	Topic      string `json:"topic" example:"recount.commands" doc:"The topic's full name."`
	Before     int    `json:"before" example:"4" doc:"How many partitions it had."`
	Partitions int    `json:"partitions" example:"8" doc:"How many it has."`
}

// FsckRequest asks to check the code graph.
type FsckRequest struct{}

// FsckReport reports what a check of the code graph read and which faults it found.
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

// FsckFault is one fault in the stored code graph.
type FsckFault struct {
	Repo   string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit string `json:"commit,omitempty" doc:"The commit whose snapshot it was met in first."`
	Map    string `json:"map,omitempty" example:"out" doc:"The map of the snapshot."`
	Chunk  string `json:"chunk,omitempty" doc:"The chunk, by its hash."`
	What   string `json:"what" doc:"What is wrong."`
}

// Progress is the progress of a long-running operation.
type Progress struct {
	Phase   string `json:"phase" example:"replay" doc:"What is being done: replay, catch up, switch, compare."`
	Done    int64  `json:"done" example:"50000" doc:"Events done."`
	Total   int64  `json:"total" example:"100000" doc:"Events in all."`
	Elapsed int64  `json:"elapsed_ms" example:"1200" doc:"Milliseconds since the start."`
}

// RebuildReport is the result of a rebuild.
type RebuildReport struct {
	Projections []RebuiltProjection `json:"projections" nullable:"false" doc:"What was rebuilt."`
	Events      int64               `json:"events" example:"100000" doc:"Events replayed."`
	ElapsedMS   int64               `json:"elapsed_ms" example:"2900" doc:"How long it took."`
	PerSecond   float64             `json:"per_second" example:"34000" doc:"Events per second."`
}

// RebuiltProjection is one rebuilt projection.
type RebuiltProjection struct {
	Name       string            `json:"name" example:"segment" doc:"The projection."`
	Generation string            `json:"generation" doc:"The folder of the new generation."`
	Watermark  schemas.Watermark `json:"watermark" doc:"Where it stood at the switch."`
}

// VerifyReport is the result of a verification.
type VerifyReport struct {
	OK bool `json:"ok" doc:"Whether live and replayed state are equal, and every partition is read."`
	// Unread lists the partitions whose events are in neither the live nor the replayed state.
	Unread      []string             `json:"unread,omitempty" example:"recount.commands/7" doc:"Partitions that nobody reads: their events are in neither."`
	Projections []VerifiedProjection `json:"projections" nullable:"false" doc:"Each projection compared."`
	Events      int64                `json:"events" example:"100000" doc:"Events replayed."`
	Erased      int                  `json:"erased,omitempty" example:"3" doc:"Events that were erased: their places are passed over by both."`
	ElapsedMS   int64                `json:"elapsed_ms" example:"2900" doc:"How long it took."`
}

// VerifiedProjection is the comparison of one projection.
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
	// Kind says what differs. key_missing and file_missing: only the replayed state has it;
	// key_extra and file_extra: only the live state has it.
	Kind     string `json:"kind" enum:"key_missing,key_extra,key_differs,file_missing,file_extra,file_differs" doc:"What differs."`
	Key      string `json:"key,omitempty" doc:"The key, quoted."`
	File     string `json:"file,omitempty" doc:"The file, relative to the projection's folder."`
	Byte     int64  `json:"byte" doc:"The first byte that differs."`
	Live     string `json:"live,omitempty" doc:"What the live state holds there, in hex."`
	Replayed string `json:"replayed,omitempty" doc:"What replaying the log gives, in hex."`
}
