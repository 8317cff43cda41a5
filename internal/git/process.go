package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// process is a long-running git command that answers requests.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said tail
	// ended is the reason why it no longer answers.
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

// ask writes requests while the caller reads the answers, since a process answers before it has
// read many requests. The caller calls wait after it has read the answers.
func (p *process) ask(questions string) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(p.in, questions) // an error means that the process ended, which the reader notices
	}()
	return func() { <-done }
}

// fail handles an answer that is missing or malformed: it ends the process and returns an error
// with the process's error output.
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

// close ends the process; its remaining output is ignored.
func (p *process) close() error {
	if p == nil || p.ended != nil {
		return nil
	}
	p.ended = errors.New("closed")
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}

// rest waits for the end of a listing; an error contains git's error output.
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
