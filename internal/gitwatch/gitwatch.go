// Package gitwatch tells when a repository's refs may have moved: by the file
// system's notices about HEAD, refs and packed refs, and by looking now and then
// where there are none.
//
// What a caller may rely on: Run begins by catching up with what happened before
// it; a change that a notice or a look shows is synced once it has been quiet for
// a moment; a sync that fails is tried again, with pauses that grow; and nothing
// is synced while what Fingerprint says stays as it was.
package gitwatch

import (
	"context"
	"errors"
	"time"
)

// Options say what to do. All but Poll are required.
type Options struct {
	// Poll is how often to look without a notice; 0 is never where notices are to
	// be had, and DefaultPoll where they are not.
	Poll time.Duration
	// Fingerprint stands for where all refs point.
	Fingerprint func(ctx context.Context) (string, error)
	// Sync does what is to be done about a change.
	Sync func(ctx context.Context) error
	// Trouble is told why a sync or a notice failed; the same reason is told once.
	Trouble func(error)
}

// DefaultPoll is how often a repository without notices is looked at.
const DefaultPoll = 5 * time.Second

// Pauses.
const (
	// quiet is how long nothing must happen before a sync: a commit moves several
	// files. maxQuiet bounds it where something always happens.
	quiet    = 20 * time.Millisecond
	maxQuiet = 500 * time.Millisecond
	// firstRetry and lastRetry bound the pause after a failure.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Run follows the repository whose HEAD is in gitDir and whose refs are in
// commonDir until the context ends, and returns nil then.
func Run(ctx context.Context, gitDir, commonDir string, o Options) error {
	n, err := notices(gitDir, commonDir)
	if err != nil {
		if o.Poll == 0 {
			o.Poll = DefaultPoll
		}
		o.Trouble(errors.Join(errors.New("no notices of the file system: looking every "+o.Poll.String()), err))
		return follow(ctx, nil, o)
	}
	defer n.close()
	return follow(ctx, n.changed, o)
}

// follow is Run behind the notices.
func follow(ctx context.Context, changed <-chan struct{}, o Options) error {
	f := follower{o: o}
	var poll <-chan time.Time
	if o.Poll > 0 {
		t := time.NewTicker(o.Poll)
		defer t.Stop()
		poll = t.C
	}
	for {
		pause := f.sync(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var retry <-chan time.Time
		if pause > 0 {
			retry = time.After(pause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			settle(ctx, changed)
		case <-poll:
		case <-retry:
		}
	}
}

// settle waits until nothing has happened for a moment.
func settle(ctx context.Context, changed <-chan struct{}) {
	end := time.After(maxQuiet)
	for {
		select {
		case <-changed:
		case <-time.After(quiet):
			return
		case <-end:
			return
		case <-ctx.Done():
			return
		}
	}
}

// follower is what follow remembers.
type follower struct {
	o      Options
	synced string // the fingerprint of the last sync that went well
	told   string
	pause  time.Duration
}

// sync syncs if there is something new, and says how long to wait before trying
// again; 0 is not at all.
func (f *follower) sync(ctx context.Context) time.Duration {
	// Before the sync: what moves meanwhile is seen the next time.
	now, err := f.o.Fingerprint(ctx)
	if err == nil {
		if now == f.synced {
			f.pause = 0
			return 0
		}
		err = f.o.Sync(ctx)
	}
	if err == nil {
		f.synced, f.told, f.pause = now, "", 0
		return 0
	}
	if ctx.Err() != nil {
		return 0
	}
	if err.Error() != f.told {
		f.told = err.Error()
		f.o.Trouble(err)
	}
	f.pause = min(max(firstRetry, 2*f.pause), lastRetry)
	return f.pause
}
