package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/intake"
)

// Recorders put commands into the spool of the data directory without waiting for a server. The
// process that opens the directory drains it: a local node once, when it opens, a server as long as
// it runs.

const (
	// spoolLook is the interval at which a server checks for new entries, by one system call.
	spoolLook = 100 * time.Millisecond
	// spoolAgain is how long a server waits after a failed drain.
	spoolAgain = 2 * time.Second
	// spoolVisible is the maximum time that drained entries stay in the spool until questions see
	// them: to a client, an empty spool means that they do.
	spoolVisible = time.Second
)

// SpoolEntry converts an event with a JSON payload to an entry of a spool.
func SpoolEntry(e schemas.Event) spool.Entry {
	return spool.Entry{ID: e.ID.String(), Type: e.Type, Source: e.Source, Time: e.Time, Key: string(e.Key), Data: e.Payload}
}

// DrainTo returns the function with which a Drainer puts entries into a log by add. It refuses an
// event that is invalid in itself; any other failure leaves the entries in the spool.
func DrainTo(add func([]schemas.Event) error) func([]spool.Entry) error {
	return func(entries []spool.Entry) error {
		events := make([]schemas.Event, len(entries))
		for i, e := range entries {
			var err error
			if events[i], err = intake.Spooled(e); err != nil {
				return &spool.Refused{Index: i, Err: err}
			}
		}
		err := add(events)
		var wrong *api.EventError
		if errors.As(err, &wrong) {
			return &spool.Refused{Index: wrong.Index, Err: wrong.Err}
		}
		return err
	}
}

// knownEvents names what this program can read as an event: another version that knows other fields has another name.
func knownEvents() string {
	var files []string
	protoregistry.GlobalFiles.RangeFilesByPackage("recount.v1", func(f protoreflect.FileDescriptor) bool {
		if b, err := (proto.MarshalOptions{Deterministic: true}).Marshal(protodesc.ToFileDescriptorProto(f)); err == nil {
			files = append(files, string(b))
		}
		return true
	})
	slices.Sort(files)
	c := schemas.NewCanon("recount/known/1")
	for _, f := range files {
		c.String(f)
	}
	return c.Sum().String()
}

// retryRefused puts back what another version of this program could not read in the spool. What cannot be put back
// stays where it is, and the status counts it.
func (n *Node) retryRefused() {
	if !n.drains() {
		return
	}
	if err := spool.NewDrainer(spool.Dir(n.dir.path)).Retry(knownEvents); err != nil {
		n.cfg.Logger.Warn("what was set aside in the spool is not read again", "err", err)
	}
}

// drains reports whether this process drains the spool.
func (n *Node) drains() bool { return n.cfg.Has(RoleIngest) }

// drain moves the spool's entries into the log. It calls visible with the watermark of what it
// appended, before that leaves the spool.
func (n *Node) drain(ctx context.Context, visible func(schemas.Watermark)) error {
	d := spool.NewDrainer(spool.Dir(n.dir.path))
	_, err := d.Drain(DrainTo(func(events []schemas.Event) error {
		done, err := n.Append(ctx, events)
		if err != nil {
			return err
		}
		w := schemas.Watermark{}
		for _, a := range done {
			tp := schemas.TopicPartition{Topic: a.Position.Topic, Partition: a.Position.Partition}
			w[tp] = max(w[tp], a.Position.Offset+1)
		}
		visible(w)
		return nil
	}))
	return err
}

// drainLocal drains the spool when a local node opens. Questions are answered even if it fails: the
// entries stay, and the status reports it. If a crash interrupted an earlier drain, the projections
// first apply what that appended, since they know the ids.
func (n *Node) drainLocal(ctx context.Context) {
	n.retryRefused()
	dir := spool.Dir(n.dir.path)
	if !n.drains() || spool.Empty(dir) {
		return
	}
	// On a full disk an append would retry for half a minute and delay every command.
	err := n.log.Full()
	if err == nil && spool.Interrupted(dir) {
		err = n.catchUp(ctx)
	}
	if err == nil {
		err = n.drain(ctx, func(schemas.Watermark) {})
	}
	if err != nil {
		n.spoolFault = fmt.Errorf("commands in the spool are not in the log yet: %w", err)
	}
}

// SpoolFault returns why a local node could not drain the spool, or nil.
func (n *Node) SpoolFault() error { return n.spoolFault }

// followSpool drains the spool as long as the node serves.
func (n *Node) followSpool(ctx context.Context) {
	n.retryRefused()
	dir := spool.Dir(n.dir.path)
	d := spool.NewDrainer(dir)
	visible := func(w schemas.Watermark) {
		if n.set == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, spoolVisible)
		defer cancel()
		_ = n.set.Wait(ctx, w) // on a timeout, questions see the events later
	}
	pause := time.Duration(0)
	failed := ""
	left := spool.Interrupted(dir) // a crash interrupted a drain
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = spoolLook
		if left && n.set != nil && !n.ready.Load() {
			continue // wait for the projections, which know the ids
		}
		if !left && !d.Waiting() {
			continue
		}
		err := n.log.Full()
		if err == nil {
			err = n.drain(ctx, visible)
		}
		left = spool.Interrupted(dir)
		switch {
		case err == nil:
			if failed = ""; left {
				pause = spoolAgain // a recorder was stopped while writing
			}
		case ctx.Err() != nil:
			return
		default:
			if pause = spoolAgain; failed != err.Error() {
				failed = err.Error()
				n.cfg.Logger.Error("the spool cannot be drained; its commands stay there", "err", err)
			}
		}
	}
}

// SpoolStatus returns the state of the spool in a data directory, which another process may be
// using. fault is the reason why it could not be drained, or nil.
func SpoolStatus(dataDir string, fault error) api.SpoolStatus {
	dir := spool.Dir(dataDir)
	st := spool.Inspect(dir)
	s := api.SpoolStatus{
		Dir: dir, Waiting: st.Waiting, DamagedBytes: st.Damaged, Refused: st.Refused, Lost: st.Lost, Servers: []api.SpoolServer{},
	}
	if st.Lost > 0 {
		s.LastLost = &st.LastLost
	}
	switch {
	case st.Fault != nil:
		s.Fault = st.Fault.Error()
	case fault != nil:
		s.Fault = fault.Error()
	}
	for _, url := range spool.Remotes(dataDir) {
		if there := spool.Inspect(spool.RemoteDir(dataDir, url)); there.Waiting > 0 {
			s.Servers = append(s.Servers, api.SpoolServer{URL: url, Waiting: there.Waiting})
		}
	}
	return s
}
