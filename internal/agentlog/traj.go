package agentlog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var trajFormat = Format{
	Name: "traj", Files: "SWE-agent: *.traj",
	is: isTraj, read: readTraj, silent: true,
}

func isTraj(p probe) bool {
	return p.top.has("trajectory") || p.top.has("history") && p.anyIs("role", "user", "assistant") && !p.top.has("instance_id")
}

// readTraj reads a .traj of SWE-agent: one document per run. A document without a trajectory is a
// demonstration, which has only a history.
func readTraj(f *file, v value) error {
	var doc struct {
		Trajectory []trajStep    `json:"trajectory"`
		History    []trajMessage `json:"history"`
		Info       fields        `json:"info"`
		Replay     fields        `json:"replay_config"`
	}
	if err := json.Unmarshal(v.raw, &doc); err != nil {
		return plainJSON(err)
	}
	t := traj{run: f.begin("", "SWE-agent", trajWorkspace(doc.Trajectory)), steps: doc.Trajectory}
	t.model = string(doc.Replay.object("agent").object("model").text("name"))
	for _, m := range doc.History {
		switch {
		case m.IsDemo != "" && m.IsDemo != "false":
			f.leftOut("demonstration")
		case m.Role == "system":
			f.leftOut("system prompt")
		default:
			t.history = append(t.history, m)
		}
	}
	t.start()
	if len(t.steps) > 0 {
		for i, s := range t.steps {
			t.step(i, s)
		}
	} else {
		t.addHistory()
	}
	if patch := doc.Info.text("submission"); patch != "" {
		t.add(event{typ: schemas.TypeArtifact, own: "submission", parent: t.last, AgentEvent: &recountv1.AgentEvent{
			Artifact: &recountv1.ArtifactProduced{Uri: "swe-agent:" + t.session + "/submission", MediaType: patchType(patch), Content: patch},
		}})
	}
	if status := doc.Info.text("exit_status"); status != "" {
		t.finish("exit", time.Time{}, status, "", nil)
	}
	return nil
}

type trajStep struct {
	Action        loose           `json:"action"`
	Observation   loose           `json:"observation"`
	Response      loose           `json:"response"`
	Thought       loose           `json:"thought"`
	State         json.RawMessage `json:"state"`
	ExecutionTime float64         `json:"execution_time"`
}

