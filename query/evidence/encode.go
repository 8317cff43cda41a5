package evidence

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// AppendJSON appends what package encoding/json makes of the answer, without escaping for
// HTML. An answer is written for each question, and its parts are measured before;
// decision 48 has what libraries take for that.
func (r Response) AppendJSON(b []byte) []byte {
	e := encoder{b: b}
	e.response(&r)
	return e.b
}

// encoder writes JSON as package encoding/json does.
type encoder struct {
	b []byte
	// html says that what means something in HTML is escaped, as by json.Marshal.
	html bool
}

func (e *encoder) response(r *Response) {
	e.open('{')
	e.text("query_status", r.Status)
	e.some("hint", r.Hint)
	array(e, "objects", r.Objects, e.object)
	array(e, "edges", r.Edges, e.edge)
	array(e, "provenance", r.Provenance, e.event)
	array(e, "versions", r.Versions, e.version)
	e.some("context", r.Context)
	e.count("tokens", r.Tokens)
	if l := r.Left; l != nil {
		e.name("left_out")
		e.open('{')
		e.count("objects", l.Objects)
		e.count("edges", l.Edges)
		e.count("provenance", l.Provenance)
		e.count("versions", l.Versions)
		e.count("texts", l.Texts)
		e.close('}')
	}
	array(e, "applied_filters", r.AppliedFilters, e.filter)
	array(e, "proof_trace", r.Proof, e.step)
	e.text("watermark", r.Watermark.String())
	e.name("timing")
	e.open('{')
	e.integer("total_us", r.Timing.TotalUS)
	if len(r.Timing.Steps) > 0 {
		array(e, "steps", r.Timing.Steps, func(s *query.StepTiming) {
			e.open('{')
			e.text("operator", s.Operator)
			e.integer("us", s.US)
			e.close('}')
		})
	}
	e.close('}')
	e.close('}')
}

func (e *encoder) object(o *Object) {
	e.open('{')
	e.text("id", o.ID)
	e.some("kind", o.Kind)
	e.some("role", o.Role)
	e.some("event_id", o.EventID)
	e.some("position", o.Position)
	e.text("type", o.Type)
	e.some("memory", o.Memory)
	e.some("tenant", o.Tenant)
	e.some("workspace", o.Workspace)
	e.some("agent", o.Agent)
	e.some("session", o.Session)
	e.time("time", o.Time)
	e.some("title", o.Title)
	e.some("snippet", o.Snippet)
	e.some("text", o.Text)
	if o.Score != 0 {
		e.number("score", o.Score)
	}
	if len(o.Scores) > 0 {
		array(e, "scores", o.Scores, func(s *query.PathScore) {
			e.open('{')
			e.text("path", s.Path)
			e.integer("rank", int64(s.Rank))
			e.number("score", s.Score)
			e.close('}')
		})
	}
	if s := o.Standing; s != nil {
		e.name("standing")
		e.open('{')
		e.number("age", s.Age)
		e.number("importance", s.Importance)
		e.number("use", s.Use)
		e.number("holds", s.Holds)
		e.close('}')
	}
	if c := o.Claim; c != nil {
		e.name("claim")
		e.open('{')
		e.text("subject", c.Subject)
		e.text("predicate", c.Predicate)
		e.text("value", c.Value)
		if c.Confidence != 0 {
			e.number("confidence", c.Confidence)
		}
		e.close('}')
	}
	if o.ExitCode != nil {
		e.integer("exit_code", int64(*o.ExitCode))
	}
	e.flag("failed", o.Failed)
	e.some("visibility", o.Visibility)
	e.time("valid_from", o.ValidFrom)
	e.time("valid_until", o.ValidUntil)
	e.flag("removed", o.Removed)
	if s := o.Support; s != nil {
		e.name("support")
		e.open('{')
		e.integer("count", int64(s.Count))
		e.count("agents", s.Agents)
		e.texts("positions", s.Positions)
		e.close('}')
	}
	e.count("used", o.Used)
	if o.SupersededBy != nil {
		e.name("superseded_by")
		e.link(o.SupersededBy)
	}
	if len(o.Contradicted) > 0 {
		array(e, "contradicted", o.Contradicted, e.link)
	}
	if c := o.Chain; c != nil {
		e.name("chain")
		e.open('{')
		e.integer("length", int64(c.Length))
		e.name("complete")
		e.b = strconv.AppendBool(e.b, c.Complete)
		e.texts("roots", c.Roots)
		e.texts("dangling", c.Dangling)
		e.flag("cut", c.Cut)
		e.flag("cyclic", c.Cyclic)
		e.close('}')
	}
	e.close('}')
}

func (e *encoder) link(l *Link) {
	e.open('{')
	e.some("id", l.ID)
	e.text("rule", l.Rule)
	e.number("confidence", l.Confidence)
	e.some("value", l.Value)
	e.some("agent", l.Agent)
	e.time("time", l.Time)
	array(e, "evidence", l.Evidence, e.element)
	e.close('}')
}

func (e *encoder) edge(x *Edge) {
	e.open('{')
	e.text("from", x.From)
	e.text("to", x.To)
	e.text("kind", x.Kind)
	e.number("confidence", x.Confidence)
	e.text("rule", x.Rule)
	e.some("from_version", x.FromVersion)
	e.some("to_version", x.ToVersion)
	e.flag("dangling", x.Dangling)
	e.texts("evidence", x.Evidence)
	e.close('}')
}

func (e *encoder) event(x *Event) {
	e.open('{')
	e.text("id", x.ID)
	e.text("position", x.Position)
	e.text("type", x.Type)
	e.text("object", x.Object)
	e.some("title", x.Title)
	e.some("agent", x.Agent)
	e.some("session", x.Session)
	e.time("time", x.Time)
	e.close('}')
}

