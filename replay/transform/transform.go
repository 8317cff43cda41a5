// Package transform maps a command to another place: other directories, another user and home,
// other hosts, ports, branches, containers and images, other values.
//
// A mapping is applied to the words of the syntax tree, inside quotes and across them, and never to
// the text: /home/ann/app is replaced in --prefix="/home/ann/app"/out and in PATH=/bin:/home/ann/app,
// and not in /home/ann/application or /backup/home/ann/app. Of the mappings that fit in one place
// the longest is applied, and nothing is mapped twice. What a mapping may not have reached is said
// (replay.Ask), not guessed.
package transform

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
)

// Kinds of mappings.
const (
	Path      = "path"
	User      = "user"
	Host      = "host"
	Port      = "port"
	Branch    = "branch"
	Container = "container"
	Image     = "image"
	value     = "value" // of a parameter
)

// Map holds mappings, the longest first. It counts their uses, so it is used by one goroutine.
type Map struct {
	all []replay.Mapping
	// home is the home directory of whoever will run the steps, "" if that is what the mappings
	// make of the recorded one.
	home string
}

// Parse reads mappings: FROM=TO for paths, KIND:FROM=TO for others. home is the home directory of
// whoever will run the steps, or "". The error is a *query.RequestError.
func Parse(specs []string, home string) (*Map, error) {
	m := &Map{home: home}
	for _, s := range specs {
		bad := func(format string, args ...any) error {
			return &query.RequestError{Field: "map", Value: fmt.Sprintf("%q", s), Reason: fmt.Sprintf(format, args...)}
		}
		from, to, ok := strings.Cut(s, "=")
		if !ok || from == "" || to == "" {
			return nil, bad("want FROM=TO, such as /home/ann/app=/home/bob/app or port:8080=9090")
		}
		kind := Path
		if k, rest, has := strings.Cut(from, ":"); has && !strings.HasPrefix(from, "/") && !strings.HasPrefix(from, "~") {
			kind, from = k, rest
		}
		switch kind {
		case Path:
			if !path.IsAbs(from) || !path.IsAbs(to) {
				return nil, bad("want absolute paths on both sides, or a kind: user, host, port, branch, container or image")
			}
			from, to = path.Clean(from), path.Clean(to)
			switch {
			case from == "/":
				return nil, bad("/ cannot be mapped; map the directories that the commands use")
			case from == to:
				return nil, bad("it maps a path to itself; leave it out")
			case strings.HasPrefix(to, from+"/"):
				return nil, bad("it points into itself: what is mapped to %s would be below %s again; map to a directory outside it", to, from)
			}
		case User, Host, Port, Branch, Container, Image:
			if from == to {
				return nil, bad("it maps a name to itself; leave it out")
			}
			if kind == Port && strings.Trim(from+to, "0123456789") != "" {
				return nil, bad("want numbers on both sides")
			}
		default:
			return nil, bad("unknown kind %q: want user, host, port, branch, container or image, or nothing before a path", kind)
		}
		for _, o := range m.all {
			if o.Kind == kind && o.From == from {
				return nil, bad("%s %s is mapped twice, to %s too", kind, from, o.To)
			}
		}
		m.all = append(m.all, replay.Mapping{Kind: kind, From: from, To: to})
	}
	m.sort()
	return m, nil
}

// Set adds the replacement of a value.
func (m *Map) Set(from, to string) {
	m.all = append(m.all, replay.Mapping{Kind: value, From: from, To: to})
	m.sort()
}

func (m *Map) sort() {
	slices.SortFunc(m.all, func(a, b replay.Mapping) int {
		return cmp.Or(cmp.Compare(len(b.From), len(a.From)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From))
	})
}

// Uses returns the mappings with the number of places they were applied to.
func (m *Map) Uses() []replay.Mapping {
	var out []replay.Mapping
	for _, o := range m.all {
		if o.Kind != value {
			out = append(out, o)
		}
	}
	return out
}

