package terminalsearch

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

// View draws the interface: a list with the best at its end, the state, what is typed, and the keys.
func (m *Model) View() tea.View {
	if m.done {
		return tea.NewView("")
	}
	lines, x, y := m.draw()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = tea.NewCursor(x, y)
	v.Cursor.Blink = false
	return v
}

// Widths and heights from which on parts are shown.
const (
	minKeysHeight  = 6   // the line of keys
	minStateHeight = 3   // the line of the state
	minPaneHeight  = 8   // the pane below the list
	sideWidth      = 110 // the pane beside the list
	minMarkWidth   = 4   // the marks at the beginning of lines
)

// totalHeight is the number of lines of the interface.
func (m *Model) totalHeight() int {
	h := m.o.Height
	if h == 0 {
		h = max(m.height*2/3, 10)
	}
	if m.pane.open || m.page != nil {
		h = max(h, min(m.height, 24))
	}
	if m.height > 4 {
		return min(h, m.height-1) // the line with the prompt stays
	}
	return min(h, m.height)
}

// below is the number of lines below the list: the state, the text and the keys.
func (m *Model) below() int {
	h := m.totalHeight()
	switch {
	case h >= minKeysHeight:
		return 3
	case h >= minStateHeight:
		return 2
	}
	return 1
}

// beside reports whether the pane is beside the list, and not above it.
func (m *Model) beside() bool { return m.pane.open && m.width >= sideWidth }

// paneHeight is the number of lines of the pane.
func (m *Model) paneHeight() int {
	h := m.totalHeight() - m.below()
	switch {
	case !m.pane.open:
		return 0
	case m.beside():
		return h
	case h < minPaneHeight:
		return max(h-1, 0) // the selected command stays
	}
	return h * 3 / 5
}

// listHeight is the number of lines of the list.
func (m *Model) listHeight() int {
	h := m.totalHeight() - m.below()
	if m.pane.open && !m.beside() {
		h -= m.paneHeight()
	}
	return h
}

// draw returns the lines and the place of the cursor.
func (m *Model) draw() (lines []string, x, y int) {
	if m.page != nil {
		return m.drawPage()
	}
	switch {
	case m.beside():
		left := m.width * 3 / 5
		right := m.drawPane(m.width-left-2, m.paneHeight())
		for i, l := range m.drawList(left, m.listHeight()) {
			lines = append(lines, l.pad(left)+m.paint(render.Dim, "│ ")+right[i])
		}
	default:
		lines = append(lines, m.drawPane(m.width, m.paneHeight())...)
		for _, l := range m.drawList(m.width, m.listHeight()) {
			lines = append(lines, l.text)
		}
	}
	below := m.below()
	if below >= 2 {
		lines = append(lines, m.state())
	}
	mark := ""
	if m.width >= minMarkWidth {
		mark = "> "
	}
	text, at := m.input.window(m.width - len(mark))
	y = len(lines)
	lines = append(lines, m.paint(render.Cyan, mark)+text)
	if below >= 3 {
		lines = append(lines, m.paint(render.Dim, render.Cut(m.keys(), m.width)))
	}
	return lines, min(at+len(mark), m.width-1), y
}

// keys names the keys that matter most, as many as fit, and always the last.
func (m *Model) keys() string {
	keys := strings.Split(m.allKeys(), " · ")
	for len(keys) > 2 && render.Columns(strings.Join(keys, " · ")) > m.width {
		keys = slices.Delete(keys, len(keys)-2, len(keys)-1)
	}
	return strings.Join(keys, " · ")
}

func (m *Model) allKeys() string {
	switch {
	case m.pane.focused:
		return "enter go on · left back · tab edit · alt-s stitch · alt-c diff · esc close"
	case m.pane.open:
		return "right choose here · enter run · tab edit · alt-s stitch · alt-c diff · esc close"
	}
	return "enter run · tab edit · ctrl-o context · ctrl-r where · ctrl-s how · alt-h keys"
}

// state describes the search and its answer.
func (m *Model) state() string {
	words := ask.Modes[m.mode] + " · " + m.filters.words(m.o)
	switch {
	case m.trouble != "" && m.away:
		words = fmt.Sprintf("%s; going on with %s commands seen so far · %s", m.trouble, render.Thousands(len(m.seen.all)), words)
		return m.paint(render.Yellow, render.Cut(words, m.width))
	case m.trouble != "":
		return m.paint(render.Red, render.Cut(m.trouble, m.width))
	case !m.answered:
		words = "reading … · " + words
	case m.input.String() == "":
		words = render.Thousands(int(m.resp.Commands)) + " commands · " + words
	case m.resp.Matched > 0:
		words = fmt.Sprintf("%s of %s · %s", render.Thousands(int(m.resp.Matched)), render.Thousands(int(m.resp.Commands)), words)
	}
	if m.note != "" {
		words = m.note + " · " + words
	}
	return m.paint(render.Dim, render.Cut(words, m.width))
}