func (e *encoder) version(v *Version) {
	e.open('{')
	e.text("object", v.Object)
	e.integer("number", int64(v.Number))
	e.text("event_id", v.EventID)
	e.text("position", v.Position)
	e.time("time", v.Time)
	e.some("title", v.Title)
	e.flag("removed", v.Removed)
	e.close('}')
}

func (e *encoder) filter(f *query.AppliedFilter) {
	e.open('{')
	e.text("field", f.Field)
	e.text("op", f.Op)
	e.text("value", f.Value)
	e.close('}')
}

func (e *encoder) step(s *Step) {
	e.open('{')
	e.some("path", s.Path)
	e.text("operator", s.Operator)
	e.some("why", s.Why)
	if len(s.Inputs) > 0 {
		object(e, "inputs", s.Inputs, e.quote)
	}
	if len(s.Counts) > 0 {
		object(e, "counts", s.Counts, func(n int64) { e.b = strconv.AppendInt(e.b, n, 10) })
	}
	if len(s.Hits) > 0 {
		array(e, "hits", s.Hits, func(h *query.Evidence) {
			e.open('{')
			e.name("position")
			e.position(h.Position)
			e.count("rank", h.Rank)
			if h.Score != 0 {
				e.number("score", h.Score)
			}
			e.close('}')
		})
	}
	e.close('}')
}

func (e *encoder) position(p schemas.Position) {
	e.open('{')
	e.text("topic", p.Topic)
	e.integer("partition", int64(p.Partition))
	e.integer("offset", p.Offset)
	e.close('}')
}

// open begins an object or an array, close ends it.
func (e *encoder) open(c byte)  { e.b = append(e.b, c) }
func (e *encoder) close(c byte) { e.b = append(e.b, c) }

// next separates what follows from what is there of an object or an array.
func (e *encoder) next() {
	if c := e.b[len(e.b)-1]; c != '{' && c != '[' {
		e.b = append(e.b, ',')
	}
}

// name begins a member. Names are plain.
func (e *encoder) name(name string) {
	e.next()
	e.b = append(append(append(e.b, '"'), name...), `":`...)
}

func (e *encoder) text(name, value string) {
	e.name(name)
	e.quote(value)
}

// some is a text that is left out where it is empty; so are a count, a flag, texts and a
// time.
func (e *encoder) some(name, value string) {
	if value != "" {
		e.text(name, value)
	}
}

func (e *encoder) count(name string, n int) {
	if n != 0 {
		e.integer(name, int64(n))
	}
}

func (e *encoder) flag(name string, is bool) {
	if is {
		e.name(name)
		e.b = append(e.b, "true"...)
	}
}

func (e *encoder) texts(name string, all []string) {
	if len(all) > 0 {
		array(e, name, all, e.element)
	}
}

func (e *encoder) time(name string, t time.Time) {
	if !t.IsZero() {
		e.name(name)
		e.b = append(t.AppendFormat(append(e.b, '"'), time.RFC3339Nano), '"')
	}
}

func (e *encoder) element(s *string) { e.quote(*s) }

func (e *encoder) integer(name string, n int64) {
	e.name(name)
	e.b = strconv.AppendInt(e.b, n, 10)
}

// number is a finite number.
func (e *encoder) number(name string, x float64) {
	e.name(name)
	if size := math.Abs(x); size == 0 || size >= 1e-6 && size < 1e21 {
		e.b = strconv.AppendFloat(e.b, x, 'f', -1, 64)
		return
	}
	e.b = strconv.AppendFloat(e.b, x, 'e', -1, 64)
	if n := len(e.b); e.b[n-4] == 'e' && e.b[n-3] == '-' && e.b[n-2] == '0' { // e-09 is e-9
		e.b = append(e.b[:n-2], e.b[n-1])
	}
}

// array is a member that is a list, whose elements each writes.
func array[T any](e *encoder, name string, all []T, each func(*T)) {
	e.name(name)
	if all == nil {
		e.b = append(e.b, "null"...)
		return
	}
	e.open('[')
	for i := range all {
		e.next()
		each(&all[i])
	}
	e.close(']')
}

// object is a member that has members of its own, in the order of their names.
func object[T any](e *encoder, name string, all map[string]T, each func(T)) {
	var room [16]string
	names := slices.AppendSeq(room[:0], maps.Keys(all))
	slices.Sort(names)
	e.name(name)
	e.open('{')
	for _, name := range names {
		e.next()
		e.quote(name)
		e.b = append(e.b, ':')
		each(all[name])
	}
	e.close('}')
}

const hexDigits = "0123456789abcdef"

// plain are the signs of ASCII that stand for themselves in a text, for HTML as well.
var plain = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return is
}()

// quote writes a text.
func (e *encoder) quote(s string) {
	b := append(e.b, '"')
	from := 0 // what stands before it is written
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			i++
			if !e.html && (c == '<' || c == '>' || c == '&') {
				continue
			}
			b = append(b, s[from:i-1]...)
			from = i
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, `\b`...)
			case '\f':
				b = append(b, `\f`...)
			case '\n':
				b = append(b, `\n`...)
			case '\r':
				b = append(b, `\r`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + n
		case r == '\u2028' || r == '\u2029': // JavaScript ends a line there
			b = append(append(b, s[from:i]...), '\\', 'u', '2', '0', '2', hexDigits[r&0xf])
			from = i + n
		}
		i += n
	}
	e.b = append(append(b, s[from:]...), '"')
}
