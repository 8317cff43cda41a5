package ask

import (
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Replays counts how often a command was run again by replays, and how it fared.
type Replays struct {
	Times  int          `json:"times" example:"3" doc:"How often replays ran it again, of the latest 100 runs that reached it; a step whose result was there already does not count."`
	Worked int          `json:"worked" example:"2" doc:"How often it succeeded then."`
	Failed int          `json:"failed" example:"1" doc:"How often it failed then, also where it failed as recorded."`
	Latest []ReplayedAs `json:"latest" nullable:"false" doc:"The latest times, at most 3, the latest first."`
}

// ReplayedAs is one time that a replay ran a command again.
type ReplayedAs struct {
	Run       string           `json:"run" example:"r-7f3a91" doc:"The run's name."`
	Started   *time.Time       `json:"started,omitempty" doc:"When the run began."`
	Host      string           `json:"host,omitempty" example:"ci1" doc:"On which machine."`
	Directory string           `json:"directory,omitempty" example:"/home/bob/shop" doc:"Which directory the run could change."`
	Applied   bool             `json:"applied,omitempty" doc:"Whether what the run changed was taken over into that directory."`
	Step      int              `json:"step" example:"0" doc:"The number of the step, from 0."`
	State     string           `json:"state" enum:"unfinished,done,failed,stopped" example:"done" doc:"How the step ended; unfinished if no end is known. A command that failed as recorded is done, with its exit code."`
	ExitCode  *int32           `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration  int64            `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	Reason    string           `json:"reason,omitempty" example:"interrupted" doc:"Why it was stopped."`
	Command   string           `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran, if that differs from the recorded one."`
	Position  schemas.Position `json:"position" doc:"The event before it ran."`
}

// ReplayDiffRequest names a run to compare with what it replayed.
type ReplayDiffRequest struct {
	Run     string            `json:"run" minLength:"1" maxLength:"64" example:"r-7f3a91" doc:"The name of the run."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Normal checks the request. The error is a *query.RequestError.
func (r ReplayDiffRequest) Normal() (ReplayDiffRequest, error) {
	if r.Run == "" || len(r.Run) > 64 {
		return r, &query.RequestError{Field: "run", Value: r.Run, Reason: "want the name of a run, at most 64 bytes"}
	}
	return r, query.CheckWait(r.WaitMS)
}

// ReplayDiffResponse sets the steps of a run beside the commands that they replayed.
type ReplayDiffResponse struct {
	query.Basis
	Run string `json:"run" example:"r-7f3a91" doc:"The name of the run."`
	// Parted is the first step that behaved otherwise.
	Parted *int           `json:"parted,omitempty" example:"2" doc:"The number of the first step that behaved otherwise, from 0; absent if none did."`
	Steps  []ReplayedStep `json:"steps" nullable:"false" doc:"The steps that the run reached, in order."`
}

// ReplayedStep is a step of a run beside the command that it replayed.
type ReplayedStep struct {
	Step     int     `json:"step" example:"0" doc:"Its number in the plan, from 0."`
	State    string  `json:"state" enum:"unfinished,done,failed,satisfied,skipped,stopped" example:"done" doc:"How the step ended."`
	Original *Intent `json:"original,omitempty" doc:"The recorded command; absent if it is not known any more."`
	Command  string  `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran again."`
	ExitCode *int32  `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration int64   `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	// Files are compared for steps that ran.
	Files []ReplayedFile `json:"files,omitempty" doc:"The files that either of them is known to have written, for a step that ran."`
	// Differs lists what is different.
	Differs []ReplayDifference `json:"differs,omitempty" doc:"What it did otherwise than the recorded command."`
}

// ReplayDifference is one thing that a step did otherwise.
type ReplayDifference struct {
	What string `json:"what" enum:"exit,output,state,file,time" example:"exit" doc:"exit: the exit code; output: the first line that differs after paths are mapped and values such as times, process numbers and hashes are taken out; state: it did not come to its end, or was not run although it was not done; file: another content, or none; time: it took at least 4 times as long or as short, and 5 seconds more or less. A time alone does not part them."`
	A    string `json:"a" example:"0" doc:"What was recorded."`
	B    string `json:"b" example:"2" doc:"What the replay did."`
}

// States of a file after a replay, compared with the recorded run.
const (
	FileSame      = "same"
	FileOther     = "other"
	FileMissing   = "missing"
	FileUnchanged = "unchanged"
	FileUnknown   = "unknown"
	FileOnly      = "only"
)

// ReplayedFile is a file that a command wrote, or its replay did.
type ReplayedFile struct {
	Path  string `json:"path" example:"/home/bob/shop/shop" doc:"Its path in the replay, after mapping."`
	State string `json:"state" enum:"same,other,missing,unchanged,unknown,only" example:"same" doc:"same: both left this content, or removed it; other: another content; missing: the replay left no such file; unchanged: the path is not mapped and the replay left it as it was, so it may have written what was there; unknown: a content was not recorded; only: the recorded command is not known to have written it."`
	Was   string `json:"was,omitempty" example:"4 bytes, 3fa1b2c4" doc:"What was recorded."`
	Now   string `json:"now,omitempty" example:"removed" doc:"What the replay left."`
}
