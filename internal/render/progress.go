package render

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/progress"
)

const (
	// DefaultSilence is the default of Terminal.Silence.
	DefaultSilence = time.Second
	// repeat is the interval of further reports if there is no terminal to draw on.
	repeat = 10 * time.Second
)

// UnlessSoon prints on standard error what a verb waits for, unless stop is called within
// t.Silence.
func (t *Terminal) UnlessSoon(what func() string) (stop func()) {
	timer := time.AfterFunc(t.Silence, func() { t.Tell(what()) })
	return func() { timer.Stop() }
}

// Tell prints a message on standard error, also with --json: it is not part of the answer. It may
// name what others named, such as files.
func (t *Terminal) Tell(what string) { fmt.Fprintf(t.Err, "recount: %s\n", PlainText(what)) }

// spoken reports progress without a terminal: a line once a phase of the work takes long, then one
// now and then.
func (t *Terminal) spoken() func(progress.Progress) {
	phase, done, next := "", int64(0), time.Time{}
	return func(p progress.Progress) {
		now := time.Now()
		if p.Phase != phase || p.Done < done {
			phase, next = p.Phase, now.Add(t.Silence)
		}
		done = p.Done
		if now.Before(next) || p.Total > 0 && p.Done >= p.Total {
			return
		}
		next = now.Add(repeat)
		t.Tell(far(p, ": "))
	}
}

// far says how far a phase is, after its name and a separator: of how many events only if that is known.
func far(p progress.Progress, separator string) string {
	switch {
	case p.Total > 0:
		return p.Phase + separator + Thousands(p.Done) + " of " + Thousands(p.Total)
	case p.Done > 0:
		return p.Phase + separator + Thousands(p.Done)
	}
	return p.Phase
}

// Progress returns a function that draws progress on standard error. Without a terminal it prints
// lines at long intervals instead. t.Observe takes the place of both.
func (t *Terminal) Progress() func(progress.Progress) {
	if t.Observe != nil {
		return t.Observe
	}
	if !t.Interactive {
		return t.spoken()
	}
	return func(p progress.Progress) {
		if p.Total > 0 && p.Done >= p.Total {
			fmt.Fprint(t.Err, "\r\x1b[K")
			return
		}
		fmt.Fprintf(t.Err, "\r\x1b[K%s", OneLine(far(p, " ")))
	}
}

// ClearProgress removes the progress line.
func (t *Terminal) ClearProgress() {
	if t.Interactive {
		fmt.Fprint(t.Err, "\r\x1b[K")
	}
}
