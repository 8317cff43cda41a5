package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

// run is one use of a tool in a session, or something said between two.
type run struct {
	// call and result are its objects; a message has only call. A call without a result has not
	// ended, or nobody recorded how.
	call, result *objects.Stored
	said         bool
	// command is what a shell ran, "" for another tool; edited is the file that the tool changed.
	command, edited string
	keys            []string
}

// around returns the runs of a session about a moment, in order: from a while before it, so that a
// result has its call, to as long after it as a mend may take. 0 means the whole session.
func (a *session) around(name string, moment int64) ([]run, error) {
	key := name
	f := a.filter()
	f.Session = name
	if moment != 0 {
		key += "\x00" + strconv.FormatInt(moment, 10)
		f.Since, f.Until = moment-int64(callBefore), moment+int64(mendAfter)
	}
	if all, ok := a.runs[key]; ok {
		return all, nil
	}
	refs, err := a.view.Latest(a.Ctx, f, maxSession)
	if err != nil {
		return nil, err
	}
	slices.Reverse(refs)
	if moment != 0 {
		// Events without times of their own have that of their file.
		before := 0
		for before < len(refs) {
			if at, _, _ := a.view.Ranking(refs[before]); at >= moment {
				break
			}
			before++
		}
		refs = refs[max(0, before-maxAround/8):min(len(refs), before+maxAround)]
	}
	all, err := a.read(refs)
	if err == nil {
		a.runs[key] = all
	}
	return all, err
}

const (
	// maxSession is how many of a session's newest objects are looked at, maxAround how many are read
	// after a moment.
	maxSession = 6000
	maxAround  = 400
	// callBefore is how long before its result a call is looked for, mendAfter how long after a
	// failure its mend.
	callBefore = 20 * time.Minute
	mendAfter  = 3 * time.Hour
)

// read joins calls with their results.
func (a *session) read(refs []schemas.ObjectRef) ([]run, error) {
	var all []run
	byEvent := map[schemas.EventID]int{}
	for _, ref := range refs {
		o, err := a.object(ref)
		if err != nil {
			return nil, err
		}
		switch {
		case o == nil:
		case o.EventType == schemas.TypeToolCall:
			byEvent[o.EventID] = len(all)
			all = append(all, readCall(o))
		case o.EventType == schemas.TypeToolResult:
			at := callOf(o, byEvent)
			if at < 0 {
				if o.Tool.GetCommand() != "" { // a command whose call nobody recorded
					x := run{call: o, result: o, command: o.Tool.Command}
					x.keys = keysOf(x.command)
					all = append(all, x)
				}
				continue
			}
			all[at].result = o
		case o.EventType == schemas.TypeAssistantMessage || o.EventType == schemas.TypeUserMessage:
			all = append(all, run{call: o, said: true})
		}
	}
	return all, nil
}

// callOf returns the index of the call that a result belongs to, or -1.
func callOf(o *objects.Stored, byEvent map[schemas.EventID]int) int {
	for _, e := range o.Edges {
		if len(e.EventId) != len(schemas.EventID{}) {
			continue
		}
		if at, ok := byEvent[schemas.EventID(e.EventId)]; ok {
			return at
		}
	}
	return -1
}

// readCall returns the run of a call.
func readCall(o *objects.Stored) run {
	x := run{call: o}
	t := o.Tool
	switch name := strings.ToLower(t.GetName()); {
	case t.GetCommand() != "":
		x.command = t.Command
		x.keys = keysOf(x.command)
		if verb, file, ok := strings.Cut(x.command, " "); ok && (verb == "edit" || verb == "create") && !strings.Contains(file, "\n") {
			x.edited = file // SWE-agent's own editor
		}
	case editors[name]:
		x.edited = fileIn(o.Text)
	}
	return x
}

// fileIn returns the file that an edit's text names: in the line of the tool's name, or as an argument
// below it.
func fileIn(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	words := strings.Fields(line)
	for _, w := range words[min(1, len(words)):] {
		if strings.ContainsAny(w, "/.") {
			return w
		}
	}
	for line := range strings.Lines(rest) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch name {
		case "file_path", "filePath", "path", "notebook_path", "filename", "target_file":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// editors are tools that change files.
var editors = wordset.Of("edit multiedit write notebookedit replace write_file edit_file create_file apply_patch patch str_replace_editor str_replace_based_edit_tool file_editor search_replace")

// failed reports whether a run failed, as far as is known; a result without an exit code is judged
// by its output.
func (x *run) failed(marks func() []mark) bool {
	if x.result == nil {
		return false
	}
	t := x.result.Tool
	if t.GetFailed() {
		return true
	}
	if t != nil && t.ExitCode != nil {
		return t.GetExitCode() != 0
	}
	return x.command != "" && looksFailed(x.result) && len(marks()) > 0
}

// succeeded reports whether a run is known to have succeeded.
func (x *run) succeeded() bool {
	if x.result == nil {
		return false
	}
	t := x.result.Tool
	switch {
	case t.GetFailed():
		return false
	case t != nil && t.ExitCode != nil:
		return t.GetExitCode() == 0
	}
	// What an edit prints is the file, whatever stands in it.
	return x.command == "" || !looksFailed(x.result)
}

// looksFailed reports whether the output of a command without an exit code reports a failure by
// itself.
func looksFailed(o *objects.Stored) bool {
	for _, sign := range failureSigns {
		if strings.Contains(o.Text, sign) {
			return true
		}
	}
	return false
}

// failureSigns are what programs print that fail, in outputs without an exit code.
var failureSigns = []string{
	"Traceback (most recent call last)", "command not found", "No such file or directory", "SyntaxError", "Error: ", "error: ", "FAILED", "ERROR ",
	"Permission denied", "panic: ", "BUILD FAILURE", "fatal: ", "ModuleNotFoundError", "Your proposed edit has introduced new syntax error",
}

// acts reports whether a run may have mended something.
func (x *run) acts() bool {
	return x.edited != "" || x.command != "" && !onlyReads(x.command)
}

// isResult selects results of tools.
func (a *session) isResult() func(schemas.ObjectRef) bool {
	f := a.filter()
	f.Events = []string{schemas.TypeToolResult}
	return a.view.Filter(f)
}

// outside says where the text of an object came from, if neither the user nor the agent wrote it.
func outside(o *objects.Stored) string {
	if o.EventType != schemas.TypeToolResult {
		return ""
	}
	name := strings.ToLower(o.Tool.GetName())
	for _, web := range []string{"web", "fetch", "browser", "http", "url", "search_online"} {
		if strings.Contains(name, web) {
			return "from the web"
		}
	}
	return "output of a tool"
}

// source says who an object is from.
func source(o *objects.Stored) string {
	if o.EventType == schemas.TypeUserMessage {
		return "user"
	}
	return o.Agent
}

// isMemory reports whether an object was stated in order to be remembered.
func isMemory(o *objects.Stored) bool {
	return o.Type == recountv1.ObjectType_OBJECT_TYPE_MEMORY && o.EventType == schemas.TypeMemoryStated
}
