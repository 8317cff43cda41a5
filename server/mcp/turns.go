package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/recountdb/recount/server/api"
)

// maxCalls is how many calls of one token may wait or be answered at the same time; more are refused.
const maxCalls = 256

// turns bounds the calls that are answered at the same time. One token has at most three quarters of
// the turns, however many sessions it begins, and one session half of them: who else calls is answered
// meanwhile.
type turns struct {
	all                *semaphore.Weighted
	ofTokens, sessions *shares
}

func newTurns(n int64) *turns {
	return &turns{all: semaphore.NewWeighted(n), ofTokens: newShares(n * 3 / 4), sessions: newShares(n / 2)}
}

// take waits for the turn of a call; its caller calls done when it is answered. On standard input there
// is one client, whose token and session are "", and a request without a session has "" for it.
func (t *turns) take(ctx context.Context, token, session string) (done func(), err error) {
	var taken []func()
	giveBack := func() {
		for _, back := range slices.Backward(taken) {
			back()
		}
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	ofToken, calls := t.ofTokens.enter(token)
	taken = append(taken, func() { t.ofTokens.leave(token) })
	if calls > maxCalls {
		return nil, fmt.Errorf("%w: %d calls already wait or are being answered", api.ErrUnavailable, maxCalls)
	}
	// The session comes first: what waits for others of its own session takes nothing from the token.
	order := []*semaphore.Weighted{ofToken, t.all}
	if session != "" {
		ofSession, _ := t.sessions.enter(session)
		taken = append(taken, func() { t.sessions.leave(session) })
		order = slices.Insert(order, 0, ofSession)
	}
	for _, s := range order {
		if err := s.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		taken = append(taken, func() { s.Release(1) })
	}
	return giveBack, nil
}

// shares are the turns that each of several names may have.
type shares struct {
	size int64 // how many turns of one name

	mu   sync.Mutex // guards all below
	each map[string]*share
}

// share is that of a name with calls.
type share struct {
	free  *semaphore.Weighted
	calls int // that have a turn or wait for one
}

func newShares(size int64) *shares {
	return &shares{size: max(size, 1), each: map[string]*share{}}
}

// enter returns the turns of a name, and how many calls it has with this one.
func (s *shares) enter(name string) (free *semaphore.Weighted, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.each[name]
	if of == nil {
		of = &share{free: semaphore.NewWeighted(s.size)}
		s.each[name] = of
	}
	of.calls++
	return of.free, of.calls
}

// leave ends a call of a name.
func (s *shares) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.each[name]
	if of.calls--; of.calls == 0 {
		delete(s.each, name)
	}
}
