package agentlog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// loose is text from any JSON value: a string gives its content, null gives "", any other value its
// JSON. It is used for formats with many versions.
type loose string

// UnmarshalJSON accepts any value.
func (l *loose) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		*l = ""
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*l = loose(s)
	default:
		*l = loose(b)
	}
	return nil
}

// fields are the members of an object; nil for any other value.
type fields map[string]json.RawMessage

// UnmarshalJSON accepts any value.
func (f *fields) UnmarshalJSON(b []byte) error {
	*f = nil
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, (*map[string]json.RawMessage)(f))
	}
	return nil
}

// text returns a field converted as by loose.
func (f fields) text(name string) string {
	var l loose
	if raw, ok := f[name]; ok {
		_ = json.Unmarshal(raw, &l) // cannot fail, the JSON was checked
	}
	return string(l)
}

// object returns the object in a field, as parts of it.
func (f fields) object(name string) fields {
	return membersOf(f[name])
}

func (f fields) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return len(f[n]) > 0 })
}

// list holds the elements of an array; nil for any other value.
type list []json.RawMessage

// UnmarshalJSON accepts any value.
func (l *list) UnmarshalJSON(b []byte) error {
	*l = nil
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]json.RawMessage)(l))
	}
	return nil
}

// list returns the array in a field, as parts of it.
func (f fields) list(name string) list {
	return elementsOf(f[name])
}

// object returns the members of valid JSON, as parts of it.
func object(raw []byte) fields { return membersOf(raw) }

// compact returns an object on one line, with its fields sorted by name.
func compact(f fields) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(f) // cannot fail, the fields are valid JSON
	return strings.TrimSpace(b.String())
}

// when parses a time: RFC 3339, the same without a zone (UTC is assumed), or seconds since 1970. It
// returns the zero time for anything else.
func when(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return likely(t)
		}
	}
	var sec float64
	if json.Unmarshal([]byte(s), &sec) == nil && sec > 1e8 && sec < 8e9 {
		return time.Unix(0, int64(sec*1e6)*1e3).UTC()
	}
	return time.Time{}
}

// likely replaces implausible times, which an event may not have, by the zero time.
func likely(t time.Time) time.Time {
	if t.Year() < 1971 || t.Year() > 2223 {
		return time.Time{}
	}
	return t.UTC()
}

// headOf returns the start of s: whole characters, at most n bytes.
func headOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// tailOf returns the end of s: whole characters, at most n bytes.
func tailOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// firstLine returns the first line of s that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return headOf(line, 4096)
		}
	}
	return ""
}
