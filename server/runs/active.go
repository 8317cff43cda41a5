package runs

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay/run"
)

// EventQuestion is the event of a question, beside those of package replaying.
const EventQuestion = "question"

// Event is progress: that of package replaying, or a question.
type Event struct {
	replaying.Event
	Question *Question `json:"question,omitempty" doc:"What is to be decided by POST /v1/replay/answer; of question."`
}

// Question is something that only the caller may decide.
type Question struct {
	ID   string `json:"id" example:"q-1" doc:"Names the question in an answer."`
	Kind string `json:"kind" enum:"danger,ask,program,unknown,retry" example:"danger" doc:"danger: the step is dangerous; ask: it is not sure; program: nothing is known about a program of it, and the network is open; unknown: it was under way when the run was killed; retry: it failed."`
	Hash string `json:"hash" example:"9b1f0c6e0b9d4c0f8a6d8f2a0e8f7c1b3d5a79e1c2b4d6f8a0b2c4d6e8f0a1b3" doc:"The hash of the step."`
	Text string `json:"text" example:"git push --force: it replaces the history of others" doc:"The question as a sentence."`
}

// active is a run that is under way.
type active struct {
	how    How
	name   string
	cancel context.CancelFunc
	each   func(Event) error // called by one goroutine at a time
	asked  int

	mu      sync.Mutex // guards all below
	pending map[string]chan bool
	err     error // why the caller gets no more events
}

// send passes an event on. A caller that takes none any more ends the run.
func (a *active) send(e Event) {
	a.mu.Lock()
	lost := a.err != nil
	a.mu.Unlock()
	if lost {
		return
	}
	if err := a.each(e); err != nil {
		a.mu.Lock()
		a.err = err
		a.mu.Unlock()
		a.cancel()
	}
}

func (a *active) lost() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// confirm decides a question by what the request agreed to, or asks the caller. Package run asks one
// at a time.
func (a *active) confirm(ctx context.Context, q run.Question) (bool, error) {
	hash, err := q.Step.Hash()
	if err != nil {
		return false, err
	}
	switch {
	case q.Kind == run.QuestionDanger && slices.Contains(a.how.Agree, hash), q.Kind == run.QuestionProgram && slices.Contains(a.how.Unknown, q.Program), (q.Kind == run.QuestionAsk || q.Kind == run.QuestionUnknown) && a.how.Yes:
		return true, nil
	case !a.how.Ask:
		return false, nil
	}
	a.asked++
	id := fmt.Sprintf("q-%d", a.asked)
	answer := make(chan bool, 1)
	a.mu.Lock()
	if a.pending == nil {
		a.pending = map[string]chan bool{}
	}
	a.pending[id] = answer
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.pending, id)
		a.mu.Unlock()
	}()
	step := q.Step.Index
	a.send(Event{
		Event:    replaying.Event{Event: EventQuestion, Run: a.name, Step: &step, Command: q.Step.Command},
		Question: &Question{ID: id, Kind: q.Kind, Hash: hash, Text: q.Text},
	})
	select {
	case yes := <-answer:
		return yes, nil
	case <-ctx.Done():
		return false, nil
	}
}

// decide answers a question that waits.
func (a *active) decide(id string, yes bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := a.pending[id]
	if answer == nil {
		return &query.NotFoundError{Ref: id, Hint: "run " + a.name + " does not wait for an answer to it"}
	}
	delete(a.pending, id)
	answer <- yes
	return nil
}