type trajMessage struct {
	Role    loose           `json:"role"`
	Content json.RawMessage `json:"content"`
	Thought loose           `json:"thought"`
	Action  loose           `json:"action"`
	IsDemo  loose           `json:"is_demo"`
	Calls   []struct {
		ID       loose `json:"id"`
		Function struct {
			Name      loose `json:"name"`
			Arguments loose `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// traj is a run of SWE-agent.
type traj struct {
	*run
	steps   []trajStep
	history []trajMessage
	state   map[string]string
}

// trajState returns the state of a step. Versions before 1 store it as text that was read before
// the step's action; later ones as an object that was read after it.
func trajState(raw json.RawMessage) (s fields, before bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return object([]byte(text)), true
	}
	return object(raw), false
}

// trajWorkspace returns the directory in which the run began, "" if it is unknown.
func trajWorkspace(steps []trajStep) string {
	if len(steps) == 0 {
		return ""
	}
	s, _ := trajState(steps[0].State)
	return s.text("working_dir")
}

// start makes the events of the task; the first message is the issue.
func (t *traj) start() {
	if len(t.history) == 0 || t.history[0].Role != "user" {
		t.begun("start", time.Time{}, "")
		return
	}
	issue := contentText(t.history[0].Content)
	title := issue
	if _, rest, ok := strings.Cut(issue, "ISSUE:\n"); ok {
		title = rest
	}
	t.begun("start", time.Time{}, title)
	t.add(event{typ: schemas.TypeUserMessage, own: "issue", parent: t.last, AgentEvent: &recountv1.AgentEvent{Text: issue}})
	t.history = t.history[1:]
}

func (t *traj) step(i int, s trajStep) {
	state, before := trajState(s.State)
	if before {
		t.changes(ordinal("state", i), state)
	}
	thought, action := string(s.Thought), string(s.Action)
	if strings.TrimSpace(action) == "" {
		text := string(s.Response)
		if text == "" {
			text = thought
		}
		t.add(event{typ: schemas.TypeAssistantMessage, own: ordinal("step", i), parent: t.last, AgentEvent: &recountv1.AgentEvent{Text: text}})
	} else {
		name, callID, arguments := t.called(action)
		t.act(ordinal("step", i), name, callID, arguments, action, thought)
	}
	if s.Observation != "" || strings.TrimSpace(action) != "" {
		t.returned(ordinal("step", i), ordinal("observation", i), time.Time{}, result{
			text: string(s.Observation), known: s.ExecutionTime > 0 && s.ExecutionTime < 1e8, duration: time.Duration(s.ExecutionTime * float64(time.Second)),
		})
	}
	if !before {
		t.changes(ordinal("state", i), state)
	}
}

// called returns the call in the history that produced an action: the model's function call, if it
// made one.
func (t *traj) called(action string) (name, callID, arguments string) {
	i := slices.IndexFunc(t.history, func(m trajMessage) bool { return m.Role == "assistant" && string(m.Action) == action })
	if i >= 0 {
		m := t.history[i]
		t.history = t.history[i+1:]
		if len(m.Calls) > 0 {
			return string(m.Calls[0].Function.Name), string(m.Calls[0].ID), string(m.Calls[0].Function.Arguments)
		}
	}
	return "", "", ""
}

// special are the commands that SWE-agent's shell provides in addition to the machine's programs.
var special = []string{
	"open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "append", "submit", "find_file", "search_dir", "search_file",
	"str_replace_editor", "view_image", "filemap", "exit_cost", "exit_context", "exit_format", "exit_error", "exit_forfeit", "skip",
}

// act makes the event of an action.
func (t *traj) act(own, name, callID, arguments, action, thought string) {
	word, _, _ := strings.Cut(strings.TrimSpace(action), " ")
	word, _, _ = strings.Cut(word, "\n")
	if name == "" {
		if name = "bash"; slices.Contains(special, word) {
			name = word
		}
	}
	tool := &recountv1.Tool{Name: name, CallId: callID, Arguments: arguments}
	if name == "bash" {
		tool.Command, tool.Cwd = strings.TrimRight(action, "\r\n"), t.state["working_dir"]
	}
	if tool.Arguments == "" {
		tool.Arguments = strings.TrimRight(action, "\r\n")
	}
	switch word {
	case "open", "create":
		if words := strings.Fields(action); len(words) > 1 {
			tool.Files = []string{strings.Trim(words[1], `"'`)}
		}
	case "edit", "insert", "append":
		if open := t.state["open_file"]; open != "" {
			tool.Files = []string{open}
		}
	}
	id := t.issued(own, event{own: own, parent: t.last, AgentEvent: &recountv1.AgentEvent{Thought: thought, Tool: tool}})
	if !id.IsZero() {
		t.last = id
	}
}

// changes makes an event for each part of the state that changed.
func (t *traj) changes(own string, now fields) {
	if now == nil {
		return
	}
	if t.state == nil {
		t.state = map[string]string{}
	}
	from := t.last
	for _, key := range []string{"open_file", "working_dir"} {
		value := now.text(key)
		if value == "n/a" {
			value = ""
		}
		if !now.has(key) || value == t.state[key] {
			continue
		}
		t.state[key] = value
		t.emit(event{typ: schemas.TypeStateChanged, own: own, parent: from, AgentEvent: &recountv1.AgentEvent{
			State: &recountv1.StateChange{Key: key, Value: value, Removed: value == ""},
		}})
	}
}

// addHistory makes the events of a history without a trajectory.
func (t *traj) addHistory() {
	open := ""
	for i, m := range t.history {
		own, text := ordinal("message", i), contentText(m.Content)
		switch {
		case m.Role == "assistant" && m.Action != "":
			name, id, arguments := "", "", ""
			if len(m.Calls) > 0 {
				name, id, arguments = string(m.Calls[0].Function.Name), string(m.Calls[0].ID), string(m.Calls[0].Function.Arguments)
			}
			t.act(own, name, id, arguments, string(m.Action), string(m.Thought))
			open = own
		case m.Role == "assistant":
			t.add(event{typ: schemas.TypeAssistantMessage, own: own, parent: t.last, AgentEvent: &recountv1.AgentEvent{Text: text, Thought: string(m.Thought)}})
		case open != "":
			t.returned(open, own, time.Time{}, result{text: text})
			open = ""
		default:
			t.add(event{typ: schemas.TypeUserMessage, own: own, parent: t.last, AgentEvent: &recountv1.AgentEvent{Text: text}})
		}
	}
}

// patchType returns the media type of the patch at the end of a run.
func patchType(s string) string {
	if strings.Contains(s, "diff --git ") || strings.Contains(s, "\n--- ") {
		return "text/x-diff"
	}
	return "text/plain"
}
