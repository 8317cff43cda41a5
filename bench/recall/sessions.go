package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// step is an event of a session: a prompt, a message, or a use of a tool with its result.
type step struct {
	at      time.Time
	prompt  string
	command string
	output  string
	edits   bool // it changed a file
	text    string
	failed  bool
	ended   bool // the result is known
	exit    *int32
}

// session is a file of an agent.
type session struct {
	name, workspace string
	steps           []step
}

// held reports whether a session belongs to the part that nothing was tuned on.
func held(name string) bool { return sha256.Sum256([]byte("recall/" + name))[0]%2 == 1 }

// readSessions reads the sessions in a directory, in the order of their first event.
func readSessions(dir string) ([]session, error) {
	var all []session
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains([]string{".jsonl", ".json", ".traj"}, filepath.Ext(path)) {
			return err
		}
		s, err := readSession(path)
		if err == nil && len(s.steps) > 0 {
			all = append(all, s)
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b session) int {
		return cmp.Or(a.steps[0].at.Compare(b.steps[0].at), strings.Compare(a.name, b.name))
	})
	return all, err
}

func readSession(path string) (session, error) {
	s := session{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, err
	}
	calls := map[string]int{} // steps by the ids of the events that called
	for e, err := range agentlog.Read(f, agentlog.Options{Name: s.name, Time: info.ModTime()}) {
		var skip *agentlog.SkipError
		var end *agentlog.FileError
		if errors.As(err, &skip) || errors.As(err, &end) {
			continue
		}
		if err != nil {
			return s, err
		}
		m, err := e.DecodePayload()
		if err != nil {
			return s, err
		}
		a, ok := m.(*recountv1.AgentEvent)
		if !ok {
			continue
		}
		if a.Session != "" {
			s.name = a.Session
		}
		at := e.Time
		if a.OccurredAt != nil {
			at = a.OccurredAt.AsTime()
		}
		switch e.Type {
		case schemas.TypeUserMessage:
			s.steps = append(s.steps, step{at: at, prompt: a.Text})
		case schemas.TypeToolCall:
			name := strings.ToLower(a.Tool.GetName())
			calls[e.ID.String()] = len(s.steps)
			s.steps = append(s.steps, step{at: at, command: a.Tool.GetCommand(), edits: strings.Contains(name, "edit") || name == "write", text: a.Tool.GetArguments()})
		case schemas.TypeToolResult:
			if i, ok := calls[a.ParentEventId]; ok {
				x := &s.steps[i]
				x.output, x.exit, x.ended, x.at = a.Tool.GetResult(), a.Tool.ExitCode, true, at
				x.failed = a.Tool.GetFailed() || a.Tool.GetExitCode() != 0
			}
		case schemas.TypeAssistantMessage:
			s.steps = append(s.steps, step{at: at, text: a.Text})
		}
	}
	return s, nil
}
