package terminalsearch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// pane shows the circumstances of a command. The zero value is closed.
type pane struct {
	open bool
	// focused means that keys choose in the pane.
	focused bool
	// of is the command, and trail are those that it was reached from.
	of    ask.Intent
	trail []ask.Intent
	// resp are its circumstances, loaded if they have arrived; trouble says why they have not.
	resp    ask.AroundResponse
	loaded  bool
	trouble string
	// at is the chosen one of stops.
	at int
	// known has the answers so far.
	known  map[schemas.Position]ask.AroundResponse
	cancel context.CancelFunc
}

// aroundMsg is the answer of a question for circumstances.
type aroundMsg struct {
	of   schemas.Position
	resp ask.AroundResponse
	err  error
}

// around is the number of neighbours and causes that are asked for.
const around = 4

// toggle opens the pane, has the keys choose in it, and closes it.
func (p *pane) toggle(m *Model) tea.Cmd {
	switch {
	case !p.open:
		p.open = true
		return m.follow()
	case !p.focused && len(p.stops()) > 0:
		p.focus()
		return nil
	}
	*p = pane{known: p.known}
	return nil
}

func (p *pane) focus() {
	if stops := p.stops(); len(stops) > 0 {
		p.focused = true
		// The nearest one: what ran just before.
		p.at = max(len(p.resp.Before)-1, 0)
	}
}

// leave has the keys choose in the list again.
func (p *pane) leave() { p.focused, p.trail = false, nil }

// load shows the circumstances of a command, once they are there.
func (p *pane) load(m *Model, in ask.Intent) tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.of, p.at, p.loaded, p.trouble = in, 0, false, ""
	if r, known := p.known[in.Position]; known {
		p.resp, p.loaded = r, true
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	p.cancel = cancel
	return func() tea.Msg {
		r, err := m.asker.Around(ctx, ask.AroundRequest{Ref: in.Position.String(), Limit: around})
		return aroundMsg{in.Position, r, err}
	}
}

// take takes in an answer.
func (p *pane) take(a aroundMsg) {
	if a.of != p.of.Position || errors.Is(a.err, context.Canceled) {
		return
	}
	if a.err != nil {
		p.trouble = clean(a.err.Error())
		return
	}
	if p.known == nil {
		p.known = map[schemas.Position]ask.AroundResponse{}
	}
	p.known[a.of] = a.resp
	p.resp, p.loaded, p.trouble = a.resp, true, ""
	if p.focused {
		p.focus()
		p.focused = true
	}
}

// stops are the commands that can be chosen in the pane, in the order in which they are drawn.
func (p *pane) stops() []ask.Intent {
	if !p.open || !p.loaded {
		return nil
	}
	all := slices.Concat(p.resp.Before, p.resp.After)
	for _, r := range slices.Concat(p.resp.Causes, p.resp.Fixes) {
		all = append(all, r.Intent)
	}
	return all
}

// current returns the command that keys are about, nil if that is one of the list.
func (p *pane) current() *ask.Intent {
	if !p.focused {
		return nil
	}
	if stops := p.stops(); p.at < len(stops) {
		return &stops[p.at]
	}
	return &p.of
}

func (p *pane) move(by int) { p.at = min(max(p.at+by, 0), max(len(p.stops())-1, 0)) }

// walk goes on to the chosen command.
func (p *pane) walk(m *Model) tea.Cmd {
	in := p.current()
	if in == nil || in.Position == p.of.Position {
		return nil
	}
	p.trail = append(p.trail, p.of)
	cmd := p.load(m, *in)
	p.focus()
	p.focused = true
	return cmd
}

// back goes back to where walk came from, and from the first to the list.
func (p *pane) back(m *Model) tea.Cmd {
	n := len(p.trail)
	if n == 0 {
		p.focused = false
		return nil
	}
	in := p.trail[n-1]
	p.trail = p.trail[:n-1]
	cmd := p.load(m, in)
	p.focus()
	p.focused = true
	return cmd
}

// row is a line of the pane; stop is its index in stops, or -1.
type row struct {
	text   string
	colour string
	stop   int
}

