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

// statusPatience is how long the server of a data directory may take to identify itself.
const statusPatience = 15 * time.Second

// holder describes which process uses a data directory.
func holder(e *node.InUseError) string {
	if e.PID == 0 {
		return fmt.Sprintf("waiting for %s, held by another process", e.Dir)
	}
	return fmt.Sprintf("waiting for %s, held by pid %d", e.Dir, e.PID)
}

// hung returns the error about a server that uses the directory but does not answer.
func hung(e node.Endpoints) error {
	return fmt.Errorf("server at %s (pid %d): no answer within %s: it hangs, or is stopped; end it (kill %d) and start it again", e.HTTP, e.PID, statusPatience, e.PID)
}

// nothingRecorded reports whether nothing was ever recorded in the data directory of the config. It
// is false if a server or external brokers are configured, because these may have data.
func (con *connector) nothingRecorded(cfg node.Config) bool {
	if con.serverURL() != "" || len(cfg.Kafka.Brokers) > 0 || !spool.Empty(spool.Dir(cfg.DataDir)) || len(spool.Remotes(cfg.DataDir)) > 0 {
		return false
	}
	entries, err := os.ReadDir(cfg.DataDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false // opening the directory will report the error
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains([]string{"recount.json", "log", "projections", "LOCK"}, e.Name())
	})
}

// toRead returns the config for a verb that only reads. If nothing was ever recorded, the config
// names an empty temporary directory, which done removes: so a question creates no data directory
// and gets the answer of an empty one.
func (con *connector) toRead(cfg node.Config) (_ node.Config, done func() error, err error) {
	if !con.nothingRecorded(cfg) {
		return con.toWrite(cfg)
	}
	abs, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return cfg, nil, err
	}
	con.Note("nothing is recorded in %s yet", abs)
	if cfg.DataDir, err = os.MkdirTemp("", "recount-nothing-"); err != nil {
		return cfg, nil, err
	}
	return cfg, func() error { return os.RemoveAll(cfg.DataDir) }, nil
}

// toWrite returns the config for a verb that changes something and may create the directory.
func (con *connector) toWrite(cfg node.Config) (_ node.Config, done func() error, err error) {
	return cfg, func() error { return nil }, nil
}

// toKeep returns the config for a verb whose result is kept. It fails if nothing was ever recorded
// in the directory, which probably means a wrong name.
func (con *connector) toKeep(cfg node.Config) (_ node.Config, done func() error, err error) {
	if con.nothingRecorded(cfg) {
		return cfg, nil, fmt.Errorf("nothing is recorded in %s: name the data directory by --data-dir or RECOUNT_DATA_DIR", cfg.DataDir)
	}
	return con.toWrite(cfg)
}

// caughtUp waits until all projections have applied what is on the log now, so that the next
// question need not wait.
func (con *connector) caughtUp(ctx context.Context) error {
	return con.withBackend(ctx, func(b *backend) error {
		defer con.ClearProgress()
		if b.local != nil {
			return settle(ctx, b)
		}
		tell := con.Progress()
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
