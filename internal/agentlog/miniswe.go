package agentlog

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var miniFormat = Format{
	Name: "mini-swe-agent", Files: "mini-swe-agent: *.traj.json, of versions 1 and 2",
	is: isMini, read: readMini,
}

func isMini(p probe) bool {
	if p.top.has("messages") && (strings.HasPrefix(p.top.text("trajectory_format"), "mini-swe-agent") || p.top.object("info").has("mini_version")) {
		return true
	}
	// The first versions wrote the messages only.
	if p.top == nil || p.top.has("messages") {
		for _, m := range p.first {
			if text := contentText(m["content"]); m.text("role") == "assistant" && strings.Contains(text, "```mswea_bash_command\n") ||
				m.text("role") == "user" && strings.HasPrefix(strings.TrimSpace(text), "<returncode>") {
				return true
			}
		}
	}
	return false
}

// readMini reads a run of mini-swe-agent. Its commands are calls of the tool bash, or a fence in a
// message; the next message is the result.
func readMini(f *file, v value) error {
	doc := object(v.raw)
	messages := v.raw
	if doc != nil {
		messages = doc["messages"]
	}
	items := elementsOf(messages)
	if items == nil {
		return errors.New("messages is not a list")
	}
	info := doc.object("info")
	config := info.object("config")
	cwd := config.object("environment").text("cwd")
	session := doc.text("instance_id")
	r := f.begin(session, "mini-swe-agent", f.place(cwd))
	r.cwd = cwd
	r.model = config.object("model").text("model_name")
	r.model = r.model[strings.LastIndexByte(r.model, '/')+1:]
	mini := miniRun{run: r}
	for i, raw := range items {
		mini.message(i, object(raw))
	}
	if patch := info.text("submission"); patch != "" {
		r.add(event{typ: schemas.TypeArtifact, own: "submission", parent: r.last, AgentEvent: &recountv1.AgentEvent{
			Artifact: &recountv1.ArtifactProduced{Uri: "mini-swe-agent:" + r.session + "/submission", MediaType: patchType(patch), Content: patch},
		}})
	}
	if status := info.text("exit_status"); status != "" {
		r.finish("exit", time.Time{}, status, "", nil)
	}
	if !f.o.Growing {
		r.end()
	}
	return nil
}

type miniRun struct {
	*run
	open string // the command that waits for its result
	task bool   // whether the task was read
}

// miniFence matches a command in a message. Versions differ in the fence, and a configuration may
// name another.
var miniFence = regexp.MustCompile("(?s)```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```|<mswea_bash_command>(.*?)</mswea_bash_command>")

func (r *miniRun) message(i int, doc fields) {
	own := ordinal("message", i)
	extra := doc.object("extra")
	at := when(extra.text("timestamp"))
	m := openaiMessage(doc)
	m.own, m.at = own, at
	text := contentText(doc["content"])
	switch {
	case doc.text("role") == "system":
		r.f.leftOut("system prompt")
		return
	case doc.text("role") == "exit":
		r.f.leftOut("exit message") // it repeats the submission
		return
	case doc.text("role") == "user" && !r.task:
		r.task = true
		r.begun("start", at, text)
		m.blocks = []block{{said: text}}
	case doc.text("object") == "response" || doc.has("output") && !doc.has("role") && doc.text("type") == "": // of OpenAI's Responses API
		m = message{role: "assistant", own: own, at: at}
		for _, raw := range doc.list("output") {
			m.blocks = append(m.blocks, openaiMessage(object(raw)).blocks...)
		}
	case doc.text("role") == "assistant" && len(doc.list("tool_calls")) == 0:
		m.blocks = r.said(own, text, extra)
	case doc.text("role") == "user" && r.open != "":
		res := miniResult(text, extra)
		m.role, m.blocks = "tool", []block{{callID: r.open, result: &res}}
		r.open = ""
	case doc.text("role") == "user" && r.isFormatError(text, extra):
		m.attributes = map[string]string{"from": "the program"}
	}
	for j := range m.blocks {
		if b := &m.blocks[j]; b.call != nil {
			if b.call.Command != "" && b.call.Cwd == "" {
				b.call.Cwd = r.cwd
			}
		} else if b.result != nil && m.role == "tool" && (doc.text("role") == "tool" || doc.text("type") == "function_call_output") {
			res := miniResult(b.result.text, extra)
			b.result = &res
		}
	}
	parent, causes := r.follows()
	r.addMessage(m, parent, causes)
}

// isFormatError reports whether a message is the program's answer to a message without a command.
func (r *miniRun) isFormatError(text string, extra fields) bool {
	return extra.has("interrupt_type") || strings.HasPrefix(text, "Format error") || strings.HasPrefix(text, "Please always provide EXACTLY ONE action")
}

// said returns the blocks of a message with a command in its text; what precedes the command is the
// thought. Only a single command is carried out.
func (r *miniRun) said(own, text string, extra fields) []block {
	command, thought := "", text
	found := miniFence.FindAllStringSubmatchIndex(text, 2)
	if len(found) == 1 {
		at := found[0]
		for _, k := range []int{2, 4} {
			if at[k] >= 0 {
				command = strings.TrimSpace(text[at[k]:at[k+1]])
			}
		}
		thought = strings.TrimSpace(text[:at[0]] + text[at[1]:])
	}
	if actions := extra.list("actions"); len(actions) == 1 {
		if s := object(actions[0]).text("command"); s != "" {
			command = s
		}
	}
	if command == "" {
		return []block{{said: text}}
	}
	r.open = own
	thought = strings.TrimSpace(strings.TrimPrefix(thought, "THOUGHT:"))
	tool := &recountv1.Tool{Name: "bash", Arguments: compact(fields{"command": quote(command)}), Command: command, Cwd: r.cwd}
	blocks := []block{{callID: own, call: tool}}
	if thought != "" {
		blocks = append([]block{{thought: thought}}, blocks...)
	}
	return blocks
}

var miniCode = regexp.MustCompile(`<returncode>\s*(-?\d{1,10})\s*</returncode>`)

// miniResult reads an observation: from the message's extra, from tags, or from JSON.
func miniResult(text string, extra fields) result {
	res := result{text: text}
	code := extra.text("returncode")
	if raw := extra["raw_output"]; len(raw) > 0 {
		res.text = contentText(raw)
	}
	if m := miniCode.FindStringSubmatchIndex(headOf(text, 4096)); m != nil {
		if code == "" {
			code = text[m[2]:m[3]]
		}
		if !extra.has("raw_output") {
			_, rest, ok := strings.Cut(text[m[1]:], "<output>\n")
			if inner, _, ends := strings.Cut(rest, "</output>"); ok && ends {
				res.text = inner
			}
		}
	} else if doc := object([]byte(text)); doc.has("returncode") {
		if code == "" {
			code = doc.text("returncode")
		}
		if s := doc.text("output"); doc.has("output") && !extra.has("raw_output") {
			res.text = s
		}
	}
	if s := extra.text("exception_info"); s != "" {
		res.text, res.failed = strings.TrimSpace(res.text+"\n"+s), true
	}
	// -1 means that the command was stopped or never started.
	if n, err := strconv.ParseInt(code, 10, 32); err == nil && n >= 0 {
		c := int32(n)
		res.exitCode, res.failed = &c, res.failed || n != 0
	} else if err == nil {
		res.failed = true
	}
	return res
}
