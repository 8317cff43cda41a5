package plan

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas/wordset"
)

// ownShells has the sources of events of agents that run each command in a shell of its own: of what it sets in its shell
// nothing is left for the next one. OpenHands and SWE-agent keep one shell; of the others it is not known.
var ownShells = wordset.Of("recount/agent-hook import/claude-code import/claude-stream import/codex import/codex-exec import/gemini import/opencode import/mini-swe-agent")

// inOwnShell reports whether the command of an event of a source ran in a shell of its own.
func inOwnShell(source string) bool { return ownShells[strings.TrimSuffix(source, "/untimed")] }

// byTool reports whether the command of an event of a source was recorded of a tool of an agent.
func byTool(source string) bool {
	return source == "recount/agent-hook" || strings.HasPrefix(source, "import/")
}

// endsShell takes from an act what it leaves in its shell, which ended with it.
func (a *act) endsShell() {
	a.apart = true
	a.ownShell = len(a.Sets)+len(a.Unsets) > 0 || a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return !c.Inner && !c.Apart && (c.Name == "exit" || c.Name == "exec" || c.Name == "return")
	})
	a.Sets, a.Unsets, a.Values, a.Functions, a.Passing = nil, nil, nil, nil, nil
}
