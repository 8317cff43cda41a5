package httpapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// What follows takes JSON apart where it lies, without a copy. It is given JSON that
// json.Valid has accepted, and nothing else.

// member is a member of an object.
type member struct {
	name  string
	value []byte
}

// elements are those of an array.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 1; ; {
			i = skipTo(array, i)
			if array[i] == ']' {
				return
			}
			end := skip(array, i)
			if !yield(array[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// members are those of an object, in their order.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 1; ; {
			i = skipTo(object, i)
			if object[i] == '}' {
				return
			}
			end := skip(object, i)
			name, _ := text(object[i:end])
			i = skipTo(object, end)
			end = skip(object, i)
			if !yield(name, object[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// skipTo is where the next value begins, or what it stands in ends.
func skipTo(b []byte, i int) int {
	for {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
}

// skip is the end of the value that begins at i.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		default:
			if depth > 0 {
				i++
				continue
			}
			for i < len(b) && bytes.IndexByte([]byte(" \t\r\n,:]}"), b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// skipString is the end of the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		// Most of what is sent is texts without an escape.
		i += bytes.IndexByte(b[i:], '"')
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// text is a string's content; false if the value is none.
func text(value []byte) (string, bool) {
	if value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : len(value)-1]), true
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}
