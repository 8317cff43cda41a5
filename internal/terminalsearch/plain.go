package terminalsearch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
)

// plainHits is the number of commands that Plain lists at a time.
const plainHits = 10

// plainHelp says what Plain understands.
const plainHelp = `Type words to search, a number to choose, or one of:
  more        list the next ones
  about N     what came before and after N, and why it failed
  here, everywhere, session   where commands must have run
  failed, worked, any         how they must have ended
  quit        choose nothing`

// Plain is the search line by line, without moving the cursor: for screen readers, and for terminals
// that cannot move it. It reads lines from in and writes to out.
func Plain(ctx context.Context, in io.Reader, out io.Writer, by Asker, o Options) (Choice, error) {
	m := New(ctx, by, o)
	lines := bufio.NewScanner(in)
	list := func(from int) {
		m.limit = from + plainHits
		a := m.answerNow()
		if a.err != nil {
			fmt.Fprintln(out, clean(a.err.Error()))
		}
		for i := from; i < len(m.resp.Hits); i++ {
			fmt.Fprintf(out, "%d: %s\n", i+1, m.spoken(&m.resp.Hits[i]))
		}
		if len(m.resp.Hits) <= from {
			for _, l := range m.nothing(m.width) {
				fmt.Fprintln(out, l)
			}
		}
	}
	list(0)
	fmt.Fprintln(out, "Type words, a number, or help.")
	for fmt.Fprint(out, "search: "); lines.Scan(); fmt.Fprint(out, "search: ") {
		text := strings.TrimSpace(lines.Text())
		word, rest, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(text)
		switch {
		case text == "quit":
			return Choice{}, nil
		case text == "help":
			fmt.Fprintln(out, plainHelp)
			continue
		case text == "more":
			list(len(m.resp.Hits))
			continue
		case text == "here":
			m.filters.place = inDirectory
		case text == "everywhere":
			m.filters.place = everywhere
		case text == "session" && o.Here.Session != "":
			m.filters.place = inSession
		case text == "failed", text == "worked", text == "any":
			m.filters.exit = map[string]int{"any": 0, "failed": 1, "worked": 2}[text]
		case word == "about":
			if h := m.numbered(rest); h != nil {
				m.tell(ctx, out, h)
			} else {
				fmt.Fprintf(out, "about: want a number from 1 to %d\n", len(m.resp.Hits))
			}
			continue
		case err == nil:
			if h := m.numbered(text); h != nil {
				return Choice{Command: h.Command}, nil
			}
			fmt.Fprintf(out, "%d: want a number from 1 to %d\n", n, len(m.resp.Hits))
			continue
		default:
			m.input = newLine(text)
		}
		list(0)
	}
	return Choice{}, lines.Err()
}

// answerNow asks and takes in the answer.
func (m *Model) answerNow() answerMsg {
	a := m.search()().(answerMsg)
	m.answer(a)
	return a
}

// numbered returns the hit of a number.
func (m *Model) numbered(text string) *ask.SearchHit {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > len(m.resp.Hits) {
		return nil
	}
	return &m.resp.Hits[n-1]
}

// spoken describes a hit in words.
func (m *Model) spoken(h *ask.SearchHit) string {
	words := []string{clean(h.Command)}
	switch {
	case h.ExitCode == nil:
	case *h.ExitCode == 0:
		words = append(words, "worked")
	default:
		words = append(words, fmt.Sprintf("failed with %d", *h.ExitCode))
	}
	words = append(words, render.Ago(m.o.Now(), h.Time))
	if h.Runs > 1 {
		words = append(words, fmt.Sprintf("%d times", h.Runs))
	}
	if h.Cwd != "" {
		words = append(words, "in "+m.home(h.Cwd))
	}
	return strings.Join(words, ", ")
}

// tell writes the circumstances of a hit.
func (m *Model) tell(ctx context.Context, out io.Writer, h *ask.SearchHit) {
	r, err := m.asker.Around(ctx, ask.AroundRequest{Ref: h.Position.String(), Limit: around})
	if err != nil {
		fmt.Fprintln(out, clean(err.Error()))
		return
	}
	name := func(what string, all []ask.Intent) {
		for _, in := range all {
			fmt.Fprintf(out, "%s: %s\n", what, clean(in.Command))
		}
	}
	name("before", r.Before)
	fmt.Fprintf(out, "this: %s\n", m.spoken(h))
	name("after", r.After)
	p := pane{open: true, loaded: true, of: r.Root, resp: r}
	fmt.Fprintln(out, p.facts(m))
	for _, c := range r.Causes {
		fmt.Fprintf(out, "why it failed: %s, %s\n", clean(c.Command), clean(c.Why))
	}
	for _, c := range r.Fixes {
		fmt.Fprintf(out, "what fixed it: %s, %s\n", clean(c.Command), clean(c.Why))
	}
	for l := range strings.Lines(r.OutputTail) {
		fmt.Fprintf(out, "output: %s\n", clean(l))
	}
}
