package schemas

import (
	"bytes"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// plainCommand is a fast decoder for command.executed in the form that nearly all producers write:
// an object with the field names of events.proto, each at most once, that meets every constraint.
// For such a payload its result equals that of protojson and Validate at a tenth of their cost,
// which used to dominate a rebuild. For anything else, invalid payloads included, ok is false and
// the general decoder decides.
func plainCommand(data []byte) (m proto.Message, ok bool) {
	c := &recountv1.CommandExecuted{}
	in := plainJSON{rest: data}
	seen := uint32(0)
	for more := in.open(); more; more = in.more() {
		fine := false
		// The cases are in the order of the fields in events.proto, with the limits stated there.
		switch name := in.name(); string(name) {
		case "command":
			fine = once(&seen, 1) && in.text(&c.Command, 1<<20)
		case "workspace":
			fine = once(&seen, 2) && in.text(&c.Workspace, 4096)
		case "cwd":
			fine = once(&seen, 3) && in.text(&c.Cwd, 4096)
		case "session":
			fine = once(&seen, 4) && in.text(&c.Session, 256)
		case "shell":
			fine = once(&seen, 5) && in.text(&c.Shell, 64)
		case "user":
			fine = once(&seen, 6) && in.text(&c.User, 256)
		case "host":
			fine = once(&seen, 7) && in.text(&c.Host, 256)
		case "started_at":
			fine = once(&seen, 8) && in.timestamp(&c.StartedAt)
		case "duration":
			fine = once(&seen, 9) && in.duration(&c.Duration)
		case "exit_code":
			fine = once(&seen, 10) && in.small(&c.ExitCode)
		case "env":
			fine = once(&seen, 11) && in.texts(&c.Env, 256)
		case "git_head":
			fine = once(&seen, 12) && in.text(&c.GitHead, 64)
		case "parent_event_id":
			fine = once(&seen, 13) && in.text(&c.ParentEventId, 64)
		case "author":
			fine = once(&seen, 14) && in.text(&c.Author, 256)
		case "stated_intent":
			fine = once(&seen, 15) && in.text(&c.StatedIntent, 65536)
		case "output_tail":
			fine = once(&seen, 16) && in.text(&c.OutputTail, 65536)
		case "home":
			fine = once(&seen, 17) && in.text(&c.Home, 4096)
		case "changes":
			fine = once(&seen, 18) && in.changes(&c.Changes)
		}
		if !fine {
			return nil, false
		}
	}
	if !in.ended() || c.Command == "" {
		return nil, false
	}
	return c, true
}

// once records that a field occurred; it returns false if the field occurred before.
func once(seen *uint32, field uint) bool {
	was := *seen&(1<<field) != 0
	*seen |= 1 << field
	return !was
}

// plainJSON reads one object from rest. It fails on every form it does not support, so a failure
// does not mean that the JSON is invalid.
type plainJSON struct {
	rest   []byte
	failed bool
}

// peek skips white space and returns the next byte without consuming it, 0 at the end.
func (in *plainJSON) peek() byte {
	for i, c := range in.rest {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			in.rest = in.rest[i:]
			return c
		}
	}
	in.rest = nil
	return 0
}

// take consumes the next byte and reports whether it is c.
func (in *plainJSON) take(c byte) bool {
	if in.peek() != c || len(in.rest) == 0 {
		in.failed = true
		return false
	}
	in.rest = in.rest[1:]
	return true
}

// open consumes the start of the object and reports whether it has a field.
func (in *plainJSON) open() bool { return in.take('{') && (in.peek() != '}' || !in.take('}')) }

// more moves to the next field and reports whether there is one.
func (in *plainJSON) more() bool {
	if in.peek() == '}' {
		in.take('}')
		return false
	}
	return in.take(',')
}

// ended reports whether the object was complete and nothing follows it.
func (in *plainJSON) ended() bool { return !in.failed && in.peek() == 0 && len(in.rest) == 0 }

