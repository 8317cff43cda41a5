package terminalsearch

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
)

// key does what a key means.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.Keystroke()
	if m.page != nil {
		return m.pageKey(key)
	}
	switch key {
	case "ctrl+c", "ctrl+g":
		return m.end(Choice{})
	case "esc":
		if m.pane.open {
			m.pane = pane{}
			return nil
		}
		return m.end(Choice{})
	case "ctrl+d":
		if len(m.input.runes) == 0 {
			return m.end(Choice{})
		}
		m.input.edit("delete")
		return m.typed()
	case "enter":
		if m.pane.focused {
			return m.pane.walk(m)
		}
		return m.choose(true)
	case "tab":
		return m.choose(false)
	case "ctrl+y":
		return m.copy()
	case "up", "ctrl+p":
		return m.move(1)
	case "down", "ctrl+n":
		return m.move(-1)
	case "pgup", "alt+v":
		return m.move(max(m.listHeight()-1, 1))
	case "pgdown", "ctrl+v":
		return m.move(-max(m.listHeight()-1, 1))
	case "ctrl+r":
		m.filters.nextPlace(m.o.Here)
		return m.typed()
	case "ctrl+s":
		m.mode = (m.mode + 1) % len(ask.Modes)
		return m.typed()
	case "alt+x", "f3":
		m.filters.exit = (m.filters.exit + 1) % len(exits)
		return m.typed()
	case "alt+a", "f4":
		m.filters.nextAuthor()
		return m.typed()
	case "alt+t", "f5":
		m.filters.nextSpan(m.o.Now())
		return m.typed()
	case "ctrl+o", "f2":
		return m.pane.toggle(m)
	case "alt+s":
		return m.verb("stitch")
	case "alt+c":
		return m.verb("diff")
	case "alt+r":
		return m.verb("replay", "--plan")
	case "alt+h", "f1":
		m.page = &page{title: "Keys", lines: helpLines(m.width)}
		return nil
	}
	if m.pane.focused && (key == "left" || key == "backspace") {
		return m.pane.back(m)
	}
	if m.pane.open && key == "right" && (m.pane.focused || m.input.at == len(m.input.runes)) {
		m.pane.focus()
		return nil
	}
	before := m.input.String()
	switch {
	case m.input.edit(key):
	case msg.Text != "":
		m.input.insert(msg.Text)
	}
	if m.input.String() == before {
		return nil
	}
	return m.typed()
}

// help lists the keys.
var help = []string{
	"enter        run the command (or put it on the line, if it hides characters)",
	"tab          put it on the command line, to edit it",
	"ctrl-y       copy it",
	"esc, ctrl-c  leave",
	"",
	"up, down, page up, page down   choose",
	"ctrl-r       where: everywhere, this directory, workspace, session, host",
	"ctrl-s       how: best, fuzzy, exact, meaning",
	"alt-x, f3    how it ended: any, failed, worked",
	"alt-a, f4    who: everybody, people, each agent",
	"alt-t, f5    when: any time, last hour, day, week, month",
	"",
	"ctrl-o, f2   circumstances of the command: session, output, why, fixes",
	"  right      choose there: up, down; enter goes on from a command, left back",
	"alt-s        stitch: the narrative around it",
	"alt-c        diff: compared with its last success",
	"alt-r        replay's plan for it",
	"alt-h, f1    this page",
}

// helpLines breaks the lines of help that are wider than the terminal.
func helpLines(width int) (lines []string) {
	const column = len("enter        ")
	for _, l := range help {
		if len(l) <= width || width <= 2*column {
			lines = append(lines, l)
			continue
		}
		for i, part := range render.Wrap(l[column:], width-column) {
			key := strings.Repeat(" ", column)
			if i == 0 {
				key = l[:column]
			}
			lines = append(lines, key+part)
		}
	}
	return lines
}

// end ends the interface.
func (m *Model) end(c Choice) tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	m.choice, m.done = c, true
	return tea.Quit
}

// choose ends with the current command. What hides characters is not run before it was looked at.
func (m *Model) choose(run bool) tea.Cmd {
	in := m.current()
	if in == nil {
		// What was typed is a command as well: ctrl-R must not lose it.
		if text := m.input.String(); text != "" && !run {
			return m.end(Choice{Command: text})
		}
		return nil
	}
	return m.end(Choice{Command: in.Command, Run: run && !hides(in.Command)})
}

// copy puts the current command into the clipboard of the terminal.
func (m *Model) copy() tea.Cmd {
	in := m.current()
	if in == nil {
		return nil
	}
	m.note = "copied"
	return tea.SetClipboard(in.Command)
}
