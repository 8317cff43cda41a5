package recall

import (
	"strings"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
)

const (
	// templateRead is how many earlier prompts are compared with a prompt, templateIn in how many
	// other sessions a line must be so that it belongs to a template, and templateLine is the length
	// of the shortest line that may.
	templateRead = 16
	templateIn   = 2
	templateLine = 16
	// templateSize is how many bytes of lines one other prompt must share so that these are a
	// template: searches find prompts of the same text only once.
	templateSize = 400
)

// templateOf returns the lines of a prompt that prompts of other sessions have too: those of a template, such as a command of the agent or instructions that are sent each time. They say
// nothing about this task, and everything that was sent with the same template has them.
func (a *session) templateOf(text string, hits []lexical.ObjectHit) (map[string]bool, error) {
	lines := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= templateLine {
			lines[line] = true
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	template := map[string]bool{}
	in := map[string]map[string]bool{} // the sessions that have a line
	read := 0
	for _, h := range hits {
		if read == templateRead {
			break
		}
		o, err := a.object(h.Ref)
		if err != nil {
			return nil, err
		}
		if o == nil || o.EventType != schemas.TypeUserMessage {
			continue
		}
		read++
		var shared []string
		size := 0
		if err := a.eachLine(o, func(line string) {
			if lines[line] {
				shared = append(shared, line)
				size += len(line)
			}
		}); err != nil {
			return nil, err
		}
		for _, line := range shared {
			if size >= templateSize {
				template[line] = true
			}
			if in[line] == nil {
				in[line] = map[string]bool{}
			}
			in[line][o.Session] = true
		}
	}
	for line, sessions := range in {
		if len(sessions) >= templateIn {
			template[line] = true
		}
	}
	return template, nil
}

// eachLine calls f with the lines of an object's text, as far as they count.
func (a *session) eachLine(o *objects.Stored, f func(string)) error {
	text, err := a.view.Passage(o, 0, MaxText)
	for line := range strings.Lines(text) {
		f(strings.TrimSpace(line))
	}
	return err
}

// without returns a text without the lines of a template.
func without(text string, template map[string]bool) string {
	if len(template) == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !template[strings.TrimSpace(line)] {
			b.WriteString(line)
		}
	}
	return b.String()
}
