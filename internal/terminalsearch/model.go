package terminalsearch

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Model is the interface. Use it by pointer.
type Model struct {
	o     Options
	asker Asker
	// ctx ends with the interface.
	ctx    context.Context
	width  int
	height int

	input line
	mode  int // in ask.Modes
	filters

	// The answer shown, and what it was asked.
	resp  ask.SearchResponse
	asked ask.SearchRequest
	// answered is false before the first answer.
	answered bool
	selected int // in resp.Hits
	limit    int

	// number counts the questions; answers to other questions than the newest are dropped, and
	// cancel ends the newest.
	number int
	cancel context.CancelFunc

	seen
	// trouble is why there is no answer, "" if there is one; away means that nobody answered.
	trouble string
	away    bool
	// note is shown until the next key.
	note string

	pane pane
	page *page

	choice Choice
	done   bool

	// after sends a message after a time.
	after func(time.Duration, tea.Msg) tea.Cmd
}

// New returns an interface that has not been drawn.
func New(ctx context.Context, by Asker, o Options) *Model {
	m := &Model{o: o, asker: by, ctx: ctx, width: 80, height: 24, input: newLine(o.Text), limit: ask.DefaultSearchLimit, after: after}
	m.mode = max(slices.Index(ask.Modes, o.Mode), 0)
	m.filters = newFilters(o)
	return m
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// Choice returns what was chosen, once the interface has ended.
func (m *Model) Choice() Choice { return m.choice }

// Resize sets the size of the terminal.
func (m *Model) Resize(width, height int) { m.width, m.height = max(width, 1), max(height, 1) }

// The messages.
type (
	// answerMsg is the answer of a search.
	answerMsg struct {
		number int
		asked  ask.SearchRequest
		resp   ask.SearchResponse
		err    error
	}
	// againMsg asks again after nobody answered.
	againMsg struct{ number int }
	// freshMsg asks once more soon after the start, when what ran just before has arrived.
	freshMsg struct{}
)

// againAfter is how long after nobody answered somebody is asked again.
const againAfter = time.Second

// freshAfter is a little longer than a server needs to take in what a shell has just recorded.
const freshAfter = 250 * time.Millisecond

// Init asks for the first list.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.search(), m.after(freshAfter, freshMsg{}))
}

// request returns what is to be asked now.
func (m *Model) request() ask.SearchRequest {
	return ask.SearchRequest{Text: m.input.String(), Mode: ask.Modes[m.mode], Limit: m.limit, Filters: m.filters.request(m.o), People: m.filters.people}
}

// search asks what the interface now says, instead of what was asked before.
func (m *Model) search() tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	m.number++
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel = cancel
	number, r := m.number, m.request()
	if m.away {
		m.showSeen()
	}
	return func() tea.Msg {
		resp, err := m.asker.Search(ctx, r)
		return answerMsg{number, r, resp, err}
	}
}

// Update takes in a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Resize(msg.Width, msg.Height)
	case tea.PasteMsg:
		m.input.insert(msg.Content)
		return m, m.typed()
	case tea.KeyPressMsg:
		m.note = ""
		return m, m.key(msg)
	case answerMsg:
		return m, m.answer(msg)
	case againMsg:
		if msg.number == m.number {
			return m, m.search()
		}
	case freshMsg:
		if m.answered && m.selected == 0 && m.input.String() == m.o.Text && !m.done {
			return m, m.search()
		}
	case aroundMsg:
		m.pane.take(msg)
	case pageMsg:
		m.takePage(msg)
	}
	return m, nil
}

// answer takes in the answer of a search.
func (m *Model) answer(a answerMsg) tea.Cmd {
	if a.number != m.number || errors.Is(a.err, context.Canceled) {
		return nil
	}
	if a.err != nil {
		m.trouble, m.away = clean(a.err.Error()), errors.Is(a.err, ErrAway)
		if !m.away {
			return nil
		}
		m.showSeen()
		return m.after(againAfter, againMsg{a.number})
	}
	if m.away {
		m.note = "answers again"
	}
	m.trouble, m.away = "", false
	m.seen.keep(a.resp.Hits)
	if len(a.resp.Authors) > 0 {
		m.filters.authors = a.resp.Authors
	}
	return m.show(a.asked, a.resp)
}

// show shows an answer. The selection stays on its command if only more was asked for or the list was
// renewed.
func (m *Model) show(asked ask.SearchRequest, resp ask.SearchResponse) tea.Cmd {
	var on schemas.EventID
	same := m.answered && sameQuestion(m.asked, asked)
	if h := m.hit(); h != nil && same {
		on = h.ID
	}
	m.resp, m.asked, m.answered = resp, asked, true
	m.selected = 0
	if same && !on.IsZero() {
		m.selected = max(slices.IndexFunc(resp.Hits, func(h ask.SearchHit) bool { return h.ID == on }), 0)
	}
	return m.follow()
}

func sameQuestion(a, b ask.SearchRequest) bool {
	return a.Text == b.Text && a.Mode == b.Mode && a.Filters == b.Filters && a.People == b.People
}

// typed begins a new search after the text or a filter has changed.
func (m *Model) typed() tea.Cmd {
	m.limit = ask.DefaultSearchLimit
	m.pane.leave()
	return m.search()
}

// hit returns the selected command of the list, nil if there is none.
func (m *Model) hit() *ask.SearchHit {
	if m.selected >= len(m.resp.Hits) {
		return nil
	}
	return &m.resp.Hits[m.selected]
}

// current returns the command that keys are about: that of the pane if it has the keys, else that of
// the list.
func (m *Model) current() *ask.Intent {
	if in := m.pane.current(); in != nil {
		return in
	}
	if h := m.hit(); h != nil {
		return &h.Intent
	}
	return nil
}

// move moves the selection; up is older, or worse.
func (m *Model) move(by int) tea.Cmd {
	if m.pane.focused {
		m.pane.move(-by)
		return nil
	}
	m.selected = min(max(m.selected+by, 0), max(len(m.resp.Hits)-1, 0))
	if m.selected == len(m.resp.Hits)-1 && len(m.resp.Hits) == m.limit && m.limit < ask.MaxLimit && !m.away {
		m.limit = min(4*m.limit, ask.MaxLimit)
		return tea.Batch(m.search(), m.follow())
	}
	return m.follow()
}

// follow loads the circumstances of the selected command, if they are shown.
func (m *Model) follow() tea.Cmd {
	h := m.hit()
	if !m.pane.open || m.pane.focused || h == nil {
		return nil
	}
	m.pane.trail = nil
	return m.pane.load(m, h.Intent)
}
