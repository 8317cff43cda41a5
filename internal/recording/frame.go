package recording

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

// A frame is what a shell's hook writes of one command. It begins with two NUL bytes and
// goes on with fields: a letter, the value, a NUL. A shell's values have no NUL in them,
// and no field is empty, so two NULs stand nowhere else:
//
//	x  the exit code
//	t  when it started, in seconds since 1970 with a fraction
//	d  how long it took, in microseconds
//	c  the directory it started in
//	w  the directory the shell is in now
//	i  RECOUNT_IGNORE
//	h  the text as bash's history prints it, behind its number
//	k  the text itself
//	.  the end; its value is empty
//
// A frame that another one begins within was given up by the shell, whose pipe was full,
// and reached a recorder in another way: it is dropped. So is what comes before the first
// frame, which a reader that was killed has left.
type frame struct {
	report
	here, ignore, text string
}

// frames reads frames.
type frames struct {
	in    *bufio.Reader
	field []byte
}

// next is the next whole frame, or the error of the reader.
func (r *frames) next() (f frame, err error) {
	begun := false
	for {
		key, value, err := r.nextField()
		switch {
		case err != nil:
			return f, err
		case key == 0:
			f, begun = frame{}, true
		case key == '.' && begun:
			return f, nil
		case begun:
			begun = f.set(key, value)
		}
	}
}

// nextField reads up to the next NUL. key is 0 for a field without one, which begins a
// frame.
func (r *frames) nextField() (key byte, value []byte, err error) {
	r.field = r.field[:0]
	for {
		part, err := r.in.ReadSlice(0)
		if len(r.field) <= maxInput { // of what is too long the start is enough
			r.field = append(r.field, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		field := bytes.TrimSuffix(r.field, []byte{0})
		if len(field) == 0 {
			return 0, nil, nil
		}
		return field[0], field[1:], nil
	}
}

// large says whether the reader holds much more than commands have as a rule, and lets go
// of it.
func (r *frames) large() bool {
	if cap(r.field) <= 64<<10 {
		return false
	}
	r.field = nil
	return true
}

// set takes a field in. It returns false for one that no hook writes.
func (f *frame) set(key byte, value []byte) bool {
	s := string(value)
	switch key {
	case 'x':
		f.exit = s
	case 't':
		f.at = s
	case 'd':
		d, err := time.ParseDuration(s + "us")
		if err != nil {
			return false
		}
		f.duration = d
	case 'c':
		f.cwd = s
	case 'w':
		f.here = s
	case 'i':
		f.ignore = s
	case 'k':
		f.text = s
	case 'h':
		f.text = fromHistory(s)
	default:
		return false
	}
	return true
}

// fromHistory is the text of a line that bash's history printed, "" where it printed
// something else: "  123* make test", with a star where the line was edited.
func fromHistory(s string) string {
	s = strings.TrimLeft(s, " ")
	number := strings.TrimLeft(s, "0123456789")
	if number == s || len(number) < 2 || number[0] != ' ' && number[0] != '*' || number[1] != ' ' {
		return ""
	}
	return number[2:]
}

// newFrames reads frames from in.
func newFrames(in io.Reader) *frames { return &frames{in: bufio.NewReaderSize(in, 16<<10)} }
