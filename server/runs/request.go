package runs

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
)

// Request asks for a new run.
type Request struct {
	Plan plan.Request `json:"plan" doc:"The plan that is run, as for POST /v1/replay/plan."`
	ID   string       `json:"plan_id,omitempty" maxLength:"64" example:"5f1d0c6e0b9d4c0f8a6d8f2a0e8f7c1b3d5a79e1c2b4d6f8a0b2c4d6e8f0a1b3" doc:"Run the plan only if this is its id: otherwise it is not the one that was looked at, and nothing is run."`
	Dir  string       `json:"dir,omitempty" maxLength:"4096" example:"/home/bob/app" doc:"The directory on the server's machine that the steps may change. Default: the plan's workspace, or the directory that its steps have in common."`
	How
}

// Resumption asks to go on with a run.
type Resumption struct {
	Run string `json:"run" minLength:"1" maxLength:"64" example:"r-7f3a91c2" doc:"The run's name."`
	How
}

// How says how steps are run.
type How struct {
	Apply     bool              `json:"apply,omitempty" doc:"If all steps are done, make the changes in the real directory."`
	Isolation string            `json:"isolation,omitempty" maxLength:"300" example:"sandbox" doc:"What separates the steps from the machine, as --isolation of the verb; none is refused here. Default: sandbox. A run that goes on has the one that it began with."`
	Network   bool              `json:"network,omitempty" doc:"Let the steps use the network."`
	Agree     []string          `json:"agree,omitempty" maxItems:"1000" doc:"The hashes of the dangerous steps that may run, from agree of the plan's response. Each holds for one step as it is."`
	Unknown   []string          `json:"unknown,omitempty" maxItems:"1000" example:"[\"sometool\"]" doc:"With network: the programs that may run although nothing is known about them, from unknown of the plan's steps."`
	Yes       bool              `json:"yes,omitempty" doc:"Agree to steps that are not sure; never to dangerous ones, nor to programs about which nothing is known."`
	Ask       bool              `json:"ask,omitempty" doc:"Send what is to be decided as events named question, and wait for POST /v1/replay/answer. Without it, what was not agreed to is not run."`
	Values    map[string]string `json:"values,omitempty" doc:"The values that the plan asks for, by name. They are passed to the steps, and stored nowhere."`
	Without   []int             `json:"without,omitempty" maxItems:"1000" doc:"The indexes of steps to go on without, as if they were done: one that needs a terminal, or that was done by hand."`
	Jobs      int               `json:"jobs,omitempty" minimum:"1" maximum:"64" default:"1" example:"2" doc:"How many steps that need nothing of each other run at once."`
	TimeoutMS int64             `json:"timeout_ms,omitempty" minimum:"0" example:"600000" doc:"End a step, and all that it started, after this time. Default: no limit."`
	Attempts  int               `json:"attempts,omitempty" minimum:"1" maximum:"100" default:"1" example:"3" doc:"How often a step is tried."`
	BackoffMS int64             `json:"backoff_ms,omitempty" minimum:"0" maximum:"3600000" default:"1000" example:"1000" doc:"The pause before a second attempt, doubled for each further one."`
	OnFailure string            `json:"on_failure,omitempty" enum:"abort,skip,ask" default:"abort" example:"skip" doc:"After the last attempt: begin nothing else; go on with what does not need the step; or ask, if ask is set."`
}

// check returns a *query.RequestError for what can't be asked for.
func (h How) check() error {
	switch {
	case sandbox.Isolation(h.Isolation) == sandbox.IsolationNone:
		return &query.RequestError{Field: "isolation", Value: h.Isolation, Reason: "without isolation steps run only from a terminal: recount replay --isolation none"}
	case h.Jobs < 0 || h.TimeoutMS < 0 || h.Attempts < 0 || h.BackoffMS < 0:
		return &query.RequestError{Field: "jobs", Value: h.Jobs, Reason: "jobs, timeout_ms, attempts and backoff_ms can't be negative"}
	case h.TimeoutMS > int64(maxTimeout/time.Millisecond):
		return &query.RequestError{Field: "timeout_ms", Value: h.TimeoutMS, Reason: fmt.Sprintf("want at most %d", maxTimeout/time.Millisecond)}
	case h.OnFailure != "" && !slices.Contains([]string{run.OnFailureAbort, run.OnFailureSkip, run.OnFailureAsk}, h.OnFailure):
		return &query.RequestError{Field: "on_failure", Value: h.OnFailure, Reason: "want abort, skip or ask"}
	}
	return nil
}

// maxTimeout is the longest time limit of a step.
const maxTimeout = 30 * 24 * time.Hour

// policy returns what happens when a step fails.
func (h How) policy() run.Policy {
	p := run.Policy{Attempts: h.Attempts, Backoff: time.Duration(h.BackoffMS) * time.Millisecond, OnFailure: h.OnFailure}
	if p.Backoff == 0 {
		p.Backoff = time.Second
	}
	return p
}

func (r Request) check() error {
	if r.Dir != "" && !filepath.IsAbs(r.Dir) {
		return &query.RequestError{Field: "dir", Value: r.Dir, Reason: "want an absolute path on the server's machine"}
	}
	return r.How.check()
}

// Named names a run.
type Named struct {
	Run string `json:"run" minLength:"1" maxLength:"64" example:"r-7f3a91c2" doc:"The run's name."`
}

// Answer decides a question.
type Answer struct {
	Run      string `json:"run" minLength:"1" maxLength:"64" example:"r-7f3a91c2" doc:"The run's name."`
	Question string `json:"question" minLength:"1" maxLength:"128" example:"q-1" doc:"The id of the question, from its event."`
	Yes      bool   `json:"yes" example:"true" doc:"Whether to go on."`
}
