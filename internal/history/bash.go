package history

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// Bash reads a bash history, with or without the times that bash writes if HISTTIMEFORMAT is set.
// It interprets the file as bash does: if the first line is a time, everything up to the next time
// is one command, including newlines; otherwise each line is a command, and a time applies to the
// line after it.
func Bash(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		w := &emitter{m: newMaker("bash", o), yield: yield}
		var (
			first = true
			multi bool
			e     entry
			text  []string // of e, if multi
		)
		flush := func() {
			if len(text) > 0 {
				e.command = strings.Join(text, "\n")
				w.emit(e)
			}
			e, text = entry{}, nil
		}
		for l, err := range lines(r) {
			if err != nil {
				flush()
				w.fail(err)
				return
			}
			at, isTime := bashTime(l.text)
			if first && l.text != "" {
				first, multi = false, isTime
			}
			switch {
			case l.tooLong:
				w.skip(l.number, "a line too long")
				e = entry{}
			case isTime:
				flush()
				e.started = at
			case multi:
				if len(text) == 0 {
					e.line = l.number
				}
				text = append(text, l.text)
				// A command that is too long, from a damaged file, is reported once and not kept.
				if len(text) > maxLines {
					w.skip(e.line, "a command of too many lines")
					e, text = entry{}, nil
				}
			case strings.TrimSpace(l.text) != "":
				e.line, text = l.number, []string{l.text}
				flush()
			}
			if w.done {
				return
			}
		}
		flush()
	}
}

// maxLines limits the lines of one command of a bash history.
const maxLines = 100_000

// bashTime parses a line such as #1700000000. Bash accepts any digits; at least nine are required
// here, so that a comment such as #1234 is not a time.
func bashTime(s string) (time.Time, bool) {
	s = strings.TrimRight(s, " \r")
	if len(s) < 10 || len(s) > 12 || s[0] != '#' {
		return time.Time{}, false
	}
	sec, err := strconv.ParseInt(s[1:], 10, 64)
	if err != nil || s[1] == '+' {
		return time.Time{}, false
	}
	return unix(sec)
}
