package history

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// Zsh reads a zsh history, plain or extended (": START:SECONDS;COMMAND") or mixed. A newline in a
// command is written as a backslash and a newline, and bytes that zsh uses itself are written as
// 0x83 and the byte with bit 5 inverted ("metafied").
func Zsh(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		w := &emitter{m: newMaker("zsh", o), yield: yield}
		var text strings.Builder
		start, dropped := 0, false
		flush := func() {
			if start > 0 && !dropped {
				if e := zshEntry(text.String()); e.command != "" {
					e.line = start
					w.emit(e)
				}
			}
			start, dropped = 0, false
			text.Reset()
		}
		for l, err := range lines(r) {
			if err != nil {
				flush()
				w.fail(err)
				return
			}
			if start == 0 {
				start = l.number
			}
			part, more := strings.CutSuffix(l.text, `\`)
			if !dropped && (l.tooLong || text.Len()+len(part) > maxLine) {
				dropped = true
				w.skip(start, "a command too long")
			}
			if !dropped {
				text.WriteString(part)
			}
			if more {
				text.WriteByte('\n')
			} else {
				flush()
			}
			if w.done {
				return
			}
		}
		flush()
	}
}

func zshEntry(s string) entry {
	s = unmetafy(s)
	// A command that ends in backslashes is written with a space after them.
	if t, ok := strings.CutSuffix(s, " "); ok && strings.HasSuffix(strings.TrimRight(t, " "), `\`) {
		s = t
	}
	e := entry{command: s}
	rest, ok := strings.CutPrefix(s, ":")
	if !ok {
		return e
	}
	head, command, ok := strings.Cut(strings.TrimLeft(rest, " "), ";")
	if !ok {
		return e
	}
	began, took, ok := strings.Cut(head, ":")
	if !ok {
		return e
	}
	at, err1 := strconv.ParseInt(began, 10, 64)
	sec, err2 := strconv.ParseInt(took, 10, 32)
	if err1 != nil || err2 != nil || sec < 0 {
		return e // ": word:word; …" is a valid command, too
	}
	e.command = command
	if t, ok := unix(at); ok && at > 0 {
		// zsh writes 0 seconds for shorter commands, and also if it writes an entry before the
		// command has ended (INC_APPEND_HISTORY), so 0 means unknown.
		e.started, e.duration, e.known = t, time.Duration(sec)*time.Second, sec > 0
	}
	return e
}

const meta = 0x83

func unmetafy(s string) string {
	if strings.IndexByte(s, meta) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == meta && i+1 < len(s) {
			i++
			b = append(b, s[i]^32)
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}
