// Package rawjson splits JSON in place, without a copy. What it is given must be JSON that json.Valid
// accepts.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Elements yields the elements of an array.
func Elements(array []byte) iter.Seq[[]byte] {
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

// Members yields the members of an object in their order.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 1; ; {
			i = skipTo(object, i)
			if object[i] == '}' {
				return
			}
			end := skip(object, i)
			name, _ := Text(object[i:end])
			i = skipTo(object, end)
			end = skip(object, i)
			if !yield(name, object[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// skipTo returns the index of the next value, or of the end of the enclosing array or object.
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

// skip returns the index after the value that begins at i.
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

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		// Most strings have no escapes, so jump to the next quote.
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

// Text decodes a string; false if the value is not one.
func Text(value []byte) (string, bool) {
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
