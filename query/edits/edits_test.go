package edits

import (
	"testing"
	"time"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestCallsOfCommands finds the changes of commands by the id that a hook gives them, and by the call that an import names.
func TestCallsOfCommands(t *testing.T) {
	hooked, imported, other := agenttool.CommandID("claude-code", "s", "tu_1", 0), schemas.EventID{2}, schemas.EventID{3}
	call := schemas.EventID{9}
	x := session{byID: map[schemas.EventID]bool{hooked: true, imported: true, other: true}, byParent: map[string][]Edit{
		call.String(): {{ID: imported, Command: "create a"}, {ID: other, Command: "create b"}},
	}}
	found := map[schemas.EventID]agenttool.Change{}
	for id, name := range map[schemas.EventID]string{{8}: "tu_1", call: "tu_2"} {
		m := &recountv1.AgentEvent{Agent: "claude-code", Session: "s", Tool: &recountv1.Tool{Name: "Write", CallId: name, Arguments: `{"file_path":"a","content":"` + name + `"}`}}
		payload, err := schemas.EncodePayload(m)
		if err != nil {
			t.Fatal(err)
		}
		e := schemas.Event{ID: id, Type: schemas.TypeToolCall, Source: "test", Time: time.Unix(1767225600, 0), ContentType: schemas.ContentJSON, Payload: payload}
		x.read(schemas.LogRecord{Position: schemas.Position{Topic: "recount.agents"}, Headers: e.Headers(), Value: payload, Timestamp: e.Time}, found)
	}
	if len(found) != 2 || found[hooked].Content != "tu_1" || found[imported].Content != "tu_2" {
		t.Errorf("%+v", found)
	}
}
