package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// process is a git command that answers for as long as it is asked.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said tail
	// ended is why it does not answer any more.
	ended error
}

const pipeBuffer = 256 << 10

func (r *Repo) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{name: args[0], cmd: r.command(ctx, args...)}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = &p.said
	p.out = bufio.NewReaderSize(out, pipeBuffer)
	if err := p.cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("git is not installed, or not on the PATH")
		}
		return nil, err
	}
	return p, nil
}

// ask writes questions while the caller reads the answers: a process that is
// asked for much at once answers before it has read all. The wait is the
// caller's, after it has read.
func (p *process) ask(questions string) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(p.in, questions) // an error here is the process's end, which the reader sees
	}()
	return func() { <-done }
}

// fail is an answer that did not come, or made no sense: the process is ended,
// and what it said tells why.
func (p *process) fail(err error) error {
	if p.ended != nil {
		return p.ended
	}
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	werr := p.cmd.Wait()
	if said := p.said.String(); said != "" {
		p.ended = &Error{Command: p.name, Stderr: said, Err: errors.Join(err, werr)}
	} else {
		p.ended = fmt.Errorf("git %s: %w", p.name, err)
	}
	return p.ended
}

// close ends the process, which has nothing more to say.
func (p *process) close() error {
	if p == nil || p.ended != nil {
		return nil
	}
	p.ended = errors.New("closed")
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}

// rest reads a listing's exit: an error is git's, with what it said.
func (p *process) rest() error {
	if p.ended != nil {
		return p.ended
	}
	_, _ = io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	p.ended = errors.New("closed")
	if err != nil {
		return &Error{Command: p.name, Stderr: p.said.String(), Err: err}
	}
	return nil
}
