package connect

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// idleFor is how long a backend is kept after the last call: long enough for the calls of one turn
// of an agent, short enough that other verbs rarely wait for the data directory, and that a server
// that was started meanwhile is noticed.
const idleFor = time.Second

// Lender lends a backend to the calls of a program that runs for long, such as recount mcp. It opens
// one for the first call and closes it soon after the last, since only one process can have a data
// directory open. It is safe for concurrent use.
type Lender struct {
	con *Connector
	cfg node.Config

	// turn is held while a backend is opened or closed, and by Alone.
	turn sync.Mutex

	mu     sync.Mutex // guards all below; turn is taken before it
	lent   *Backend
	users  int
	idle   *time.Timer
	none   func() error
	unused chan struct{} // closed when users is 0
	closed bool
}

// NewLender returns a lender of the data that the config names.
func NewLender(con *Connector, cfg node.Config) *Lender { return &Lender{con: con, cfg: cfg} }

// Borrow returns a backend; the caller calls release when it is done. Only if writes is set, which means
// that the caller will append, is a missing data directory created.
func (l *Lender) Borrow(ctx context.Context, writes bool) (b *Backend, release func(), err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, nil, errors.New("the program is stopping")
	}
	if l.lent != nil && writes && l.none != nil {
		// What is lent is a stand-in for a directory that does not exist yet.
		l.mu.Unlock()
		if err := l.giveBack(ctx); err != nil {
			return nil, nil, err
		}
		l.mu.Lock()
	}
	if l.lent == nil {
		l.mu.Unlock()
		opened, none, err := l.open(ctx, writes)
		if err != nil {
			return nil, nil, err
		}
		l.mu.Lock()
		l.lent, l.none = opened, none
	}
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.users++; l.users == 1 {
		l.unused = make(chan struct{})
	}
	b = l.lent
	l.mu.Unlock()
	return b, sync.OnceFunc(l.returned), nil
}

// open opens a backend. none is not nil if it stands in for a directory without data.
func (l *Lender) open(ctx context.Context, writes bool) (b *Backend, none func() error, err error) {
	cfg, done := l.cfg, func() error { return nil }
	if !writes && l.con.nothingRecorded(cfg) {
		if cfg, done, err = l.con.ToRead(cfg); err != nil {
			return nil, nil, err
		}
		none = done
	}
	b, err = l.con.Open(ctx, cfg, DefaultWait)
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	if !writes {
		l.con.awaitVisible(ctx, b)
	}
	return b, none, nil
}

// returned ends one loan.
func (l *Lender) returned() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	close(l.unused)
	l.idle = time.AfterFunc(idleFor, func() {
		l.turn.Lock()
		defer l.turn.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.users == 0 {
			_ = l.drop() // nobody is there to be told; the next call opens it again and says what is wrong
		}
	})
}

// drop closes what is lent; the caller holds mu, and nobody uses it.
func (l *Lender) drop() error {
	if l.lent == nil {
		return nil
	}
	err := l.lent.Close()
	if l.none != nil {
		err = errors.Join(err, l.none())
	}
	l.lent, l.none = nil, nil
	return err
}

// giveBack waits until nobody uses the backend, and closes it; the caller holds turn.
func (l *Lender) giveBack(ctx context.Context) error {
	l.mu.Lock()
	unused := l.unused
	busy := l.users > 0
	l.mu.Unlock()
	if busy {
		select {
		case <-unused:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop()
}

// Alone calls fn while nothing is lent, so that fn can open the data directory by itself.
func (l *Lender) Alone(ctx context.Context, fn func() error) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	if err := l.giveBack(ctx); err != nil {
		return err
	}
	return fn()
}

// Close closes what is open, once nobody uses it.
func (l *Lender) Close() error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.giveBack(context.Background())
}

// Log returns the log of whatever is lent at the time. It is borrowed for each call, so that others can use
// the data directory in between.
func (l *Lender) Log() LentLog { return LentLog{l} }

// LentLog is a Lender's log.
type LentLog struct{ lender *Lender }

// Answer implements question.Answerer.
func (l LentLog) Answer(ctx context.Context, path string, request, response any) error {
	b, release, err := l.lender.Borrow(ctx, false)
	if err != nil {
		return err
	}
	defer release()
	return b.Answer(ctx, path, request, response)
}

// Append appends events.
func (l LentLog) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	b, release, err := l.lender.Borrow(ctx, true)
	if err != nil {
		return nil, err
	}
	defer release()
	return b.Append(ctx, events)
}

// Show returns one command.
func (l LentLog) Show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	b, release, err := l.lender.Borrow(ctx, false)
	if err != nil {
		return commands.ShowResponse{}, err
	}
	defer release()
	return b.Show(ctx, ref)
}
