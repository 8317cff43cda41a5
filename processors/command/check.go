package command

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Check returns an error for a command or an outcome that the schema's constraints accept but
// Intent or Outcome refuses. An endpoint that calls it before appending therefore accepts nothing
// that is rejected later. Errors are of class ErrPoison and name the field.
func Check(payload proto.Message) error {
	switch m := payload.(type) {
	case *recountv1.CommandExecuted:
		return checkCommand(m)
	case *recountv1.OutcomeObserved:
		return checkOutcome(m)
	}
	return schemas.Poisonf("payload is %T, want CommandExecuted or OutcomeObserved", payload)
}

func checkCommand(c *recountv1.CommandExecuted) error {
	for _, f := range []struct{ name, value string }{
		{"command", c.Command},
		{"workspace", c.Workspace},
		{"cwd", c.Cwd},
		{"session", c.Session},
		{"shell", c.Shell},
		{"user", c.User},
		{"host", c.Host},
		{"git_head", c.GitHead},
		{"author", c.Author},
		{"parent_event_id", c.ParentEventId},
		{"home", c.Home},
	} {
		// No shell passes on a NUL, and the stores use it to end strings.
		if strings.IndexByte(f.value, 0) >= 0 {
			return schemas.Poisonf("%s: holds a NUL byte", f.name)
		}
	}
	if strings.TrimSpace(c.Command) == "" {
		return schemas.Poisonf("command: only white space")
	}
	return schemas.CheckTime("started_at", c.StartedAt)
}

func checkOutcome(o *recountv1.OutcomeObserved) error {
	if strings.IndexByte(o.CommandEventId, 0) >= 0 {
		return schemas.Poisonf("command_event_id: holds a NUL byte")
	}
	return schemas.CheckTime("observed_at", o.ObservedAt)
}
