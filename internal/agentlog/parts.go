package agentlog

import (
	"bytes"
	"encoding/json"
)

// membersOf returns the members of an object, nil for any other value. raw is valid JSON. The values are parts
// of raw and not copies: a line may have many megabytes, and what is in it is looked at level by level.
func membersOf(raw []byte) fields {
	var f fields
	walk(raw, '{', '}', func(name, value []byte) {
		if f == nil {
			f = fields{}
		}
		var key string
		if len(name) > 0 && json.Unmarshal(name, &key) == nil {
			f[key] = value
		}
	})
	return f
}

// elementsOf returns the elements of an array as parts of raw, nil for any other value. raw is valid JSON.
func elementsOf(raw []byte) list {
	var l list
	walk(raw, '[', ']', func(_, value []byte) {
		if l == nil {
			l = list{}
		}
		if len(value) > 0 {
			l = append(l, value)
		}
	})
	return l
}

// walk passes each part of an object or an array to each, with its name in an object. It begins with an empty
// one, which tells that raw is such a value.
func walk(raw []byte, opens, closes byte, each func(name, value []byte)) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != opens || raw[len(raw)-1] != closes {
		return
	}
	each(nil, nil)
	rest := raw[1 : len(raw)-1]
	for {
		if rest = bytes.TrimLeft(rest, " \t\r\n,"); len(rest) == 0 {
			return
		}
		var name []byte
		if opens == '{' {
			n := lengthOf(rest)
			name, rest = rest[:n], bytes.TrimLeft(rest[n:], " \t\r\n:")
		}
		n := lengthOf(rest)
		if n == 0 {
			return
		}
		each(name, rest[:n:n])
		rest = rest[n:]
	}
}

// lengthOf returns the length of the value with which a text begins.
func lengthOf(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLength(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default: // a number or a word ends before what follows it
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringLength returns the length of the string, in quotes, with which a text begins.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		n := bytes.IndexAny(text[i:], `"\`)
		if n < 0 {
			break
		}
		if i += n; text[i] == '"' {
			return i + 1
		}
		i++ // what a backslash escapes
	}
	return len(text)
}
