package run

import (
	"context"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// Journal writes down what a run does. Each call returns only when that is durable. Ended may be
// called by several goroutines at once, and so may Started.
type Journal interface {
	// Planned is called before anything runs, also by a resumed run.
	Planned(ctx context.Context, p Planned) error
	Started(ctx context.Context, s Started) error
	Ended(ctx context.Context, o Outcome) error
	// Done is called when the run has come to its end, and not when it was killed.
	Done(ctx context.Context, r Report) error
}

// Planned is what a run is about to do.
type Planned struct {
	Run       string // its id
	Resumes   bool   // it goes on with an earlier one of the same id
	Plan      *replay.Plan
	Dir       string // the working directory whose view the steps change
	Isolation string // sandbox or none
	Network   bool
}

// Started says that a step is about to begin.
type Started struct {
	Run       string
	Step      int
	Intent    schemas.EventID
	Attempt   int // from 1 in this run
	Number    int // of the journal's entries about the step, from 1, also over resumed runs
	Command   string
	Dir       string
	Isolation string
	At        time.Time
}

// Status is how a step came out.
type Status string

const (
	Done    Status = "done"    // it ran and did as the recorded run did
	Skipped Status = "skipped" // its postconditions held, or an earlier run did it
	Failed  Status = "failed"
	Refused Status = "refused" // a question about it was not answered with yes
	Blocked Status = "blocked" // a step that it needs is not done
	// Terminal says that the step needs a terminal, which a replay does not have.
	Terminal Status = "terminal"
	// Omitted says that the caller asked to go on without the step, as if it were done.
	Omitted Status = "omitted"
	Stopped Status = "stopped" // the run was stopped while it ran
)

// Fine reports whether a step that needs this one may run, and a run is complete with it.
func (s Status) Fine() bool { return s == Done || s == Skipped || s == Omitted }

// Outcome is how one attempt of a step, or a step that was not run, came out.
type Outcome struct {
	Run       string          `json:"run"`
	Step      int             `json:"step"`
	Intent    schemas.EventID `json:"intent"`
	Attempt   int             `json:"attempt,omitempty"` // 0 if it was not run
	Number    int             `json:"number"`            // as in Started
	Command   string          `json:"command"`
	Dir       string          `json:"dir,omitempty"`
	Isolation string          `json:"isolation"`
	Status    Status          `json:"status"`
	// Reason says in a sentence why the status is what it is; empty for one that is done, but for ReasonAgain.
	Reason string `json:"reason,omitempty"`
	// Checks are the postconditions that held, for a step that was skipped.
	Checks   []string      `json:"checks,omitempty"`
	Exit     int           `json:"exit_code"`
	At       time.Time     `json:"at"` // when it ended
	Took     time.Duration `json:"took_ns"`
	Output   string        `json:"output,omitempty"`  // its end, at most 8 KiB
	Dropped  int64         `json:"dropped,omitempty"` // bytes of output before that
	TimedOut bool          `json:"timed_out,omitempty"`
	// Files are what the step wrote and removed, as far as that is known, at most 1000.
	Files     []File `json:"files,omitempty"`
	MoreFiles int    `json:"more_files,omitempty"` // how many are left out
	// Last is false for an attempt after which another one follows.
	Last bool `json:"last"`
	// Before is true for a step that the resumed run did.
	Before bool `json:"before,omitempty"`
}

// File is a path that a step changed.
type File struct {
	Path string `json:"path"` // absolute
	Kind string `json:"kind"` // added, changed, removed
	Hash string `json:"hash,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// Report is how a run came out.
type Report struct {
	Run    string `json:"run"`
	Plan   string `json:"plan"`
	Status string `json:"status"` // complete, incomplete (a step is not done), stopped
	// Steps are the last outcomes, one for each step that was come to, in the order of the plan.
	Steps  []Outcome      `json:"steps"`
	Counts map[Status]int `json:"counts"`
	Took   time.Duration  `json:"took_ns"`
}

// Past is what the journal of a run that was killed or stopped says.
type Past struct {
	// Ended holds the last outcome of each step that ended.
	Ended map[int]Outcome
	// Open holds the steps that started and did not end.
	Open map[int]bool
	// Numbers holds the highest Number of each step.
	Numbers map[int]int
}
