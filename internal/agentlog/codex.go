package agentlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/hookinput"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var codexFormat = Format{
	Name: "codex", Files: "Codex: ~/.codex/sessions/**/rollout-*.jsonl",
	is: isCodex, read: readCodex,
}

// codexLines are the types of a rollout's lines since version 0.40.
var codexLines = []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"}

func isCodex(p probe) bool {
	if slices.Contains(codexLines, p.top.text("type")) && p.top.has("payload") {
		return true
	}
	return !p.top.has("type") && p.top.has("id") && p.top.has("timestamp") && p.top.has("instructions", "git") // before 0.40
}

// codexState is what later lines of a rollout need to know of earlier ones.
type codexState struct {
	cwd, model string
	// thoughts precede the next message or call.
	thoughts []block
	thinker  message
	// said are the latest texts of messages, which a rollout has as an item and as an event.
	said []string
	// ended are the outcomes of commands whose result has not been read.
	ended map[string]result
	// named reports whether this session's own first line was read: the first lines of the sessions
	// that it continues follow it.
	named bool
}

// readCodex reads a line of a rollout. Its items are those of OpenAI's Responses API, except that
// the results of commands have a header or are JSON. Events repeat items in the words of Codex' user
// interface; those without an item are read too.
func readCodex(f *file, v value) error {
	doc := object(v.raw)
	if doc == nil {
		return errors.New("no object")
	}
	if f.codex.ended == nil {
		f.codex.ended = map[string]result{}
	}
	c := &f.codex
	typ, in := doc.text("type"), doc.object("payload")
	if !doc.has("payload") { // before 0.40
		switch {
		case doc.has("record_type"):
			f.leftOut("state line")
			return nil
		case !doc.has("type"):
			typ, in = "session_meta", doc
		default:
			typ, in = "response_item", doc
		}
	}
	if typ == "session_meta" {
		return f.codexMeta(in)
	}
	if !c.named { // a part of a rollout
		c.named = true
		r := f.begin("", "codex", f.place(f.o.Cwd))
		r.unique, r.hook, c.cwd = true, "codex", f.o.Cwd
	}
	r := f.order[len(f.order)-1]
	at := when(doc.text("timestamp"))
	switch typ {
	case "turn_context":
		if s := in.text("cwd"); s != "" {
			c.cwd, r.cwd = s, s
		}
		if s := in.text("model"); s != "" {
			c.model = s
		}
		return nil
	case "compacted":
		if s := in.text("message"); s != "" {
			r.add(event{typ: schemas.TypeMemoryStated, own: codexOwn(v), at: at, parent: r.last, AgentEvent: &recountv1.AgentEvent{
				Text: s, Memory: &recountv1.Statement{Kind: recountv1.MemoryKind_MEMORY_KIND_EPISODIC},
			}})
		}
		return nil
	case "event_msg":
		return f.codexEvent(r, v, in, at)
	case "response_item":
		return f.codexItem(r, v, in, at)
	}
	f.leftOut(headOf(typ, 40) + " line")
	return nil
}

func (f *file) codexMeta(in fields) error {
	if f.codex.named {
		f.leftOut("session_meta line") // of the session that this one continues
		return nil
	}
	id := in.text("id")
	if id == "" {
		id = in.text("session_id")
	}
	if id == "" {
		return errors.New("a session_meta line without an id")
	}
	c := &f.codex
	c.named, c.cwd = true, in.text("cwd")
	r := f.begin(id, "codex", f.place(c.cwd))
	r.unique, r.hook, r.cwd = true, "codex", c.cwd
	if git := in.object("git"); git != nil {
		r.attributes = map[string]string{}
		for key, field := range map[string]string{"git_branch": "branch", "git_commit": "commit_hash"} {
			if s := git.text(field); s != "" {
				r.attributes[key] = s
			}
		}
	}
	return nil
}

