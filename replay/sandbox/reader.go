package sandbox

import (
	"io"
	"os"
	"time"
)

// reader takes what a command prints from a pipe. Processes that a command leaves behind hold the
// pipe open, and are read, to nowhere, for as long as they live.
type reader struct {
	pipe *os.File
	done chan struct{}
}

func readAll(pipe *os.File, out *bounded) *reader {
	r := &reader{pipe, make(chan struct{})}
	go func() {
		_, _ = io.Copy(writeOnly{out}, pipe) // the pipe's end is the only one there is
		_ = pipe.Close()
		close(r.done)
	}()
	return r
}

// writeOnly hides what else an io.Writer can do from io.Copy.
type writeOnly struct{ io.Writer }

// finish waits until what the ended command printed is read.
func (r *reader) finish() {
	select {
	case <-r.done:
		return
	case <-time.After(2 * time.Millisecond):
	}
	// Somebody holds the pipe. What the command printed is in it already, so it is enough that it
	// becomes empty.
	for range 500 {
		select {
		case <-r.done:
			return
		case <-time.After(2 * time.Millisecond):
			if pending(r.pipe) == 0 {
				return
			}
		}
	}
}

// stop ends the reading.
func (r *reader) stop() {
	_ = r.pipe.Close()
	<-r.done
}