// rows returns what the pane says.
func (p *pane) rows(m *Model, width int) []row {
	var rows []row
	say := func(colour, format string, args ...any) {
		for _, l := range render.Wrap(fmt.Sprintf(format, args...), width) {
			rows = append(rows, row{l, colour, -1})
		}
	}
	stop := 0
	command := func(in ask.Intent, why string) {
		line := fmt.Sprintf("%s %s", render.PlainMark(in.ExitCode), clean(in.Command))
		if why != "" {
			line += " (" + clean(why) + ")"
		}
		rows = append(rows, row{render.Cut(line, width-4), "", stop})
		stop++
	}
	r := &p.resp
	for _, in := range r.Before {
		command(in, "")
	}
	here := fmt.Sprintf("%s %s", render.PlainMark(p.of.ExitCode), clean(p.of.Command))
	rows = append(rows, row{render.Cut("» "+here, width), render.Bold, -1})
	for _, in := range r.After {
		command(in, "")
	}
	if facts := p.facts(m); facts != "" {
		say(render.Dim, "%s", facts)
	}
	if r.StatedIntent != "" {
		say("", "to: %s", clean(r.StatedIntent))
	}
	if len(r.Causes) > 0 {
		say(render.Yellow, "why it failed:")
		for _, c := range r.Causes {
			command(c.Intent, c.Why)
		}
	}
	if len(r.Fixes) > 0 {
		say(render.Green, "what fixed it:")
		for _, c := range r.Fixes {
			command(c.Intent, c.Why)
		}
	}
	if tail := strings.TrimRight(r.OutputTail, "\n \t"); tail != "" {
		say(render.Cyan, "output:")
		lines := strings.Split(tail, "\n")
		for _, l := range lines[max(len(lines)-6, 0):] {
			rows = append(rows, row{render.Cut("  "+clean(l), width), render.Dim, -1})
		}
	}
	return rows
}

// fit leaves out what matters least until the rows have room: neighbours, the farthest first, but for
// one on each side. While keys choose in the pane it scrolls instead.
func (p *pane) fit(rows []row, room int) []row {
	before, after := len(p.resp.Before), len(p.resp.After)
	first, last := 0, before+after
	for len(rows)-first-(before+after-last) > room && (before-first > 1 || last-before > 1) {
		if before-first >= last-before {
			first++
		} else {
			last--
		}
	}
	if last < before+after {
		rows = slices.Delete(rows, last+1, before+after+1) // the command itself is between them
	}
	return rows[first:]
}

// facts are those about the command itself, in one text.
func (p *pane) facts(m *Model) string {
	var facts []string
	if rec := p.resp.Record; rec.OK+rec.Failed > 0 {
		facts = append(facts, fmt.Sprintf("worked %d of %d times", rec.OK, rec.OK+rec.Failed))
	} else if rec.Runs > 0 {
		facts = append(facts, fmt.Sprintf("ran %d×, outcomes unknown", rec.Runs))
	}
	if p.resp.GitHead != "" {
		facts = append(facts, "at commit "+clean(p.resp.GitHead[:min(len(p.resp.GitHead), 12)]))
	}
	if p.of.Cwd != "" {
		facts = append(facts, "in "+m.home(p.of.Cwd))
	}
	if p.of.Author != "" {
		facts = append(facts, "by "+clean(p.of.Author))
	}
	if p.of.Session != "" {
		facts = append(facts, "session "+clean(p.of.Session))
	}
	return strings.Join(facts, " · ")
}

// drawPane draws the pane in exactly height lines.
func (m *Model) drawPane(width, height int) []string {
	lines := make([]string, height)
	p := &m.pane
	if height == 0 {
		return lines
	}
	var rows []row
	switch {
	case p.trouble != "":
		rows = []row{{render.Cut(p.trouble, width), render.Red, -1}}
	case m.hit() == nil && !p.focused:
		rows = nil
	case !p.loaded:
		rows = []row{{render.Cut("» "+clean(p.of.Command), width), render.Bold, -1}, {"reading …", render.Dim, -1}}
	default:
		rows = p.rows(m, width)
	}
	bottom := height
	if !m.beside() && height > 3 {
		// A rule between the pane and the list below it.
		bottom--
		lines[bottom] = m.paint(render.Dim, strings.Repeat("─", width))
	}
	if p.loaded && !p.focused {
		rows = p.fit(rows, bottom)
	}
	from := 0
	if p.focused {
		at := slices.IndexFunc(rows, func(r row) bool { return r.stop == p.at })
		from = min(max(at-bottom+1, 0), max(len(rows)-bottom, 0))
	}
	for i := range min(bottom, len(rows)-from) {
		r := rows[from+i]
		switch {
		case r.stop >= 0 && p.focused && r.stop == p.at:
			lines[i] = m.paint(render.Cyan, "▌") + " " + m.paint(render.Bold, r.text)
		case r.stop >= 0:
			lines[i] = "  " + m.paint(r.colour, r.text)
		default:
			lines[i] = m.paint(r.colour, r.text)
		}
	}
	return lines
}