// codexEnd makes the event of thoughts that nothing followed.
func (f *file) codexEnd() {
	if c := &f.codex; len(c.thoughts) > 0 {
		c.thinker.blocks, c.thoughts = c.thoughts, nil
		r := f.order[len(f.order)-1]
		parent, causes := r.follows()
		r.addMessage(c.thinker, parent, causes)
	}
}

// codexOwn returns a line's id in its session: lines have none, but their times and contents differ.
func codexOwn(v value) string {
	sum := sha256.Sum256(v.raw)
	return "line/" + hex.EncodeToString(sum[:12])
}

// codexInserted are beginnings of messages of role user that Codex writes itself.
var codexInserted = []string{
	"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>", "<permissions instructions>",
	"<skills_instructions>", "<collaboration_mode>", "<subagent_notification>",
}

func (f *file) codexItem(r *run, v value, in fields, at time.Time) error {
	c := &f.codex
	if in.text("type") == "" && in.has("role") {
		in["type"] = json.RawMessage(`"message"`)
	}
	m := openaiMessage(in)
	id := in.text("call_id")
	switch typ := in.text("type"); typ {
	case "message":
		text := contentText(in["content"])
		if m.role == "user" && slices.ContainsFunc(codexInserted, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(text), s) }) {
			f.leftOut("inserted note")
			return nil
		}
		if m.role != "system" && c.repeats(text) {
			return nil
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		for i := range m.blocks {
			c.place(m.blocks[i].call)
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		res := codexResult(in["output"])
		if e, ok := c.ended[id]; ok {
			if res.exitCode == nil {
				res.exitCode, res.failed = e.exitCode, e.failed
			}
			res.duration, res.known = e.duration, e.known
			delete(c.ended, id)
		}
		m.blocks = []block{{callID: id, result: &res}}
	case "reasoning":
		if len(c.thoughts) == 0 {
			c.thinker = message{role: "assistant", own: codexOwn(v), at: at, model: c.model, attributes: r.attributes}
		}
		for _, b := range m.blocks {
			if b.aside != "" {
				f.leftOut(b.aside)
			} else {
				c.thoughts = append(c.thoughts, b)
			}
		}
		return nil
	case "ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other":
		f.leftOut(typ + " item")
		return nil
	}
	if len(m.blocks) == 0 {
		f.leftOut(headOf(in.text("type"), 40) + " item")
		return nil
	}
	m.own, m.at, m.model, m.attributes = codexOwn(v), at, c.model, r.attributes
	if m.role == "assistant" {
		m.blocks, c.thoughts = append(c.thoughts, m.blocks...), nil
	} else if m.role == "user" {
		f.codexEnd()
	}
	parent, causes := r.follows()
	r.addMessage(m, parent, causes)
	return nil
}