// name reads a field's name and the colon.
func (in *plainJSON) name() []byte {
	raw, escaped := in.raw()
	if escaped || !in.take(':') {
		return nil
	}
	return raw
}

// raw returns the content between quotes, nil if there is no string, and whether it contains
// escapes.
func (in *plainJSON) raw() (raw []byte, escaped bool) {
	if !in.take('"') {
		return nil, false
	}
	for i := 0; i < len(in.rest); i++ {
		switch c := in.rest[i]; {
		case c == '"':
			raw, in.rest = in.rest[:i:i], in.rest[i+1:]
			return raw, escaped
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			in.failed = true
			return nil, false
		}
	}
	in.failed = true
	return nil, false
}

// text reads a string of at most `most` bytes.
func (in *plainJSON) text(to *string, most int) bool {
	raw, escaped := in.raw()
	if escaped {
		raw = unescape(raw)
	}
	if raw == nil || len(raw) > most || !utf8.Valid(raw) {
		return false
	}
	*to = string(raw)
	return true
}

// texts reads an object of at most `most` strings.
func (in *plainJSON) texts(to *map[string]string, most int) bool {
	all := map[string]string{}
	for more := in.open(); more; more = in.more() {
		name := in.name()
		var text string
		if name == nil || !utf8.Valid(name) || !in.text(&text, math.MaxInt) {
			return false
		}
		if _, twice := all[string(name)]; twice || len(all) == most {
			return false
		}
		all[string(name)] = text
	}
	*to = all
	return !in.failed
}

// unescape resolves the escapes of a string. It returns nil for invalid escapes and for \u escapes.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		switch c := raw[i+1]; c { // raw never ends with a single backslash
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			return nil
		}
		raw = raw[i+2:]
	}
}

// small reads an integer of at most nine digits.
func (in *plainJSON) small(to **int32) bool {
	negative := in.peek() == '-' && in.take('-')
	n, digits, ok := number(in.rest, 9)
	if !ok || negative && n == 0 {
		return false
	}
	in.rest = in.rest[digits:]
	if c := in.peek(); c != ',' && c != '}' {
		return false // more digits, a fraction or an exponent follow
	}
	v := int32(n)
	if negative {
		v = -v
	}
	*to = &v
	return true
}

// number reads the leading digits of b, at most `most` of them. A leading zero is accepted only for
// 0 itself.
func number(b []byte, most int) (n int64, digits int, ok bool) {
	for digits < len(b) && digits < most && '0' <= b[digits] && b[digits] <= '9' {
		n = 10*n + int64(b[digits]-'0')
		digits++
	}
	return n, digits, digits == 1 || digits > 1 && b[0] != '0'
}

// timestamp reads an RFC 3339 time in UTC.
func (in *plainJSON) timestamp(to **timestamppb.Timestamp) bool {
	raw, escaped := in.raw()
	if escaped || len(raw) == 0 || len(raw) > len("2006-01-02T15:04:05.999999999Z") || raw[len(raw)-1] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, string(raw))
	if err != nil || t.Year() < 1 {
		return false
	}
	*to = timestamppb.New(t)
	return true
}

// duration reads a non-negative number of seconds with an optional fraction.
func (in *plainJSON) duration(to **durationpb.Duration) bool {
	raw, escaped := in.raw()
	secs, digits, ok := number(raw, 11)
	if escaped || !ok || raw[len(raw)-1] != 's' {
		return false
	}
	nanos := int64(0)
	if frac := raw[digits : len(raw)-1]; len(frac) > 0 {
		if frac[0] != '.' || len(frac) > len(".999999999") {
			return false
		}
		for i := 1; i < len(".999999999"); i++ {
			nanos *= 10
			if i < len(frac) {
				if frac[i] < '0' || frac[i] > '9' {
					return false
				}
				nanos += int64(frac[i] - '0')
			}
		}
	}
	*to = &durationpb.Duration{Seconds: secs, Nanos: int32(nanos)}
	return true
}
