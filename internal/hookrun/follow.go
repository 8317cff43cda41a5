package hookrun

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
)

const (
	// maxTranscript is the size in bytes up to which a session's file is read after each turn.
	maxTranscript = 64 << 20
	// settled is how long a file must not have grown before it is read: the agent appends the prompt
	// or the answer while the hook runs. settlePatience limits the wait.
	settled        = 200 * time.Millisecond
	settlePatience = 3 * time.Second
	// spoolBatch is the number of events that are spooled at once.
	spoolBatch = 256
)

// readable reports whether there is a session's file.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// startFollowing starts a process that records the session's file of a call.
func startFollowing(con *connect.Connector, call agenthook.Call) error {
	dir, err := con.StateDir("recount-hooks")
	if err != nil {
		return err
	}
	call.Commands, call.Input, call.Output, call.Text = nil, "", "", ""
	b, err := json.Marshal(call)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "call-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return con.StartApart("hook", "follow", f.Name())
}

// FollowCall records the session's file that a call names, which is in the file of the argument.
func FollowCall(ctx context.Context, con *connect.Connector, args []string) error {
	if len(args) != 1 {
		return errors.New("hook follow: want the file of a call")
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	_ = os.Remove(args[0]) // sweep removes it otherwise
	var call agenthook.Call
	if err := json.Unmarshal(b, &call); err != nil {
		return err
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // the agent and its tools come first
	return Follow(ctx, con, call, settled)
}

// Follow spools the events of a session's file that it has not spooled before, once the file has not
// grown for some time.
func Follow(ctx context.Context, con *connect.Connector, call agenthook.Call, quiet time.Duration) error {
	size := settle(ctx, call.Transcript, quiet)
	if size > maxTranscript {
		return fmt.Errorf("%s: %s has more than %d bytes: not read after each turn; use recount import agents", call.Agent, call.Transcript, maxTranscript)
	}
	unlock, sent, err := sentBefore(con, call)
	if err != nil {
		return err
	}
	defer unlock()
	events, ids, err := unsent(con, call, sent)
	if err != nil || len(events) == 0 {
		return err
	}
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	for len(events) > 0 {
		n := min(spoolBatch, len(events))
		if err := con.Spool(cfg, events[:n]...); err != nil {
			return err
		}
		// After a crash here these events are spooled again, with the same ids.
		if err := sent.add(ids[:n]); err != nil {
			return err
		}
		events, ids = events[n:], ids[n:]
	}
	if con.ServerURL() != "" {
		return con.SendApart()
	}
	return nil
}

// settle waits until the file has not grown for some time, and returns its size.
func settle(ctx context.Context, path string, quiet time.Duration) int64 {
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	last, end := size(), time.Now().Add(settlePatience)
	for quiet > 0 && time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return last
		case <-time.After(quiet):
		}
		now := size()
		if now == last {
			break
		}
		last = now
	}
	return last
}

// unsent reads the file and returns its events that were not spooled before, as JSON, with their ids.
func unsent(con *connect.Connector, call agenthook.Call, sent *sentIDs) (events []schemas.Event, ids []schemas.EventID, err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return nil, nil, err
	}
	r, err := connect.Redactor(cfg)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(call.Transcript)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	o := agentlog.Options{
		Name: call.Session, Cwd: call.Cwd, Time: call.At, Commands: call.Agent == "gemini", Growing: true,
		Redact: func(m proto.Message) { r.Event(m) }, WorkspaceOf: recording.Cached(recording.Workspace), MemoryOf: recording.MemoryWorkspace,
	}
	for e, err := range agentlog.Read(f, o) {
		var skip *agentlog.SkipError
		var end *agentlog.FileError
		switch {
		case errors.As(err, &skip), errors.As(err, &end):
			continue // the last line may be half written; an import reports it if it stays so
		case err != nil:
			return nil, nil, err
		}
		if sent.has(e.ID) {
			continue
		}
		m, err := e.DecodePayload()
		if err != nil {
			return nil, nil, err
		}
		if e.Payload, err = schemas.EncodePayload(m); err != nil {
			return nil, nil, err
		}
		e.ContentType = schemas.ContentJSON
		events, ids = append(events, e), append(ids, e.ID)
	}
	return events, ids, nil
}

// sentIDs are the ids of a session's events that were spooled: 16 bytes each in a file of the state
// directory.
type sentIDs struct {
	file *os.File
	ids  map[schemas.EventID]bool
}

func (s *sentIDs) has(id schemas.EventID) bool { return s.ids[id] }

func (s *sentIDs) add(ids []schemas.EventID) error {
	var b bytes.Buffer
	for _, id := range ids {
		b.Write(id[:])
	}
	_, err := s.file.Write(b.Bytes())
	return err
}

// sentBefore reads which events of the session were spooled, and keeps other processes from doing so
// until unlock.
func sentBefore(con *connect.Connector, call agenthook.Call) (unlock func(), s *sentIDs, err error) {
	dir, err := con.StateDir("recount-hooks")
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256([]byte(call.Agent + "\x00" + call.Transcript))
	path := filepath.Join(dir, "session-"+hex.EncodeToString(sum[:12]))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	unlock = func() { f.Close() } // which also unlocks it
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		unlock()
		return nil, nil, err
	}
	s = &sentIDs{file: f, ids: map[schemas.EventID]bool{}}
	b, err := os.ReadFile(path)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	for ; len(b) >= len(schemas.EventID{}); b = b[len(schemas.EventID{}):] {
		s.ids[schemas.EventID(b[:len(schemas.EventID{})])] = true
	}
	if len(b) > 0 { // half an id of a process that was killed
		info, err := f.Stat()
		if err == nil {
			err = f.Truncate(info.Size() - int64(len(b)))
		}
		if err != nil {
			unlock()
			return nil, nil, err
		}
	}
	return unlock, s, nil
}
