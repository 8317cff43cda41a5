package connect

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/intake"
	"github.com/recountdb/recount/server/node"
)

// AppendOnly are the roles of a node that only appends: it need not open the projections.
var AppendOnly = []string{node.RoleLog, node.RoleIngest}

const (
	// appendPatience is how long a server may take to append before the event is spooled instead.
	appendPatience = 3 * time.Second
	// drainPatience is how long a verb waits for a server to take what was spooled earlier.
	drainPatience = 2 * time.Second
)

// Recorded reports where an event is: in the log or in the spool.
type Recorded struct {
	api.Appended
	Spooled bool `json:"spooled,omitempty"`
}

// Append puts one event into the log if that is possible at once, else into the spool: if another
// process uses the data directory, if the log has no space, or if a server hangs, cannot be reached or is of an older
// version that does not understand the event. With exact, a local node first catches up, so that it knows whether the id
// is on the log already.
func (con *Connector) Append(ctx context.Context, cfg node.Config, e schemas.Event, exact bool) (Recorded, error) {
	done, err := con.appendNow(ctx, cfg, e, exact)
	var wrong usage.Error
	var event *api.EventError
	var answered *httpapi.APIError
	refused := errors.As(err, &answered) && !errors.Is(err, schemas.ErrTransient)
	invalid := errors.As(err, &event) || refused && answered.Status == http.StatusUnprocessableEntity
	older := invalid && understood(ctx, cfg, e)
	if err == nil || errors.As(err, &wrong) || !older && (invalid || refused || errors.Is(err, schemas.ErrPoison)) || ctx.Err() != nil {
		return Recorded{Appended: done}, err
	}
	// If a server that hung stored the event nevertheless, it will recognise the id.
	if con.Spool(cfg, e) != nil {
		return Recorded{}, err
	}
	if busy := (*node.InUseError)(nil); !errors.As(err, &busy) {
		con.Note("%s; it stays in the spool", err)
	}
	return Recorded{Appended: api.Appended{ID: e.ID}, Spooled: true}, nil
}

// understood reports whether a server of this version takes an event.
func understood(ctx context.Context, cfg node.Config, e schemas.Event) bool {
	r, err := Redactor(cfg)
	if err != nil {
		return false
	}
	in := intake.Intake{Redact: r, Check: processors.Check, Now: time.Now}
	_, _, err = in.Prepare(ctx, e)
	return err == nil
}

func (con *Connector) appendNow(ctx context.Context, cfg node.Config, e schemas.Event, exact bool) (done api.Appended, err error) {
	roles := AppendOnly
	if exact {
		roles = nil
	}
	soon, cancel := context.WithTimeout(ctx, max(appendPatience, con.Patience))
	defer cancel()
	b, err := con.tryOpenOrServer(soon, cfg, roles)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.Local != nil {
		// This process appends itself and waits for no other.
		soon = ctx
		if exact {
			if err := Settle(ctx, b); err != nil {
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

// Spool puts events into the spool, from which the next process with access to the log takes them.
func (con *Connector) Spool(cfg node.Config, events ...schemas.Event) error {
	var entries []spool.Entry
	for _, e := range events {
		entries = append(entries, node.SpoolEntry(e))
	}
	if url := con.ServerURL(); url != "" {
		return spool.AppendRemote(cfg.DataDir, url, entries...)
	}
	return spool.Append(spool.Dir(cfg.DataDir), entries...)
}

// SendSpooled sends the entries spooled for a remote server.
func (con *Connector) SendSpooled(ctx context.Context, cfg node.Config, url string, b api.Backend) error {
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
		soon, cancel := context.WithTimeout(ctx, max(drainPatience, con.Patience))
		defer cancel()
		_ = WaitFor(soon, &Backend{Backend: b}, sent)
	}
	return err
}

// awaitSpool waits until the server of the data directory has taken the spooled entries, so that
// its answers include them.
func (con *Connector) awaitSpool(ctx context.Context, cfg node.Config) {
	dir := spool.Dir(cfg.DataDir)
	for until := time.Now().Add(max(drainPatience, con.Patience)); !spool.Empty(dir) && time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(firstPause):
		}
	}
}

// SendApart starts a process that sends the entries spooled for a remote server.
func (con *Connector) SendApart() error { return con.StartApart("spool", "send") }

// StartApart starts this program again as an independent process with a verb and this process' data
// directory, configuration and server.
func (con *Connector) StartApart(args ...string) error {
	bin, err := os.Executable()
	if err != nil {
		return err
	}
	for flag, value := range map[string]string{"--data-dir": con.DataDir, "--config": con.Config, "--server": con.Server} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if con.InsecureHTTP {
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
