package schemas

import (
	"bytes"
	"math"

	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// plainAgent is the counterpart of plainCommand for agents' events. It supports identities,
// references, texts and tool calls.
func plainAgent(data []byte) (m proto.Message, ok bool) {
	a := &recountv1.AgentEvent{}
	in := plainJSON{rest: data}
	seen := uint32(0)
	for more := in.open(); more; more = in.more() {
		fine := false
		// The cases are in the order of the fields in agents.proto, with the limits stated there.
		switch name := in.name(); string(name) {
		case "tenant":
			fine = once(&seen, 1) && in.text(&a.Tenant, 256)
		case "workspace":
			fine = once(&seen, 2) && in.text(&a.Workspace, 4096)
		case "agent":
			fine = once(&seen, 3) && in.text(&a.Agent, 256)
		case "session":
			fine = once(&seen, 4) && in.text(&a.Session, 256)
		case "occurred_at":
			fine = once(&seen, 5) && in.timestamp(&a.OccurredAt)
		case "parent_event_id":
			fine = once(&seen, 6) && in.text(&a.ParentEventId, 256)
		case "text":
			fine = once(&seen, 13) && in.text(&a.Text, math.MaxInt)
		case "thought":
			fine = once(&seen, 14) && in.text(&a.Thought, math.MaxInt)
		case "model":
			fine = once(&seen, 15) && in.text(&a.Model, 256)
		case "tool":
			fine = once(&seen, 16) && in.tool(&a.Tool)
		}
		if !fine {
			return nil, false
		}
	}
	return a, in.ended()
}

// tool reads a tool call or its result.
func (in *plainJSON) tool(to **recountv1.Tool) bool {
	t := &recountv1.Tool{}
	seen := uint32(0)
	for more := in.open(); more; more = in.more() {
		fine := false
		switch name := in.name(); string(name) {
		case "name":
			fine = once(&seen, 1) && in.text(&t.Name, 256)
		case "call_id":
			fine = once(&seen, 2) && in.text(&t.CallId, 256)
		case "arguments":
			fine = once(&seen, 3) && in.text(&t.Arguments, math.MaxInt)
		case "command":
			fine = once(&seen, 4) && in.text(&t.Command, math.MaxInt)
		case "cwd":
			fine = once(&seen, 5) && in.text(&t.Cwd, 4096)
		case "result":
			fine = once(&seen, 7) && in.text(&t.Result, math.MaxInt)
		case "failed":
			fine = once(&seen, 8) && in.boolean(&t.Failed)
		case "exit_code":
			fine = once(&seen, 9) && in.small(&t.ExitCode)
		case "duration":
			fine = once(&seen, 10) && in.duration(&t.Duration)
		}
		if !fine {
			return false
		}
	}
	*to = t
	return !in.failed
}

// boolean reads true or false.
func (in *plainJSON) boolean(to *bool) bool {
	in.peek()
	for _, word := range [...]string{"false", "true"} {
		if rest, ok := bytes.CutPrefix(in.rest, []byte(word)); ok {
			in.rest = rest
			*to = word == "true"
			c := in.peek()
			return c == ',' || c == '}'
		}
	}
	return false
}
