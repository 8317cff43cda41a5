package front

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/terminalsearch"
)

// engineProcess is a recount-engine that answers questions (verb answer). It ends with its standard
// input, and so with this process, however that ends.
type engineProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	// diag is what it said of an error.
	diag strings.Builder
	gone chan struct{}

	mu      sync.Mutex // guards all below, and writing
	last    int
	waiting map[int]chan verbs.Answered
	enc     *json.Encoder
}

// startEngine starts the engine.
func startEngine(path string, args []string) (*engineProcess, error) {
	e := &engineProcess{cmd: exec.Command(path, args...), gone: make(chan struct{}), waiting: map[int]chan verbs.Answered{}}
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.cmd.Stderr = &e.diag
	e.enc = json.NewEncoder(e.in)
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(e.gone)
		lines := json.NewDecoder(bufio.NewReader(out))
		for {
			var a verbs.Answered
			if lines.Decode(&a) != nil {
				break
			}
			e.mu.Lock()
			if c := e.waiting[a.ID]; c != nil {
				c <- a // has room
				delete(e.waiting, a.ID)
			}
			e.mu.Unlock()
		}
		_ = e.cmd.Wait()
	}()
	return e, nil
}

// ask asks a question and waits for its answer.
func (e *engineProcess) ask(ctx context.Context, q verbs.Asked) (verbs.Answered, error) {
	answer := make(chan verbs.Answered, 1)
	e.mu.Lock()
	e.last++
	q.ID = e.last
	e.waiting[q.ID] = answer
	err := e.enc.Encode(q)
	e.mu.Unlock()
	if err != nil {
		<-e.gone
		return verbs.Answered{}, e.failure()
	}
	select {
	case a := <-answer:
		return a, nil
	case <-e.gone:
		return verbs.Answered{}, e.failure()
	case <-ctx.Done():
		e.mu.Lock()
		delete(e.waiting, q.ID)
		_ = e.enc.Encode(verbs.Asked{ID: q.ID, Cancel: true}) // if it is gone, so is the question
		e.mu.Unlock()
		return verbs.Answered{}, ctx.Err()
	}
}

// failure returns what the engine, which has ended, said of it. It may be started again.
func (e *engineProcess) failure() error {
	if said := strings.TrimSpace(e.diag.String()); said != "" {
		return fmt.Errorf("%w: %s", terminalsearch.ErrAway, said)
	}
	return terminalsearch.ErrAway
}

// ended reports whether the engine has ended.
func (e *engineProcess) ended() bool {
	select {
	case <-e.gone:
		return true
	default:
		return false
	}
}

// close ends the engine without waiting for it, because the user has chosen and wants to go on. It does
// nothing for nil.
func (e *engineProcess) close() {
	if e != nil {
		_ = e.in.Close()
	}
}
