package agentlog

import (
	"encoding/json"
	"errors"
	"fmt"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var openAIFormat = Format{
	Name: "openai", Files: "transcripts of OpenAI's API",
	is: isOpenAI, read: readOpenAI,
}

func isOpenAI(p probe) bool {
	switch p.top.text("object") {
	case "chat.completion", "response":
		return true
	}
	return p.anyIs("role", "user", "assistant", "system", "developer", "tool") || p.anyIs("type", "function_call", "function_call_output")
}

// readOpenAI reads input and output of OpenAI's APIs: an object with messages, a list of messages,
// one message per line, a chat.completion, a response, or a list of a response's input and output
// items.
func readOpenAI(f *file, v value) error {
	if v.raw[0] == '[' {
		return f.chat(v, "", "", "", v.raw)
	}
	doc := object(v.raw)
	if doc == nil {
		return errors.New("neither an object nor a list of messages")
	}
	id := doc.text("id")
	at := doc.text("created")
	if at == "" {
		at = doc.text("created_at")
	}
	switch {
	case doc.has("messages"):
		return f.chat(v, id, doc.text("model"), at, doc["messages"])
	case doc.has("choices"):
		r := f.conversation(id)
		for i, raw := range doc.list("choices") {
			m := openaiMessage(object(raw).object("message"))
			m.own, m.model, m.at = ordinal(id+"/choice", i), doc.text("model"), when(at)
			parent, causes := r.follows()
			r.addMessage(m, parent, causes)
		}
		return nil
	case doc.has("output"):
		if in := doc["input"]; len(in) > 0 && in[0] == '[' {
			if err := f.chat(v, id, doc.text("model"), at, in); err != nil {
				return err
			}
		} else if said := doc.text("input"); said != "" {
			r := f.conversation(id)
			parent, causes := r.follows()
			r.addMessage(message{role: "user", own: "input", at: when(at), blocks: []block{{said: said}}}, parent, causes)
		}
		return f.chat(v, id, doc.text("model"), at, doc["output"])
	case doc.has("role") || doc.has("type"):
		return f.item(f.conversation(""), fmt.Sprint("line/", v.line), doc, "", "")
	}
	return errors.New("no message: it has neither messages, choices, output nor a role")
}

// conversation returns the conversation with an id. Without an id it is named after the file, and
// later lines of the file continue it.
func (f *file) conversation(id string) *run { return f.begin(id, "", "") }

// chat makes the events of a list of messages or items. If a file has several such lists, one per
// line, each is a conversation of its own.
func (f *file) chat(v value, id, model, at string, raw json.RawMessage) error {
	var items list
	if err := json.Unmarshal(raw, &items); err != nil {
		return plainJSON(err)
	}
	if items == nil {
		return errors.New("messages is not a list")
	}
	if id == "" && v.line > 1 && f.o.Session == "" {
		id = fmt.Sprintf("%s:%d", f.o.Name, v.line)
	}
	r := f.conversation(id)
	for i, raw := range items {
		doc := object(raw)
		if doc == nil {
			f.skip(v.line, fmt.Sprintf("message %d: not an object", i))
			continue
		}
		if err := f.item(r, ordinal("message", r.n), doc, model, at); err != nil {
			f.skip(v.line, fmt.Sprintf("message %d: %v", i, err))
		}
	}
	return nil
}

// item makes the events of a message, or of an item of a response.
func (f *file) item(r *run, own string, doc fields, model, at string) error {
	m := openaiMessage(doc)
	if len(m.blocks) == 0 && m.role == "" {
		return fmt.Errorf("type %q, role %q: not a message, call or result", headOf(doc.text("type"), 40), headOf(doc.text("role"), 40))
	}
	for _, t := range []string{doc.text("timestamp"), doc.text("created_at"), at} {
		if m.at.IsZero() {
			m.at = when(t)
		}
	}
	m.own, m.model = own, model
	if s := doc.text("model"); s != "" {
		m.model = s
	}
	parent, causes := r.follows()
	r.addMessage(m, parent, causes)
	return nil
}

// openaiMessage converts one message or item.
func openaiMessage(doc fields) message {
	m := message{role: doc.text("role")}
	switch m.role {
	case "developer":
		m.role = "system"
	case "tool", "function":
		id := doc.text("tool_call_id")
		if id == "" {
			id = doc.text("name") // old versions had no ids
		}
		return message{role: "tool", blocks: []block{{callID: id, result: &result{text: contentText(doc["content"])}}}}
	case "":
		return openaiItem(doc)
	}
	for _, field := range []string{"reasoning_content", "reasoning"} {
		if raw := doc[field]; len(raw) > 0 && raw[0] == '"' && doc.text(field) != "" {
			m.blocks = append(m.blocks, block{thought: doc.text(field)})
			break
		}
	}
	m.blocks = append(m.blocks, openaiContent(doc["content"])...)
	if s := doc.text("refusal"); s != "" {
		m.blocks = append(m.blocks, block{said: s})
	}
	calls := doc.list("tool_calls")
	if old := doc["function_call"]; len(old) > 0 && old[0] == '{' {
		name, _ := json.Marshal(object(old).text("name"))
		calls = append(calls, json.RawMessage(fmt.Sprintf(`{"id":%s,"function":%s}`, name, old)))
	}
	for _, raw := range calls {
		c := object(raw)
		fn, arguments := c.object("function"), "arguments"
		if fn == nil {
			fn, arguments = c.object("custom"), "input"
		}
		m.blocks = append(m.blocks, block{callID: c.text("id"), call: toolOf(fn.text("name"), c.text("id"), fn.text(arguments), "")})
	}
	return m
}

// openaiContent returns the blocks of a content that is a string or a list of parts.
func openaiContent(raw json.RawMessage) []block {
	var parts list
	if len(raw) > 0 && raw[0] == '[' {
		parts = elementsOf(raw)
	} else if s := contentText(raw); s != "" {
		return []block{{said: s}}
	}
	var blocks []block
	for _, p := range parts {
		f := object(p)
		switch {
		case f.has("text"):
			blocks = append(blocks, block{said: f.text("text")})
		case f.has("refusal"):
			blocks = append(blocks, block{said: f.text("refusal")})
		default:
			blocks = append(blocks, block{aside: asideOf(f.text("type"))})
		}
	}
	return blocks
}

// asideOf returns the name of a part that is not text.
func asideOf(typ string) string {
	switch typ {
	case "image", "image_url", "input_image":
		return "image"
	case "":
		return "untyped part"
	}
	return headOf(typ, 40) + " part"
}

// openaiItem converts an item of a response that has no role.
func openaiItem(doc fields) message {
	id := doc.text("call_id")
	if id == "" {
		id = doc.text("id")
	}
	call := func(t *recountv1.Tool) message {
		return message{role: "assistant", blocks: []block{{callID: id, call: t}}}
	}
	back := func(text string) message {
		return message{role: "tool", blocks: []block{{callID: id, result: &result{text: text}}}}
	}
	switch typ := doc.text("type"); typ {
	case "function_call":
		return call(toolOf(doc.text("name"), id, doc.text("arguments"), ""))
	case "custom_tool_call":
		return call(toolOf(doc.text("name"), id, doc.text("input"), ""))
	case "local_shell_call":
		return call(toolOf("local_shell", id, doc.text("action"), ""))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return back(contentText(doc["output"]))
	case "web_search_call", "file_search_call", "computer_call", "mcp_call", "code_interpreter_call", "image_generation_call":
		name := doc.text("name")
		if name == "" {
			name = typ[:len(typ)-len("_call")]
		}
		arguments := doc.text("arguments")
		for _, field := range []string{"action", "queries", "code"} {
			if arguments == "" {
				arguments = doc.text(field)
			}
		}
		m := call(toolOf(name, id, arguments, ""))
		if out := doc.text("output"); out != "" {
			m.blocks = append(m.blocks, block{callID: id, result: &result{text: out, failed: doc.text("error") != ""}})
		}
		return m
	case "computer_call_output", "item_reference":
		return message{role: "tool", blocks: []block{{aside: asideOf(typ)}}}
	case "reasoning":
		var m message
		m.role = "assistant"
		for _, field := range []string{"summary", "content"} {
			for _, raw := range doc.list(field) {
				if s := object(raw).text("text"); s != "" {
					m.blocks = append(m.blocks, block{thought: s})
				}
			}
		}
		if len(m.blocks) == 0 {
			m.blocks = []block{{aside: "encrypted thought"}}
		}
		return m
	}
	return message{}
}
