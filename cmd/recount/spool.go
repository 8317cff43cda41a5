package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// appendOnly are the roles of a node that only appends: it need not open the projections.
var appendOnly = []string{node.RoleLog, node.RoleIngest}

const (
	// appendPatience is how long a server may take to append before the event is spooled instead.
	appendPatience = 3 * time.Second
	// drainPatience is how long a verb waits for a server to take what was spooled earlier.
	drainPatience = 2 * time.Second
)

// recorded reports where an event is: in the log or in the spool.
type recorded struct {
	api.Appended
	Spooled bool `json:"spooled,omitempty"`
}

// append puts one event into the log if that is possible at once, else into the spool: if another
// process uses the data directory, or if a server hangs or cannot be reached. With exact, a local
// node first catches up, so that it knows whether the id is on the log already.
func (con *connector) append(ctx context.Context, cfg node.Config, e schemas.Event, exact bool) (recorded, error) {
	done, err := con.appendNow(ctx, cfg, e, exact)
	var wrong usageError
	var event *api.EventError
	var answered *httpapi.APIError
	if err == nil || errors.As(err, &wrong) || errors.As(err, &event) || errors.As(err, &answered) || errors.Is(err, schemas.ErrPoison) || ctx.Err() != nil {
		return recorded{Appended: done}, err
	}
	// If a server that hung stored the event nevertheless, it will recognise the id.
	if con.spool(cfg, e) != nil {
		return recorded{}, err
	}
	if busy := (*node.InUseError)(nil); !errors.As(err, &busy) {
		con.Note("%s; it waits in the spool", err)
	}
	return recorded{Appended: api.Appended{ID: e.ID}, Spooled: true}, nil
}

func (con *connector) appendNow(ctx context.Context, cfg node.Config, e schemas.Event, exact bool) (done api.Appended, err error) {
	roles := appendOnly
	if exact {
		roles = nil
	}
	soon, cancel := context.WithTimeout(ctx, appendPatience)
	defer cancel()
	b, err := con.tryOpenOrServer(soon, cfg, roles)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.local != nil {
		// This process appends itself and waits for no other.
		soon = ctx
		if exact {
			if err := settle(ctx, b); err != nil {
				return done, err
			}
		}
	}
	all, err := b.Append(soon, []schemas.Event{e})
	if err != nil {
		return done, err
	}
	return all[0], nil
}

// spool puts events into the spool, from which the next process with access to the log takes them.
func (con *connector) spool(cfg node.Config, events ...schemas.Event) error {
	var entries []spool.Entry
	for _, e := range events {
		entries = append(entries, node.SpoolEntry(e))
	}
	if url := con.serverURL(); url != "" {
		return spool.AppendRemote(cfg.DataDir, url, entries...)
	}
	return spool.Append(spool.Dir(cfg.DataDir), entries...)
}

// sendSpooled sends the entries spooled for a remote server.
func (con *connector) sendSpooled(ctx context.Context, cfg node.Config, url string, b api.Backend) error {
	dir := spool.RemoteDir(cfg.DataDir, url)
	if spool.Empty(dir) {
		return nil
	}
	sent := schemas.Watermark{}
	_, err := spool.NewDrainer(dir).Drain(node.DrainTo(func(events []schemas.Event) error {
		done, err := b.Append(ctx, events)
		for _, d := range done {
			tp := schemas.TopicPartition{Topic: d.Position.Topic, Partition: d.Position.Partition}
			sent[tp] = max(sent[tp], d.Position.Offset+1)
		}
		return err
	}))
	if err == nil && len(sent) > 0 {
		// Wait until the next question sees the events; a token that may only append skips the
		// wait.
		soon, cancel := context.WithTimeout(ctx, drainPatience)
		defer cancel()
		_ = waitFor(soon, &backend{Backend: b}, sent)
	}
	return err
}

// awaitSpool waits until the server of the data directory has taken the spooled entries, so that
// its answers include them.
func awaitSpool(ctx context.Context, cfg node.Config) {
	dir := spool.Dir(cfg.DataDir)
	for until := time.Now().Add(drainPatience); !spool.Empty(dir) && time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(firstPause):
		}
	}
}

func (a *app) spoolCmd() *cobra.Command {
	c := &cobra.Command{Use: "spool", Short: "What waits for the log", Hidden: true}
	c.AddCommand(&cobra.Command{
		Use:   "send",
		Short: "Send what waits for the server that $RECOUNT_SERVER names",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.nodeConfig()
			if err != nil {
				return err
			}
			url := a.serverURL()
			if url == "" {
				return usagef("no server: set RECOUNT_SERVER or --server")
			}
			c, err := a.elsewhere(url)
			if err != nil {
				return err
			}
			if err := a.sendSpooled(cmd.Context(), cfg, url, c); err != nil {
				return fmt.Errorf("%s: %w; what waits for it stays in the spool", url, err)
			}
			return nil
		},
	})
	return c
}

// sendApart starts this program again as an independent process, which sends the entries spooled
// for a remote server.
func (con *connector) sendApart() error {
	bin, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"spool", "send"}
	for flag, value := range map[string]string{"--data-dir": con.dataDir, "--config": con.config, "--server": con.server} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if con.insecureHTTP {
		args = append(args, "--insecure-http")
	}
	child := exec.Command(bin, args...)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if log, err := con.openHookLog(); err == nil {
		defer log.Close()
		child.Stderr = log
	}
	if err := child.Start(); err != nil {
		return err
	}
	return child.Process.Release()
}
