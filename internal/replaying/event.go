package replaying

import (
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
)

// Kinds of events.
const (
	EventRun    = "run"    // the run begins
	EventStart  = "start"  // an attempt at a step begins
	EventOutput = "output" // a step printed something
	EventEnd    = "end"    // an attempt at a step, or a step that was not run, came to its end
	EventDone   = "done"   // the run came to its end
)

// Event is progress.
type Event struct {
	Event string `json:"event" enum:"run,start,output,end,done" example:"end" doc:"run: the run begins; start: an attempt at a step begins; output: a step printed something; end: an attempt ended, or a step was not run; done: the run came to its end."`
	Run   string `json:"run" example:"r-7f3a91c2" doc:"The run's name."`
	// Steps, Isolation, Kernel, Notes and Directory are those of EventRun.
	Steps     int             `json:"steps,omitempty" example:"4" doc:"How many steps the plan has; of run."`
	Isolation string          `json:"isolation,omitempty" example:"sandbox" doc:"What separates the steps from the machine; of run."`
	Kernel    *sandbox.Report `json:"kernel,omitempty" doc:"What the kernel gives for that; of run."`
	Notes     []string        `json:"notes,omitempty" doc:"What is otherwise here than elsewhere; of run."`
	Directory string          `json:"directory,omitempty" example:"/home/bob/app" doc:"The directory that the steps may change; of run."`
	// Step, Command, Attempt, Output and Outcome are those of the steps.
	Step    *int         `json:"step,omitempty" example:"0" doc:"The step's number in the plan, from 0."`
	Command string       `json:"command,omitempty" example:"make -C /home/bob/app" doc:"The command that runs; of start."`
	Attempt int          `json:"attempt,omitempty" example:"1" doc:"The number of the attempt, from 1; absent if the step was not run."`
	Output  string       `json:"output,omitempty" example:"cc -c main.c" doc:"What the step printed; of output."`
	Outcome *run.Outcome `json:"outcome,omitempty" doc:"How the attempt came out; of end."`
	Failure *Failure     `json:"failure,omitempty" doc:"For the last attempt at a step that failed: what the log knows about it; of end."`
	// Report, Changes, Differs, Applied, Kept and Partly are those of EventDone.
	Report  *run.Report      `json:"report,omitempty" doc:"How the run came out; of done."`
	Changes []sandbox.Change `json:"changes,omitempty" doc:"The difference that the run made in the directory; of done."`
	Differs []Difference     `json:"differs,omitempty" doc:"Files that a complete run left otherwise than the recorder saw them at the end of the narrative; of done. Where one is missing, or there though it was not, the run is kept, and resuming it applies it."`
	Applied *bool            `json:"applied,omitempty" example:"false" doc:"Whether the changes were made in the real directory; of done."`
	Kept    *bool            `json:"kept,omitempty" example:"true" doc:"Whether what was written can be applied by resuming the run; of done."`
	Partly  bool             `json:"partly,omitempty" example:"false" doc:"Whether making the changes began and did not end, so that part of them may be in the real directory; of done. Applying again goes on."`
}

// event turns progress of package run into a value.
func event(name string, e run.Event) Event {
	step := e.Step.Index
	out := Event{Event: e.Kind, Run: name, Step: &step, Attempt: e.Attempt, Outcome: e.Outcome, Output: string(e.Output)}
	if e.Kind == EventStart {
		out.Command = e.Step.Command
	}
	return out
}
