// Package answer has what replays are asked and what they answer. A client needs these types but not the
// projection that they are made from, so this package does not import it (decision 108). Package replays
// has them under the same names.
package answer

import (
	"encoding/json"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Request asks for one run with its steps, or for the latest runs.
type Request struct {
	Run       string            `json:"run,omitempty" maxLength:"64" example:"r-7f3a91" doc:"The name of a run: it is answered with its steps."`
	Plan      bool              `json:"plan,omitempty" example:"true" doc:"For a run: with its plan, as it was recorded."`
	Command   string            `json:"command,omitempty" maxLength:"64" format:"uuid" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"Only runs that replayed this command: its event's id."`
	Workspace string            `json:"workspace,omitempty" maxLength:"4096" example:"/src/shop" doc:"Only runs of this workspace."`
	Limit     int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" example:"10" doc:"Maximum number of runs, the latest first."`
	AtLeast   schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS    int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Response lists runs.
type Response struct {
	query.Basis
	Runs []Run `json:"runs" nullable:"false" doc:"The runs, the latest first."`
}

// States of runs and steps.
const (
	StateUnfinished = "unfinished"
	StateDone       = "done"
	StateFailed     = "failed"
	StateSatisfied  = "satisfied"
	StateSkipped    = "skipped"
	StateStopped    = "stopped"
)

// ReasonOmitted is the reason of a step that was left out as was asked: it counts as done.
const ReasonOmitted = "left out, as was asked"

// Run is one execution of a plan.
type Run struct {
	Run       string           `json:"run" example:"r-7f3a91" doc:"Its name."`
	State     string           `json:"state" enum:"unfinished,done,failed,stopped" example:"done" doc:"How it ended; unfinished if it has not, or was killed."`
	Reason    string           `json:"reason,omitempty" example:"step 2 failed with exit code 2" doc:"Why it ended early."`
	Goal      string           `json:"goal,omitempty" example:"make install" doc:"What its plan is for."`
	PlanID    string           `json:"plan_id,omitempty" doc:"The plan's hash."`
	Workspace string           `json:"workspace,omitempty" example:"/home/bob/shop" doc:"The workspace of the commands."`
	Directory string           `json:"directory,omitempty" example:"/home/bob/shop" doc:"Where the steps ran."`
	Isolation string           `json:"isolation,omitempty" example:"sandbox" doc:"What separated them from the machine."`
	Network   bool             `json:"network,omitempty" doc:"They could use the network."`
	User      string           `json:"user,omitempty" example:"bob" doc:"The user who ran it."`
	Host      string           `json:"host,omitempty" example:"build-1" doc:"The machine."`
	Author    string           `json:"author,omitempty" example:"bob" doc:"The person or agent who ran it."`
	Started   time.Time        `json:"started,omitzero" doc:"When it began."`
	Ended     time.Time        `json:"ended,omitzero" doc:"When it ended."`
	Counts    Counts           `json:"counts" doc:"The numbers of steps and of changed files."`
	Applied   bool             `json:"applied" example:"false" doc:"Whether the changes were brought out of the sandbox."`
	Position  schemas.Position `json:"position,omitzero" doc:"The event that began it."`
	End       schemas.Position `json:"end,omitzero" doc:"The event that ended it."`
	Steps     []Step           `json:"steps,omitempty" doc:"For one run: the steps that were reached, in order."`
	Plan      json.RawMessage  `json:"plan,omitempty" doc:"On request: the plan. Absent if it was erased."`
}

// Counts are the numbers of a run.
type Counts struct {
	Steps     int `json:"steps" example:"3" doc:"Steps of the plan."`
	Done      int `json:"done" example:"2" doc:"Steps that ran and succeeded."`
	Failed    int `json:"failed" example:"0" doc:"Steps that ran and failed."`
	Satisfied int `json:"satisfied" example:"1" doc:"Steps that did not run, because what they make is there."`
	Skipped   int `json:"skipped" example:"0" doc:"Steps that were skipped."`
	Stopped   int `json:"stopped" example:"0" doc:"Steps that were stopped."`
	Underway  int `json:"under_way" example:"0" doc:"Steps that began and of whose end nothing is known."`
	Added     int `json:"added" example:"4" doc:"Files that the run added."`
	Changed   int `json:"changed" example:"1" doc:"Files that it changed."`
	Removed   int `json:"removed" example:"0" doc:"Files that it removed."`
}

// Step is one step of a run: its last attempt.
type Step struct {
	Step     int              `json:"step" example:"0" doc:"Its number in the plan, from 0."`
	State    string           `json:"state" enum:"unfinished,done,failed,satisfied,skipped,stopped" example:"done" doc:"How it ended; unfinished if it began and no end is known."`
	Attempt  int              `json:"attempt" example:"1" doc:"The number of the attempt."`
	Intent   string           `json:"intent,omitempty" format:"uuid" doc:"The recorded command that it replays."`
	Command  string           `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran; empty if it did not run."`
	Cwd      string           `json:"cwd,omitempty" example:"/home/bob/shop" doc:"The directory it ran in."`
	ExitCode *int32           `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration time.Duration    `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	Reason   string           `json:"reason,omitempty" example:"/home/bob/shop/shop has the recorded content" doc:"Why it was skipped or stopped."`
	Output   string           `json:"output_tail,omitempty" doc:"The end of its output."`
	Files    []File           `json:"files,omitempty" doc:"What it wrote."`
	Began    schemas.Position `json:"began,omitzero" doc:"The event before it ran."`
	End      schemas.Position `json:"end,omitzero" doc:"The event after it."`
}

// File is a file that a step wrote.
type File struct {
	Path    string `json:"path" example:"/home/bob/shop/shop" doc:"Its path."`
	SHA256  string `json:"sha256,omitempty" doc:"The hash of its content, in hex."`
	Size    int64  `json:"size" example:"4" doc:"Its size in bytes."`
	Removed bool   `json:"removed,omitempty" doc:"Whether it was removed."`
}

// Replayed is one time that a command was replayed: its outcome in a run.
type Replayed struct {
	Run       string     `json:"run" example:"r-7f3a91" doc:"The run's name."`
	Started   *time.Time `json:"started,omitempty" doc:"When the run began."`
	Host      string     `json:"host,omitempty" example:"ci1" doc:"On which machine it ran."`
	Directory string     `json:"directory,omitempty" example:"/home/bob/shop" doc:"Which directory the run could change."`
	Applied   bool       `json:"applied,omitempty" doc:"Whether what the run changed was taken over into that directory."`
	Step
}

// Ran reports whether the command was run, and not found done already or passed over.
func (r Replayed) Ran() bool {
	return r.State != StateSatisfied && r.State != StateSkipped
}

// Worked reports whether the command was run and succeeded. A command that failed as the recorded one
// did is a step that is done, and did not work.
func (r Replayed) Worked() bool {
	return r.State == StateDone && (r.ExitCode == nil || *r.ExitCode == 0)
}

// Failed reports whether the command was run and failed.
func (r Replayed) Failed() bool {
	return r.State == StateFailed || r.State == StateDone && !r.Worked()
}