func (m *Model) paint(colour, s string) string {
	if !m.o.Colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// drawn is a line with its width, which escape sequences do not add to.
type drawn struct {
	text    string
	columns int
}

func (d drawn) pad(columns int) string {
	return d.text + strings.Repeat(" ", max(columns-d.columns, 0))
}

// drawList draws the list, the best at the end.
func (m *Model) drawList(width, height int) []drawn {
	lines := make([]drawn, height)
	if len(m.resp.Hits) == 0 && m.answered {
		said := m.nothing(width)
		said = said[:min(len(said), height)]
		for i, s := range said {
			lines[height-len(said)+i] = drawn{s, render.Columns(s)}
		}
		return lines
	}
	first := max(m.selected-height+1, 0)
	q := m.query()
	for i := first; i < min(first+height, len(m.resp.Hits)); i++ {
		lines[height-1-(i-first)] = m.drawHit(&m.resp.Hits[i], q, i == m.selected, width)
	}
	return lines
}

// nothing says why the list is empty, and what to do.
func (m *Model) nothing(width int) []string {
	hint := clean(m.resp.Hint)
	if m.resp.Commands == 0 && m.filters.request(m.o) == (ask.Filters{}) && !m.filters.people && !m.away {
		hint = `Nothing is recorded yet. Begin with: eval "$(recount hook bash)" in ~/.bashrc (or zsh, fish), and recount import history for what you ran before.`
	}
	return render.Wrap(hint, width)
}

// query returns the query whose matches are marked.
func (m *Model) query() match.Query {
	if m.asked.Mode == ask.ModeExact {
		return match.Exact(m.asked.Text)
	}
	return match.Words(m.asked.Text)
}

// drawHit draws a command, with what is known of its newest run at the end of the line as far as
// there is room.
func (m *Model) drawHit(h *ask.SearchHit, q match.Query, selected bool, width int) drawn {
	details, dir := m.details(h), ""
	mark := "  "
	if selected && !m.pane.focused {
		mark = m.paint(render.Cyan, "▌") + " "
	}
	room := width - 2
	if width < minMarkWidth {
		mark, room = "", width
	}
	if width < 30 {
		details = nil
	}
	right := ""
	for _, d := range details {
		if len(right)+len(d.text) > width/2 {
			break
		}
		right += d.text
	}
	room -= render.Columns(right)
	if width >= 72 && h.Cwd != "" {
		columns := min(max(width/4, 16), 40)
		dir = " " + render.Pad(render.CutStart(m.home(h.Cwd), columns-1), columns-1)
		room -= columns
	}
	text := fromMatch(clean(h.Command), q, room)
	shown := render.Cut(text, max(room, 1))
	line := m.marked(shown, text, q, selected)
	pad := strings.Repeat(" ", max(room-render.Columns(shown), 0))
	return drawn{mark + line + pad + m.paintDetails(details, right) + m.paint(render.Dim, dir), width}
}

// detail is a fact beside a command, of fixed width.
type detail struct{ text, colour string }

// details returns the facts beside a command, the most important first.
func (m *Model) details(h *ask.SearchHit) []detail {
	exit := detail{"   ?", render.Dim}
	if h.ExitCode != nil {
		exit = detail{fmt.Sprintf("%4s", "✓"), render.Green}
		if *h.ExitCode != 0 {
			exit = detail{fmt.Sprintf("%4s", fmt.Sprintf("✗%d", *h.ExitCode)), render.Red}
		}
	}
	age := detail{fmt.Sprintf("%5s", m.age(h.Time)), render.Dim}
	took := detail{strings.Repeat(" ", 7), render.Dim}
	if h.Duration != nil {
		took.text = fmt.Sprintf("%7s", brief(time.Duration(*h.Duration)))
	}
	runs := detail{strings.Repeat(" ", 6), render.Dim}
	if h.Runs > 1 {
		runs.text = fmt.Sprintf("%6s", count(h.Runs)+"×")
	}
	return []detail{exit, age, runs, took}
}

// count writes a number in at most four characters.
func count(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// paintDetails colours the details that are shown.
func (m *Model) paintDetails(all []detail, shown string) string {
	var b strings.Builder
	for _, d := range all {
		if shown == "" {
			break
		}
		b.WriteString(m.paint(d.colour, d.text))
		shown = shown[len(d.text):]
	}
	return b.String()
}

// age writes how long ago a time was in at most four characters. Clocks may be wrong: what is in the
// future says so.
func (m *Model) age(t time.Time) string {
	if schemas.TimeUnknown(t) {
		return "-"
	}
	d := m.o.Now().Sub(t)
	sign := ""
	if d < -time.Minute {
		d, sign = -d, "+"
	}
	for _, u := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "y"}, {30 * 24 * time.Hour, "mo"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.size {
			return fmt.Sprintf("%s%d%s", sign, d/u.size, u.name)
		}
	}
	return "now"
}

// brief writes a duration in at most six characters.
func brief(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

func (m *Model) home(dir string) string {
	t := render.Terminal{HomeDir: m.o.HomeDir}
	return clean(t.Home(dir))
}

// fromMatch returns a text without so much of its beginning that its first match is among the first n
// columns, with a third of them before it. A text whose match is there anyhow stays as it is.
func fromMatch(text string, q match.Query, n int) string {
	t := match.NewText(text)
	spans := q.Spans(&t)
	if len(spans) == 0 {
		return text
	}
	first, length := spans[0][0], spans[0][1]-spans[0][0]
	for first > 0 && !utf8.RuneStart(text[first]) {
		first-- // what is matched are bytes
	}
	if render.Columns(text[:first])+length < n { // the last column may be the ellipsis
		return text
	}
	return render.CutStart(text[:first], n/3) + text[first:]
}

// marked returns the shown part of a text with what matched in bold or, without colours, as it is.
func (m *Model) marked(shown, text string, q match.Query, selected bool) string {
	if !m.o.Colour {
		return shown
	}
	t := match.NewText(text)
	on := map[int]bool{}
	for _, s := range q.Spans(&t) {
		for i := s[0]; i < s[1]; i++ {
			on[i] = true
		}
	}
	var b strings.Builder
	style := ""
	for i, r := range shown {
		want := ""
		if selected {
			want = "\x1b[1m"
		}
		if on[i] && r != '…' {
			want = "\x1b[1;33m"
		}
		if want != style {
			if style != "" {
				b.WriteString("\x1b[0m")
			}
			b.WriteString(want)
			style = want
		}
		b.WriteRune(r)
	}
	if style != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
