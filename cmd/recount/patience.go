package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

const (
	// silence is how long a verb works or waits without a word, by default.
	silence = time.Second
	// repeat is how often it says so again where there is no terminal to draw on.
	repeat = 10 * time.Second
	// statusPatience is how long the server of a data directory may take to say that it is one.
	statusPatience = 15 * time.Second
)

// unlessSoon says on standard error what a verb waits for, if it still does when silence is
// over: stop ends the waiting.
func (a *app) unlessSoon(what func() string) (stop func()) {
	t := time.AfterFunc(a.silence, func() { a.tell(what()) })
	return func() { t.Stop() }
}

// tell says something on standard error, with --json too: it is no part of the answer.
func (a *app) tell(what string) { fmt.Fprintf(a.stderr, "recount: %s\n", what) }

// spoken is progress where there is no terminal: a line where work takes long, and then one
// now and then.
func (a *app) spoken() func(api.Progress) {
	next := time.Now().Add(a.silence)
	return func(p api.Progress) {
		now := time.Now()
		if now.Before(next) || p.Total > 0 && p.Done >= p.Total {
			return
		}
		next = now.Add(repeat)
		a.tell(fmt.Sprintf("%s: %s of %s", p.Phase, thousands(p.Done), thousands(p.Total)))
	}
}

// holder says who has a data directory.
func holder(e *node.InUseError) string {
	if e.PID == 0 {
		return fmt.Sprintf("waiting for %s, held by another process", e.Dir)
	}
	return fmt.Sprintf("waiting for %s, held by pid %d", e.Dir, e.PID)
}

// hung is the error of a server that has the directory and says nothing.
func hung(e node.Endpoints) error {
	return fmt.Errorf("server at %s (pid %d): no answer within %s: it hangs, or is stopped; end it (kill %d) and start it again", e.HTTP, e.PID, statusPatience, e.PID)
}

// nothingRecorded says whether nothing was ever recorded in the data directory of the config.
// A server, or brokers elsewhere, have what it has not.
func (a *app) nothingRecorded(cfg node.Config) bool {
	if a.serverURL() != "" || len(cfg.Kafka.Brokers) > 0 || !spool.Empty(spool.Dir(cfg.DataDir)) || len(spool.Remotes(cfg.DataDir)) > 0 {
		return false
	}
	entries, err := os.ReadDir(cfg.DataDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false // opening it says what is wrong
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains([]string{"recount.json", "log", "projections", "LOCK"}, e.Name())
	})
}

// toRead is the config for a verb that only reads: where nothing was ever recorded it has an
// empty directory that done removes, so that a question makes no data directory and is
// answered as by one that has nothing.
func (a *app) toRead(cfg node.Config) (_ node.Config, done func() error, err error) {
	if !a.nothingRecorded(cfg) {
		return a.toWrite(cfg)
	}
	abs, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return cfg, nil, err
	}
	a.noted("nothing is recorded in %s yet", abs)
	if cfg.DataDir, err = os.MkdirTemp("", "recount-nothing-"); err != nil {
		return cfg, nil, err
	}
	return cfg, func() error { return os.RemoveAll(cfg.DataDir) }, nil
}

// toWrite is the config for a verb that changes something: it makes the directory.
func (a *app) toWrite(cfg node.Config) (_ node.Config, done func() error, err error) {
	return cfg, func() error { return nil }, nil
}

// toKeep is the config for a verb whose result is kept: that of a directory in which nothing
// was ever recorded, as that of a wrong name, is refused.
func (a *app) toKeep(cfg node.Config) (_ node.Config, done func() error, err error) {
	if a.nothingRecorded(cfg) {
		return cfg, nil, fmt.Errorf("nothing is recorded in %s: name the data directory by --data-dir or RECOUNT_DATA_DIR", cfg.DataDir)
	}
	return a.toWrite(cfg)
}

// caughtUp returns when all projections have what is on the log now: the next question
// waits for nothing.
func (a *app) caughtUp(ctx context.Context) error {
	return a.withBackend(ctx, func(b *backend) error {
		defer a.clearProgress()
		if b.local != nil {
			return settle(ctx, b)
		}
		tell := a.progress()
		done := map[string]bool{}
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for most := int64(0); ; {
			st, err := b.Status(ctx, api.StatusRequest{})
			if err != nil {
				return err
			}
			var lag int64
			waits := []string{}
			for _, p := range st.Projections {
				if done[p.Name] = done[p.Name] || p.Lag == 0; !done[p.Name] {
					lag = max(lag, p.Lag)
					waits = append(waits, p.Name)
				}
			}
			if len(waits) == 0 {
				return nil
			}
			most = max(most, lag)
			if tell != nil {
				tell(api.Progress{Phase: "take in (" + strings.Join(waits, ", ") + ")", Done: most - lag, Total: most})
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	})
}
