package history

import (
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Fish reads a fish history. The file looks like YAML but is not: only backslashes and newlines in
// a command are escaped.
func Fish(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		w := &emitter{m: newMaker("fish", o), yield: yield}
		var e entry
		flush := func() {
			if e.line > 0 {
				w.emit(e)
			}
			e = entry{}
		}
		for l, err := range lines(r) {
			if err != nil {
				flush()
				w.fail(err)
				return
			}
			if cmd, ok := strings.CutPrefix(l.text, "- cmd:"); ok || l.tooLong {
				flush()
				if l.tooLong {
					w.skip(l.number, "a line too long")
				} else {
					e = entry{line: l.number, command: fishUnescape(strings.TrimPrefix(cmd, " "))}
				}
			} else if when, ok := strings.CutPrefix(strings.TrimLeft(l.text, " "), "when:"); ok && e.line > 0 && strings.HasPrefix(l.text, " ") {
				if sec, err := strconv.ParseInt(strings.TrimSpace(when), 10, 64); err == nil {
					if t, ok := unix(sec); ok {
						e.started = t
					}
				}
			}
			if w.done {
				return
			}
		}
		flush()
	}
}

func fishUnescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'n':
				b.WriteByte('\n')
				i++
				continue
			case '\\':
				b.WriteByte('\\')
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
