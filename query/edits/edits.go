// Package edits finds what tools of coding agents wrote into files. A change of a file is recorded as the command
// edit PATH or create PATH; its text stands in the event of the call, if that was recorded too.
package edits

import (
	"context"
	"fmt"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxCalls limits how many calls of a session are read.
const maxCalls = 20000

// Edit is a command that stands for a change of a file.
type Edit struct {
	ID      schemas.EventID
	Command string
	Parent  string // the id of the event that led to it, in hex
	Session string
}

// Find returns the changes that commands stand for, by the ids of these, of those whose calls are known. An error is the
// context's, or one of the projection.
func Find(ctx context.Context, s commands.Sources, wanted []Edit) (map[schemas.EventID]agenttool.Change, error) {
	found := map[schemas.EventID]agenttool.Change{}
	if len(wanted) == 0 || s.Event == nil || !s.Set.Subscribes(objects.Name, schemas.TopicAgents) {
		return found, nil
	}
	live, release, err := s.Set.Acquire(objects.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	store, ok := live.(*objects.Objects)
	if !ok {
		return nil, fmt.Errorf("the projection %s is a %T", objects.Name, live)
	}
	view, err := store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	bySession := map[string]*session{}
	for _, w := range wanted {
		x := bySession[w.Session]
		if x == nil {
			x = &session{byID: map[schemas.EventID]bool{}, byParent: map[string][]Edit{}}
			bySession[w.Session] = x
		}
		x.byID[w.ID] = true
		x.byParent[w.Parent] = append(x.byParent[w.Parent], w)
	}
	for name, x := range bySession {
		refs, err := view.Latest(ctx, objects.Filter{Session: name, Events: []string{schemas.TypeToolCall}}, maxCalls)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			lr, err := s.Event(ctx, ref.Position)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				continue // it is gone, and a plan can do without it
			}
			if s.Reads != nil {
				if may, err := s.Reads(ctx, lr); err != nil {
					return nil, err
				} else if !may {
					continue
				}
			}
			x.read(lr, found)
		}
	}
	return found, nil
}

// session has the commands of a session that are looked for, by their ids and by those of their parents.
type session struct {
	byID     map[schemas.EventID]bool
	byParent map[string][]Edit
}

// read adds the changes of a call.
func (x *session) read(lr schemas.LogRecord, found map[schemas.EventID]agenttool.Change) {
	e, err := lr.Event()
	if err != nil {
		return
	}
	m, err := e.DecodePayload()
	if err != nil {
		return
	}
	a, ok := m.(*recountv1.AgentEvent)
	if !ok || a.GetTool().GetCommand() != "" {
		return
	}
	for i, c := range agenttool.Changes(a.Tool.GetName(), []byte(a.Tool.GetArguments())) {
		if id := agenttool.CommandID(a.Agent, a.Session, a.Tool.GetCallId(), i); x.byID[id] {
			found[id] = c
		}
		for _, w := range x.byParent[e.ID.String()] {
			if w.Command == c.Command() {
				found[w.ID] = c
			}
		}
	}
}