// Path maps a path.
func (m *Map) Path(p string) string {
	if o := m.over(p); o != nil {
		return o.To + p[len(o.From):]
	}
	return p
}

// Directory maps the directory that a command runs in, and counts that as a place.
func (m *Map) Directory(p string) string {
	if o := m.over(p); o != nil {
		o.Uses++
	}
	return m.Path(p)
}

// over returns the mapping of the longest path that a path is at or below, nil if there is none.
func (m *Map) over(p string) *replay.Mapping {
	for i := range m.all {
		if o := &m.all[i]; o.Kind == Path && (p == o.From || strings.HasPrefix(p, o.From+"/")) {
			return o
		}
	}
	return nil
}

// Name maps a name of a kind.
func (m *Map) Name(kind, name string) string {
	for i := range m.all {
		if o := &m.all[i]; o.Kind == kind && o.From == name {
			return o.To
		}
	}
	return name
}

// Text maps the paths and set values in a text that is no command, such as the value of a variable.
func (m *Map) Text(s string) string {
	hits := m.hits(s)
	var b strings.Builder
	at := 0
	for _, h := range hits {
		b.WriteString(s[at:h.from])
		b.WriteString(h.to)
		at = h.until
	}
	return b.String() + s[at:]
}

// newHome returns the home directory of whoever will run the steps.
func (m *Map) newHome(recorded string) string {
	if m.home != "" || recorded == "" {
		return m.home
	}
	return m.Path(recorded)
}

// hit is a place in a value that is replaced.
type hit struct {
	from, until int
	to          string
	mapping     int
}

// hits returns where paths and set values stand in a value, in order.
func (m *Map) hits(v string) []hit {
	var out []hit
	for i := range m.all {
		o := &m.all[i]
		if o.Kind != Path && o.Kind != value {
			continue
		}
		for at := 0; ; {
			n := strings.Index(v[at:], o.From)
			if n < 0 {
				break
			}
			from := at + n
			until := from + len(o.From)
			at = from + 1
			fits := o.Kind == Path && opens(v, from) && closes(v, until) || o.Kind == value && alone(v, from, until)
			if fits && !slices.ContainsFunc(out, func(h hit) bool { return from < h.until && h.from < until }) {
				out = append(out, hit{from, until, o.To, i})
			}
		}
	}
	slices.SortFunc(out, func(a, b hit) int { return cmp.Compare(a.from, b.from) })
	return out
}

// opens reports whether a path can begin at a place of a value: at its start, after what separates
// words and paths, after the letter of a flag (-I/usr), after file://.
func opens(v string, at int) bool {
	if at == 0 {
		return true
	}
	if strings.IndexByte("=:,@\"' \t\n(<>|;&[{#!%`", v[at-1]) >= 0 {
		return true
	}
	if at >= 3 && v[at-3:at] == "://" {
		return true
	}
	return at == 2 && v[0] == '-' && v[1] != '-'
}

// closes reports whether a path can end at a place of a value.
func closes(v string, at int) bool {
	return at == len(v) || strings.IndexByte("/:,;\"' \t\n)]}<>|&=#!%`$*?[", v[at]) >= 0 && v[at] != '$' && v[at] != '*' && v[at] != '?' && v[at] != '['
}

// alone reports whether a value is not a part of a longer word or number.
func alone(v string, from, until int) bool {
	part := func(i int) bool {
		if i < 0 || i >= len(v) {
			return false
		}
		c := v[i]
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if part(from-1) && !(v[from-1] == 'v' && !part(from-2)) || part(until) {
		return false
	}
	digit := func(i int) bool { return i >= 0 && i < len(v) && v[i] >= '0' && v[i] <= '9' }
	return !(digit(until-1) && until < len(v) && v[until] == '.' && digit(until+1)) && !(digit(from) && from > 0 && v[from-1] == '.' && digit(from-2))
}
