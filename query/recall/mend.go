package recall

import (
	"strings"

	"github.com/recountdb/recount/projections/objects"
)

const (
	// mendWithin is how many runs after a failure its mend may come.
	mendWithin = 80
	// maxSteps is how many steps of a mend are shown: the last ones.
	maxSteps = 4
	// variation is how alike two commands must be so that the second is taken for another try, and
	// tries how many runs later it may come.
	variation = 0.5
	tries     = 4
	// inlineVariation is the same for commands that have a program in them: most of its words are in
	// many programs.
	inlineVariation = 0.8
)

// mendOf returns what mended the failure of all[at], or nil. marks are those of the failure.
func (a *session) mendOf(all []run, at int, marks []mark) (*Mend, error) {
	failure := &all[at]
	end, after := -1, 0
	for i := at + 1; i < len(all) && after < mendWithin; i++ {
		x := &all[i]
		if x.said {
			continue
		}
		after++
		if x.result == nil || x.command == "" && x.edited == "" {
			continue
		}
		same := x.command != "" && shares(failure.keys, x.keys) || failure.edited != "" && failure.command == "" && failure.edited == x.edited
		if same {
			if x.succeeded() {
				end = i
				break
			}
			now, err := a.marks(x)
			if err != nil {
				return nil, err
			}
			// It fails in another way now: what failed before is mended.
			if share, _ := alike(marks, now); share == 0 && len(now) > 0 && len(marks) > 0 && x.command == failure.command {
				end = i
				break
			}
		} else if after <= tries && x.succeeded() && isVariation(failure.command, x.command) {
			end = i
			break
		}
	}
	if end < 0 {
		return nil, nil
	}
	m := &Mend{Steps: []string{}, Command: oneLine(all[end].command, 200), Position: all[end].result.At, After: after}
	if m.Command == "" {
		m.Command = oneLine(firstLineOf(all[end].call), 200)
	}
	for i := at + 1; i < end; i++ {
		x := &all[i]
		switch {
		case x.said && x.call.Agent != "" && source(x.call) != "user" && len(m.Steps) == 0:
			if s := reason(x.call.Text); s != "" {
				m.Said = s
			}
		case x.said || !x.succeeded() || !x.acts() || x.command != "" && x.command == failure.command:
		default:
			m.Steps = append(m.Steps, step(x))
		}
	}
	if len(m.Steps) > maxSteps {
		m.Steps = m.Steps[len(m.Steps)-maxSteps:]
	}
	m.Same = len(m.Steps) == 0 && all[end].command == failure.command
	return m, nil
}

// marks returns the marks of a run's output.
func (a *session) marks(x *run) ([]mark, error) {
	if x.result == nil {
		return nil, nil
	}
	text, err := a.ending(x.result)
	return marksOf(text), err
}

// step describes what a run did.
func step(x *run) string {
	if x.edited == "" || x.command != "" {
		return "ran " + oneLine(x.command, 140)
	}
	s := "changed " + x.edited
	if is := written(x.call.Text); is != "" {
		s += " to: " + is
	}
	return s
}

// written returns the beginning of what an edit put in the place of what was there: the first line
// that is not also in the old text.
func written(text string) string {
	_, is, ok := strings.Cut(text, "\nnew_string:")
	if !ok {
		if _, is, ok = strings.Cut(text, "\nnew_str:"); !ok {
			return ""
		}
	}
	was, _, _ := strings.Cut(text, "\nnew_str")
	if i := strings.Index(is, "\nold_str"); i >= 0 { // the arguments are in another order
		is, was = is[:i], was+is[i:]
	}
	var lines []string
	for line := range strings.Lines(is) {
		line = strings.TrimSpace(line)
		if len(line) < 4 || strings.Contains(was, line) || strings.HasPrefix(line, "replace_all:") {
			continue
		}
		if lines = append(lines, oneLine(line, 110)); len(lines) == 2 {
			break
		}
	}
	return strings.Join(lines, " ⏎ ")
}

// reason returns the first sentences of a message that say why, or "" if it says nothing.
func reason(text string) string {
	text = strings.TrimSpace(text)
	if len(text) < 40 {
		return ""
	}
	return sentence(text, 220)
}

// isVariation reports whether a command is another try of one.
func isVariation(was, is string) bool {
	if strings.Contains(was, "<<") || strings.Contains(is, "<<") {
		return likeness(was, is) >= inlineVariation
	}
	return likeness(was, is) >= variation
}

// likeness returns the share of words that two commands have in common.
func likeness(a, b string) float64 {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	in := map[string]int{}
	for _, w := range x {
		in[w]++
	}
	both := 0
	for _, w := range y {
		if in[w] > 0 {
			in[w]--
			both++
		}
	}
	return float64(both) / float64(max(len(x), len(y)))
}

func firstLineOf(o *objects.Stored) string {
	line, _, _ := strings.Cut(o.Text, "\n")
	return line
}
