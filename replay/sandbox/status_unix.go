//go:build unix

package sandbox

import "syscall"

// startError is the text of why a command did not start, and which error it is.
type startError struct {
	text string
	is   error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.is }

// status fills in how a process ended.
func (r *Result) status(s syscall.WaitStatus) {
	if s.Signaled() {
		r.Exit, r.Signal = 128+int(s.Signal()), s.Signal().String()
		if s.Signal() == syscall.SIGXFSZ && r.Limit == "" {
			r.Limit = "a file grew beyond the limit of one file"
		}
		return
	}
	r.Exit = s.ExitStatus()
}