// place sets the directory of a call, and makes the command of a patch the call of the tool that it
// is.
func (c *codexState) place(t *recountv1.Tool) {
	args := object([]byte(t.Arguments))
	if t.Name == "local_shell" {
		t.Cwd = args.text("working_directory")
	}
	if patch := patchIn(args); patch != "" && t.Command != "" {
		t.Name, t.Command, t.Arguments = "apply_patch", "", patch
		t.Cwd = ""
	}
	if t.Command != "" && (t.Cwd == "" || !strings.HasPrefix(t.Cwd, "/") && !strings.Contains(t.Cwd, `:\`)) {
		t.Cwd = c.cwd
	}
}

// patchIn returns the patch if the arguments of a shell are a call of apply_patch.
func patchIn(args fields) string {
	var words []string
	if json.Unmarshal(args["command"], &words) == nil && len(words) == 2 && words[0] == "apply_patch" {
		return words[1]
	}
	command := shellCommand(args["command"])
	if command == "" {
		command = args.text("cmd")
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(command), "apply_patch"); ok && strings.Contains(rest, "*** Begin Patch") {
		return rest
	}
	return ""
}

// repeats reports whether a message was read as an item or an event already, and remembers it.
func (c *codexState) repeats(text string) bool {
	text = headOf(strings.TrimSpace(text), 1<<10)
	if i := slices.Index(c.said, text); i >= 0 && text != "" {
		c.said = slices.Delete(c.said, i, i+1)
		return true
	}
	if c.said = append(c.said, text); len(c.said) > 4 {
		c.said = c.said[1:]
	}
	return false
}

// codexEvent reads an event of the user interface.
func (f *file) codexEvent(r *run, v value, in fields, at time.Time) error {
	c := &f.codex
	say := func(role, text string) {
		if c.repeats(text) {
			return
		}
		f.codexEnd()
		parent, causes := r.follows()
		r.addMessage(message{role: role, own: codexOwn(v), at: at, model: c.model, attributes: r.attributes, blocks: []block{{said: text}}}, parent, causes)
	}
	switch typ := in.text("type"); typ {
	case "user_message":
		say("user", in.text("message"))
	case "agent_message":
		say("assistant", in.text("message"))
	case "error", "stream_error":
		r.add(event{typ: schemas.TypeAssistantMessage, own: codexOwn(v), at: at, parent: r.last, AgentEvent: &recountv1.AgentEvent{
			Text: in.text("message"), Attributes: map[string]string{"api_error": "true"},
		}})
	case "exec_command_end":
		c.ended[in.text("call_id")] = codexOutcome(in)
	default:
		f.leftOut(headOf(typ, 40) + " event")
	}
	return nil
}

func codexOutcome(in fields) result {
	var res result
	if n, err := strconv.ParseInt(in.text("exit_code"), 10, 32); err == nil {
		code := int32(n)
		res.exitCode, res.failed = &code, n != 0
	}
	var took struct {
		Secs  int64 `json:"secs"`
		Nanos int64 `json:"nanos"`
	}
	if json.Unmarshal(in["duration"], &took) == nil && took.Secs >= 0 && took.Secs < 1e8 && took.Nanos >= 0 && took.Nanos < 1e9 && in.has("duration") {
		res.duration, res.known = time.Duration(took.Secs)*time.Second+time.Duration(took.Nanos), true
	}
	return res
}

// codexResult reads the output of a call: a text, a list of parts, or an object with an output and
// metadata, which may be JSON in a text.
func codexResult(raw json.RawMessage) result {
	res := result{text: contentText(raw)}
	doc := object(raw)
	if doc == nil && strings.HasPrefix(res.text, `{"`) {
		doc = object([]byte(res.text))
	}
	if doc.has("output") {
		res.text = contentText(doc["output"])
		meta := doc.object("metadata")
		if n, err := strconv.ParseInt(meta.text("exit_code"), 10, 32); err == nil {
			code := int32(n)
			res.exitCode = &code
		}
		if sec, err := strconv.ParseFloat(meta.text("duration_seconds"), 64); err == nil && sec > 0 && sec < 1e8 {
			res.duration, res.known = time.Duration(sec*float64(time.Second)), true
		}
	} else if doc.has("content") {
		res.text = contentText(doc["content"])
		res.failed = doc.text("success") == "false"
	}
	// The header of a text ends at the line "Output:".
	header, body, ok := strings.Cut(res.text, "\nOutput:\n")
	if code, found := hookinput.ExitCode(header); found && ok && res.exitCode == nil {
		res.exitCode, res.text = &code, body
	}
	if res.exitCode == nil && strings.HasPrefix(res.text, "failed in sandbox ") {
		if _, rest, ok := strings.Cut(headOf(res.text, 256), "exit code: "); ok {
			digits, _, _ := strings.Cut(rest, ",")
			if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
				code := int32(n)
				res.exitCode = &code
			}
		}
		res.failed = true
	}
	res.failed = res.failed || res.exitCode != nil && *res.exitCode != 0
	return res
}
