package agentlog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxValue limits a line or a document, which may be a whole run, in bytes.
const maxValue = 256 << 20

// maxPreface limits the lines before the first one that is JSON.
const maxPreface = 64

// value is one JSON value of a file, with the line at which it begins.
type value struct {
	line int
	raw  []byte
}

var bom = []byte("\uFEFF")

// values yields the JSON values of a file: one per line if the first line is a complete value,
// otherwise values that extend over any number of lines. A line that is not a value gives a
// SkipError; any other error ends the file.
func values(r io.Reader) iter.Seq2[value, error] {
	return func(yield func(value, error) bool) {
		b, err := utf8Text(r)
		if err != nil {
			yield(value{}, err)
			return
		}
		for n := 1; ; n++ {
			line, err := readLine(b)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(value{}, lineError(n, err))
				return
			}
			line = bytes.TrimPrefix(line, bom)
			switch {
			case len(bytes.TrimSpace(line)) == 0:
				continue
			case !json.Valid(line):
				document(line, n, b, yield)
			case yield(value{n, bytes.TrimSpace(line)}, nil):
				lines(n+1, b, yield)
			}
			return
		}
	}
}

// lines reads one value per line.
func lines(n int, b *bufio.Reader, yield func(value, error) bool) {
	for ; ; n++ {
		line, err := readLine(b)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(value{}, lineError(n, err))
			return
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := check(line); err != nil {
			if several := split(line); several != nil {
				for _, raw := range several {
					if !yield(value{n, raw}, nil) {
						return
					}
				}
				continue
			}
			if !yield(value{}, &SkipError{n, err.Error()}) {
				return
			}
			continue
		}
		if !yield(value{n, line}, nil) {
			return
		}
	}
}

// split returns the objects of a line that has several: two programs appended to the file at once.
// It returns nil for any other line.
func split(line []byte) []json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(line))
	var all []json.RawMessage
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil || raw[0] != '{':
			return nil
		}
		all = append(all, raw)
	}
}

// document reads values over several lines; first is the first line, with number n.
func document(first []byte, n int, b *bufio.Reader, yield func(value, error) bool) {
	limited := &io.LimitedReader{R: b, N: maxValue}
	rest, err := io.ReadAll(limited)
	if err != nil {
		yield(value{}, err)
		return
	}
	if limited.N <= 0 {
		yield(value{}, &FileError{Line: n, Reason: fmt.Sprintf("a document larger than %d bytes: split it", maxValue)})
		return
	}
	text := append(first[:len(first):len(first)], rest...)
	d := json.NewDecoder(bytes.NewReader(text))
	line, counted := n, int64(0) // of the value, and how much of the text is before it
	for {
		from := d.InputOffset()
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			from += int64(len(text[from:]) - len(bytes.TrimLeft(text[from:], " \t\r\n")))
			line, counted = line+bytes.Count(text[counted:from], []byte("\n")), from
			if !yield(value{line, raw}, nil) {
				return
			}
			continue
		}
		at := int64(len(text))
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(at, syntax.Offset)
		}
		if from == 0 {
			// The file may also have one value per line after lines that are not JSON: what a
			// program printed before, or a damaged first line.
			next := bufio.NewReader(bytes.NewReader(rest))
			for k := 1; k <= maxPreface; k++ {
				line, err := readLine(next)
				if err != nil {
					break
				}
				if k > 1 && len(first) > 0 && bytes.IndexByte([]byte("{["), bytes.TrimSpace(first)[0]) >= 0 {
					break // a document that is broken later
				}
				if line = bytes.TrimSpace(line); len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line) {
					reason := check(bytes.TrimSpace(first)).Error()
					if k > 1 {
						reason += fmt.Sprintf(" (and the %d lines after it)", k-1)
					}
					if yield(value{}, &SkipError{n, reason}) && yield(value{n + k, line}, nil) {
						lines(n+k+1, next, yield)
					}
					return
				}
			}
		}
		reason := plainJSON(err).Error()
		if what := lookText(first); what != "" {
			reason = fmt.Sprintf("no JSON: this is %s. Accepted are sessions of %s", what, Accepted())
		}
		yield(value{}, &FileError{Line: n + bytes.Count(text[:at], []byte("\n")), Reason: reason})
		return
	}
}

var errLong = fmt.Errorf("longer than %d bytes: split it", maxValue)

func lineError(n int, err error) error {
	if errors.Is(err, errLong) {
		return &FileError{Line: n, Reason: err.Error()}
	}
	return fmt.Errorf("line %d: %w", n, err)
}

// check returns the error in a line, if any.
func check(line []byte) error {
	if json.Valid(line) {
		return nil
	}
	var any json.RawMessage
	return plainJSON(json.Unmarshal(line, &any))
}

func plainJSON(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && err.Error() == "unexpected end of JSON input" {
		return errors.New("the JSON is truncated")
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("%s is of the wrong kind: %s", mismatch.Field, mismatch.Value)
	}
	return fmt.Errorf("no JSON: %w", err)
}

// readLine reads a line with its line ending; io.EOF means that there is none.
func readLine(b *bufio.Reader) (line []byte, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if len(part) > cap(line)-len(line) {
			line = slices.Grow(line, max(len(part), len(line))) // a long line is copied a few times only
		}
		if line = append(line, part...); len(line) > maxValue {
			return nil, errLong
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// utf8Text returns r, converted to UTF-8 if it begins with UTF-16's byte order mark, as PowerShell
// writes it.
func utf8Text(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var order binary.ByteOrder
	switch {
	case bytes.Equal(head, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.Equal(head, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return b, nil
	}
	return bufio.NewReaderSize(&utf16Reader{b: b, order: order}, 64<<10), nil
}

// utf16Reader converts UTF-16 to UTF-8.
type utf16Reader struct {
	b     *bufio.Reader
	order binary.ByteOrder
	high  rune // the first half of a surrogate pair
	out   []byte
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) < len(p) && len(u.out) < 4096 {
		var two [2]byte
		if _, err := io.ReadFull(u.b, two[:]); err != nil {
			if len(u.out) > 0 {
				break
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF // half a surrogate pair at the end
			}
			return 0, err
		}
		c := rune(u.order.Uint16(two[:]))
		switch {
		case c >= 0xd800 && c < 0xdc00:
			u.high = c
			continue
		case utf16.IsSurrogate(c):
			c = utf16.DecodeRune(u.high, c)
		}
		u.high = 0
		u.out = utf8.AppendRune(u.out, c)
	}
	n := copy(p, u.out)
	u.out = u.out[:copy(u.out, u.out[n:])]
	return n, nil
}
