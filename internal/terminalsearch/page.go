package terminalsearch

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/internal/render"
)

// page is a text in place of the list: the keys, or what a verb printed.
type page struct {
	title string
	lines []string
	from  int
	// waiting means that the verb has not ended; cancel ends it.
	waiting bool
	cancel  context.CancelFunc
}

// pageMsg is what a verb printed.
type pageMsg struct {
	of   *page
	text string
	err  error
}

// verb shows what a verb says of the current command.
func (m *Model) verb(args ...string) tea.Cmd {
	in := m.current()
	if in == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	p := &page{title: "recount " + strings.Join(args, " ") + ": " + clean(in.Command), waiting: true, cancel: cancel}
	m.page = p
	args = append(args[:len(args):len(args)], in.ID.String())
	return func() tea.Msg {
		text, err := m.asker.Verb(ctx, args...)
		return pageMsg{p, text, err}
	}
}

// takePage takes in what a verb printed.
func (m *Model) takePage(p pageMsg) {
	if m.page != p.of || errors.Is(p.err, context.Canceled) {
		return
	}
	p.of.waiting = false
	text := strings.TrimRight(p.text, "\n")
	if p.err != nil {
		text = strings.TrimLeft(text+"\n"+p.err.Error(), "\n")
	}
	for l := range strings.SplitSeq(strings.ToValidUTF8(text, "\uFFFD"), "\n") {
		p.of.lines = append(p.of.lines, strings.TrimRight(render.PlainText(strings.ReplaceAll(l, "\t", "    ")), " "))
	}
}

// pageKey does what a key means on a page.
func (m *Model) pageKey(key string) tea.Cmd {
	p, step := m.page, max(m.totalHeight()-2, 1)
	switch key {
	case "ctrl+c":
		m.closePage()
		return m.end(Choice{})
	case "up", "ctrl+p", "k":
		p.from--
	case "down", "ctrl+n", "j":
		p.from++
	case "pgup", "b":
		p.from -= step
	case "pgdown", "space":
		p.from += step
	default:
		m.closePage()
		return nil
	}
	p.from = min(max(p.from, 0), max(len(p.lines)-step, 0))
	return nil
}

func (m *Model) closePage() {
	if m.page.cancel != nil {
		m.page.cancel()
	}
	m.page = nil
}

// drawPage draws the page: its title, its lines, and the keys at the end, where the cursor is.
func (m *Model) drawPage() (lines []string, x, y int) {
	p, h := m.page, m.totalHeight()
	if h >= minStateHeight {
		lines = append(lines, m.paint(render.Bold, render.Cut(p.title, m.width)))
	}
	for i := p.from; len(lines) < h-1; i++ {
		switch {
		case i < len(p.lines):
			lines = append(lines, render.Cut(p.lines[i], m.width))
		case i == 0 && p.waiting:
			lines = append(lines, render.Cut("reading …", m.width))
		default:
			lines = append(lines, "")
		}
	}
	lines = append(lines, m.paint(render.Dim, render.Cut("up, down scroll · other keys go back", m.width)))
	return lines, 0, len(lines) - 1
}
