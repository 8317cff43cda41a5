package pipeline

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// What limitRepeats lets through of one message: a burst, then one a period.
const (
	repeatBurst  = 10
	repeatPeriod = 10 * time.Second
)

// limitRepeats bounds how often one and the same message is logged: in an outage
// every batch says the same, and Benthos has a line for each. A message that
// comes through again says how many were left out.
func limitRepeats(h slog.Handler) slog.Handler {
	return &limiter{Handler: h, state: &limiterState{seen: map[string]*repeats{}}}
}

type limiter struct {
	slog.Handler
	state *limiterState
}

type limiterState struct {
	mu   sync.Mutex
	seen map[string]*repeats
}

type repeats struct {
	since  time.Time // of the period
	passed int       // in it
	left   int       // out, since one passed
}

// maxSeen bounds what is remembered: beyond it, everything is forgotten, which
// lets a few lines more through.
const maxSeen = 1000

func (l *limiter) Handle(ctx context.Context, r slog.Record) error {
	pass, left := l.state.pass(r)
	if !pass {
		return nil
	}
	r = r.Clone()
	r.Message = strings.TrimSpace(r.Message) // Benthos ends some in a newline
	if left > 0 {
		r.AddAttrs(slog.Int("left_out", left))
	}
	return l.Handler.Handle(ctx, r)
}

func (s *limiterState) pass(r slog.Record) (pass bool, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Level.String() + messageKey(r.Message)
	m := s.seen[key]
	if m == nil {
		if len(s.seen) >= maxSeen {
			clear(s.seen)
		}
		m = &repeats{since: r.Time}
		s.seen[key] = m
	}
	if r.Time.Sub(m.since) >= repeatPeriod {
		// While it goes on, one line a period is enough to know; after a quiet
		// period it may burst again.
		m.passed = 0
		if m.left > 0 {
			m.passed = repeatBurst
		}
		m.since = r.Time
		left, m.left = m.left, 0
		m.passed++
		return true, left
	}
	if m.passed >= repeatBurst {
		m.left++
		return false, 0
	}
	m.passed++
	return true, 0
}

// messageKey is the start of a message: Benthos writes errors into the text, and
// what differs stands at the end.
func messageKey(msg string) string {
	if len(msg) > 40 {
		return msg[:40]
	}
	return msg
}

func (l *limiter) WithAttrs(as []slog.Attr) slog.Handler {
	return &limiter{l.Handler.WithAttrs(as), l.state}
}

func (l *limiter) WithGroup(name string) slog.Handler {
	return &limiter{l.Handler.WithGroup(name), l.state}
}
