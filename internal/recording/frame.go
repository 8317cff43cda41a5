package recording

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

// frame is what a shell's hook writes about one command. It begins with two NUL bytes, followed by
// fields: a letter, the value, a NUL. A shell's values contain no NUL, and no field is empty, so
// two NULs occur nowhere else:
//
//	x  the exit code
//	t  when it started, in seconds since 1970 with a fraction
//	d  how long it took, in microseconds
//	c  the directory it started in
//	w  the directory the shell is in now
//	i  RECOUNT_IGNORE
//	h  the text as printed by bash's history, after its number
//	k  the text itself
//	.  the end; its value is empty
//
// If another frame begins inside a frame, the first was abandoned by the shell because its pipe was
// full, and has reached a recorder in another way: it is dropped. Bytes before the first frame are
// dropped as well; they are the rest of a frame that a killed reader left.
type frame struct {
	report
	here, ignore, text string
}

// frames reads frames.
type frames struct {
	in    *bufio.Reader
	field []byte
}

// next returns the next complete frame, or the reader's error.
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

// nextField reads up to the next NUL. key is 0 for an empty field, which starts a frame.
func (r *frames) nextField() (key byte, value []byte, err error) {
	r.field = r.field[:0]
	for {
		part, err := r.in.ReadSlice(0)
		if len(r.field) <= maxInput { // the start of a field that is too long is enough
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

// large reports whether the buffer is much larger than commands usually need, and releases it.
func (r *frames) large() bool {
	if cap(r.field) <= 64<<10 {
		return false
	}
	r.field = nil
	return true
}

// set stores a field. It returns false for one that no hook writes.
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

// fromHistory returns the text of a line that bash's history printed, "" if it printed something
// else: "  123* make test", with a star if the line was edited.
func fromHistory(s string) string {
	s = strings.TrimLeft(s, " ")
	number := strings.TrimLeft(s, "0123456789")
	if number == s || len(number) < 2 || number[0] != ' ' && number[0] != '*' || number[1] != ' ' {
		return ""
	}
	return number[2:]
}

// newFrames returns a reader of the frames in in.
func newFrames(in io.Reader) *frames { return &frames{in: bufio.NewReaderSize(in, 16<<10)} }
