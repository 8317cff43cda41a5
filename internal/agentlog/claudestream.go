package agentlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var claudeStreamFormat = Format{
	Name: "claude-stream", Files: "Claude Code: claude -p --output-format stream-json (or json)",
	is: isClaudeStream, read: readClaudeStream,
}

func isClaudeStream(p probe) bool {
	return slices.ContainsFunc(append([]fields{p.top}, p.first...), func(f fields) bool {
		if !f.has("session_id") || f.has("sessionId") {
			return false
		}
		switch f.text("type") {
		case "system":
			return f.has("subtype")
		case "assistant", "user":
			return f.has("message")
		case "result":
			return f.has("subtype")
		}
		return false
	})
}

// readClaudeStream reads a message of the output of claude -p, or the list of all messages. It has
// no times. The messages of a subagent name the call that started it.
func readClaudeStream(f *file, v value) error {
	if v.raw[0] == '[' {
		var all list
		_ = json.Unmarshal(v.raw, &all) // it is valid, and a list
		for i, raw := range all {
			if err := claudeStreamLine(f, raw); err != nil {
				f.skip(v.line, fmt.Sprintf("message %d: %v", i, err))
			}
		}
		return nil
	}
	return claudeStreamLine(f, v.raw)
}

// claudeStreamLine reads one message.
func claudeStreamLine(f *file, raw []byte) error {
	doc := object(raw)
	if doc == nil {
		return errors.New("no object")
	}
	typ := doc.text("type")
	session := doc.text("session_id")
	if session == "" && len(f.order) > 0 {
		session = f.order[len(f.order)-1].session
	}
	if session == "" {
		return errors.New("no session_id: not a message of claude -p --output-format stream-json")
	}
	r := f.begin(session, "claude-code", "")
	if cwd := doc.text("cwd"); cwd != "" {
		r.cwd = cwd
		if r.workspace == "" {
			r.workspace = fit(clean(f.place(cwd)), 4096)
		}
	}
	own := doc.text("uuid")
	if own == "" {
		own = ordinal("message", r.n)
	}
	switch typ {
	case "assistant", "user":
		r.claudeStreamMessage(doc, own)
	case "result":
		r.claudeStreamResult(doc, own)
	default:
		if s := doc.text("subtype"); s != "" {
			typ += " " + s
		}
		f.leftOut(headOf(typ, 40) + " line")
	}
	return nil
}

func (r *run) claudeStreamMessage(doc fields, own string) {
	m := anthropicMessage(doc.object("message"), r.cwd)
	if m.role == "" {
		m.role = doc.text("type")
	}
	m.own, m.at = own, when(doc.text("timestamp"))
	if doc.text("isSynthetic") == "true" {
		r.f.leftOut("inserted note")
		return
	}
	for _, b := range m.blocks {
		if b.result != nil {
			bashOutcome(b.result, doc["tool_use_result"])
			// The stream does not have the tool's own result: a command that ended without an error
			// ended with 0.
			if c := r.calls[b.callID]; c != nil && c.tool.Command != "" && !b.result.failed && b.result.exitCode == nil && !doc.has("tool_use_result") && !strings.HasPrefix(b.result.text, "Command running in background") {
				b.result.exitCode = new(int32)
			}
		}
	}
	parent, causes := r.follows()
	if id := doc.text("parent_tool_use_id"); id != "" {
		m.attributes = map[string]string{"sidechain": "true"}
		// A subagent's messages follow each other, not those of the agent that waits for it.
		branch := r.branches[id]
		if branch.IsZero() {
			if c := r.calls[id]; c != nil {
				branch = c.id
			}
		}
		last, round := r.last, r.round
		r.last, r.round = branch, nil
		r.addMessage(m, branch, nil)
		if r.branches == nil {
			r.branches = map[string]eventID{}
		}
		r.branches[id] = r.last
		r.last, r.round = last, round
		return
	}
	r.addMessage(m, parent, causes)
}

// claudeStreamResult makes the event of the last message, which sums the run up.
func (r *run) claudeStreamResult(doc fields, own string) {
	outcome := "succeeded"
	if doc.text("is_error") == "true" || doc.text("subtype") != "success" {
		if outcome = doc.text("subtype"); outcome == "success" || outcome == "" {
			outcome = "failed"
		}
	}
	attributes := map[string]string{}
	for _, field := range []string{"num_turns", "total_cost_usd", "duration_ms"} {
		if s := doc.text(field); s != "" {
			attributes[field] = s
		}
	}
	r.taskWasOver = false // the output of a longer session has several results
	r.finish(own, time.Time{}, outcome, doc.text("result"), attributes)
}

// todoItems returns the items of Codex' list in the form of a plan.
func todoItems(items list) json.RawMessage {
	steps := []map[string]string{}
	for _, raw := range items {
		f := object(raw)
		status := "pending"
		if f.text("completed") == "true" {
			status = "completed"
		}
		steps = append(steps, map[string]string{"step": f.text("text"), "status": status})
	}
	b, _ := json.Marshal(steps) // cannot fail
	return b
}

// quote returns a text as JSON.
func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // cannot fail
	return b
}

// shellWords returns the command that a shell was given, of a line such as bash -lc 'ls -la'.
func shellWords(line string) string {
	for _, shell := range []string{"bash", "/bin/bash", "/usr/bin/bash", "zsh", "/bin/zsh", "sh", "/bin/sh"} {
		for _, flag := range []string{"-lc", "-c"} {
			if rest, ok := strings.CutPrefix(line, shell+" "+flag+" "); ok {
				if n := len(rest); n > 1 && (rest[0] == '\'' || rest[0] == '"') && rest[n-1] == rest[0] {
					inner := rest[1 : n-1]
					if rest[0] == '\'' {
						return strings.ReplaceAll(inner, `'\''`, "'")
					}
					return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`").Replace(inner)
				}
				return rest
			}
		}
	}
	return line
}
