// Package gitwatch detects when a repository's refs may have moved: by file system notifications
// about HEAD, refs and packed refs, and by polling where there are none.
//
// Run starts with a sync of what happened before. A change that is detected is synced once no
// further change follows for a moment. A sync that fails is retried, with growing pauses. Nothing
// is synced while the result of Fingerprint is unchanged.
package gitwatch

import (
	"context"
	"errors"
	"time"
)

// Options configure Run. All fields except Poll are required.
type Options struct {
	// Poll is the interval of polling; 0 means never if notifications are available, and
	// DefaultPoll otherwise.
	Poll time.Duration
	// Fingerprint returns a value that changes when any ref moves.
	Fingerprint func(ctx context.Context) (string, error)
	// Sync handles a change.
	Sync func(ctx context.Context) error
	// Trouble is called with the error of a sync or of notifications; equal errors are reported
	// once.
	Trouble func(error)
}

// DefaultPoll is the interval of polling for a repository without notifications.
const DefaultPoll = 5 * time.Second

// These are the pauses of follow.
const (
	// quiet is how long nothing must change before a sync, because a commit changes several files.
	// maxQuiet limits the wait if changes do not stop.
	quiet    = 20 * time.Millisecond
	maxQuiet = 500 * time.Millisecond
	// firstRetry and lastRetry are the minimum and maximum pause after a failure.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Run follows the repository with HEAD in gitDir and refs in commonDir until the context ends, and
// then returns nil.
func Run(ctx context.Context, gitDir, commonDir string, o Options) error {
	n, err := notices(gitDir, commonDir)
	if err != nil {
		if o.Poll == 0 {
			o.Poll = DefaultPoll
		}
		o.Trouble(errors.Join(errors.New("the file system reports no changes: checking every "+o.Poll.String()), err))
		return follow(ctx, nil, o)
	}
	defer n.close()
	return follow(ctx, n.changed, o)
}

// follow is Run without the setup of notifications.
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

// settle waits until nothing has changed for a moment.
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

// follower is the state of follow.
type follower struct {
	o      Options
	synced string // the fingerprint of the last successful sync
	told   string
	pause  time.Duration
}

// sync syncs if there is a change, and returns how long to wait before a retry; 0 means no retry.
func (f *follower) sync(ctx context.Context) time.Duration {
	// This comes before the sync, so that later changes are detected the next time.
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
