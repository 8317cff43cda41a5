// Package secrets removes secrets from text. It is the core of package redact, which applies it to
// payloads. It is separate so that a small program can use it: it imports no other package of the
// module and no protobuf, and is ready in half a millisecond.
//
// A secret becomes [redacted:<kind>], so that a reader still sees that something was there, and of
// which kind. There are five sources of rules:
//
//   - tokens.go: forms that can be recognised by themselves;
//   - places.go: URLs, headers, keys in PEM, SQL;
//   - names.go: values assigned to names that hold secrets, and flags with such names;
//   - programs.go: arguments of programs, split like the shell does (commands.go);
//   - entropy.go: assigned values of high entropy.
//
// A deployment adds its own rules in a file (config.go).
//
// A caller may rely on these properties:
//
//   - Redacting twice gives the same result as redacting once.
//   - The time is linear in the length of the text, for every text: one pass finds where
//     rules may match, and what reads ahead from there records how far it has read.
//   - A reference is not a secret and is kept: $TOKEN, $(pass show x), <token>.
//   - No finding contains the removed text.
//
// In case of doubt text is removed: a false alarm costs a word of a command, a miss stays for ever.
// No set of rules finds every secret; the documentation says so, too.
package secrets

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule describes one kind of secret.
type Rule struct {
	// Name is the kind in [redacted:<name>]: lower-case letters, digits and hyphens.
	Name string `json:"name" yaml:"name"`
	// Pattern is an RE2 regular expression.
	Pattern string `json:"pattern" yaml:"pattern"`
	// Group is the capture group that holds the secret. Zero means the first group that took part
	// in the match, or the whole match if the pattern has no groups.
	Group int `json:"group,omitempty" yaml:"group,omitempty"`
	// Literals are texts, one of which must occur, in any case, before the pattern is tried. If
	// empty, the pattern's literal prefix is used; a pattern without one is tried on every text.
	Literals []string `json:"literals,omitempty" yaml:"literals,omitempty"`
}

// Options configure a Redactor.
type Options struct {
	// Extra rules are tried before the built-in ones: if both match, the extra rule's name is used.
	Extra []Rule
}

// Finding reports one removed secret.
type Finding struct {
	// Name is the name of the rule.
	Name string `json:"name"`
	// Bytes is the length of the removed text.
	Bytes int `json:"bytes"`
	// Line is the line where it began, from 1, in the content of a file; otherwise 0.
	Line int `json:"line,omitempty"`
}

// Redactor removes secrets from text. It is safe for concurrent use.
type Redactor struct {
	formats  []format
	specs    []*lazySpec
	programs map[string][]int // by name, indexes into specs
	triggers triggers
	extra    []extra
	always   []int // indexes of the extra rules without literals
}

// extra is a compiled Rule.
type extra struct {
	name  string
	re    *regexp.Regexp
	group int
}

const nameOK = `^[a-z0-9][a-z0-9-]{0,39}$`

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(nameOK) })

// New returns a Redactor with the built-in rules and the extra ones. An error names the rule.
func New(o Options) (*Redactor, error) {
	r := &Redactor{programs: map[string][]int{}}
	for i, x := range o.Extra {
		if !nameRE().MatchString(x.Name) {
			return nil, fmt.Errorf("redaction rule %q: the name must match %s", x.Name, nameOK)
		}
		re, err := regexp.Compile(x.Pattern)
		if err != nil {
			return nil, fmt.Errorf("redaction rule %q: pattern: %w", x.Name, err)
		}
		if x.Group < 0 || x.Group > re.NumSubexp() {
			return nil, fmt.Errorf("redaction rule %q: group %d: the pattern has %d", x.Name, x.Group, re.NumSubexp())
		}
		literals := x.Literals
		if prefix, _ := re.LiteralPrefix(); len(literals) == 0 && prefix != "" {
			literals = []string{prefix}
		}
		r.extra = append(r.extra, extra{x.Name, re, x.Group})
		if len(literals) == 0 || slices.ContainsFunc(literals, func(l string) bool { return len(l) < 3 }) {
			r.always = append(r.always, i)
			continue
		}
		for _, l := range literals {
			r.triggers.add(strings.ToLower(l), onExtra, i)
		}
	}
	for i, f := range formatsOnce() {
		r.triggers.add(strings.ToLower(f.parts[f.anchor].text), onFormat, i)
	}
	r.formats = formatsOnce()
	for i, p := range places {
		for _, l := range p.literals {
			r.triggers.add(l, onPlace, i)
		}
	}
	for _, l := range nameTriggers {
		r.triggers.add(l, onName, 0)
	}
	for i, line := range programs {
		r.specs = append(r.specs, &lazySpec{line: line})
		for _, name := range programNames(line) {
			if r.programs[name] == nil {
				r.program(name)
			}
			r.programs[name] = append(r.programs[name], i)
		}
	}
	for _, name := range []string{"echo", "printf"} {
		r.program(name)
		r.programs[name] = []int{}
	}
	return r, nil
}

// program registers a program's name; a very short one is registered with the space after it.
func (r *Redactor) program(name string) {
	if len(name) < 3 {
		name += " "
	}
	r.triggers.add(name, onProgram, 0)
}

var formatsOnce = sync.OnceValue(formats)

var std = sync.OnceValue(func() *Redactor {
	r, err := New(Options{})
	if err != nil {
		panic(err) // without extra rules New does not fail
	}
	return r
})

// Default returns the Redactor with the built-in rules.
func Default() *Redactor { return std() }

// maxPasses limits the passes over a text. A placeholder from one pass may complete a match of
// another rule, which the second pass handles. No text found by hand or by fuzzing changed in a
// fifth pass.
const maxPasses = 8

// Text returns s with its secrets replaced, and what was found.
func (r *Redactor) Text(s string) (string, []Finding) {
	out, found, _ := r.TextContext(context.Background(), s)
	return out, found
}

// TextContext is like Text, but stops when the context ends and then returns the context's error.
func (r *Redactor) TextContext(ctx context.Context, s string) (string, []Finding, error) {
	return r.redact(ctx, s, texts)
}

// Command is like Text for a command line, which may also be a line of a key that was pasted at a
// prompt.
func (r *Redactor) Command(line string) (string, []Finding) {
	out, found, _ := r.CommandContext(context.Background(), line)
	return out, found
}

// CommandContext is like Command, but stops when the context ends and then returns the context's
// error.
func (r *Redactor) CommandContext(ctx context.Context, line string) (string, []Finding, error) {
	return r.redact(ctx, line, commands)
}

// File is like Text for the content of a file under version control. It uses only formats that can
// be recognised by themselves, because programs read the file and a false alarm would change its
// meaning. A secret of several lines leaves the same number of lines, so that the lines after it
// keep their numbers.
func (r *Redactor) File(content string) (string, []Finding) {
	out, found, _ := r.redact(context.Background(), content, files)
	return out, found
}

// what is the type of a text, which decides which rules apply.
type what uint8

const (
	texts what = iota
	commands
	files // only formats
)

func (r *Redactor) redact(ctx context.Context, s string, of what) (string, []Finding, error) {
	if len(r.always) == 0 && !r.triggers.any(s) && (of == files || strings.IndexByte(s, '=') < 0 && (of != commands || !keyLines(s))) {
		return s, nil, nil
	}
	var found []Finding
	for range maxPasses {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		out, fs, err := r.pass(ctx, s, of)
		if err != nil {
			return "", nil, err
		}
		if len(fs) == 0 {
			break
		}
		found = append(found, fs...)
		s = out
	}
	return s, found, nil
}

// span is a secret part of the text. If spans overlap, the name of the lowest rank is used.
type span struct {
	start, end, rank int
	name             string
}

func (r *Redactor) pass(ctx context.Context, s string, of what) (string, []Finding, error) {
	t := unused.Get().(*text)
	*t = text{r: r, s: s, values: of != files, spans: t.spans[:0]}
	defer t.free()
	if of == commands && keyLines(s) {
		start := len(s) - len(strings.TrimLeft(s, " \t\r\n"))
		t.found(start, start+len(strings.TrimSpace(s)), "private-key", rankPlace)
	}
	for _, i := range r.always {
		t.extra(&r.extra[i], i)
	}
	t.sweep(ctx)
	if t.err != nil {
		return "", nil, t.err
	}
	if of != files {
		findEntropy(s, func(start, end int) { t.found(start, end, "high-entropy", rankEntropy) })
	}
	if len(t.spans) == 0 {
		return s, nil, nil
	}
	spans := merge(t.spans, placeholders(s))
	if len(spans) == 0 {
		return s, nil, nil
	}

	var b strings.Builder
	var found []Finding
	at, line := 0, 1
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(Placeholder(sp.name))
		f := Finding{Name: sp.name, Bytes: sp.end - sp.start}
		if of == files {
			line += strings.Count(s[at:sp.start], "\n")
			f.Line = line
			lines := strings.Count(s[sp.start:sp.end], "\n")
			b.WriteString(strings.Repeat("\n", lines))
			line += lines
		}
		found = append(found, f)
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String(), found, nil
}

// extra searches the whole text for a deployment's rule, once.
func (t *text) extra(e *extra, i int) {
	if t.tried == nil {
		t.tried = map[int]bool{}
	}
	if t.tried[i] {
		return
	}
	t.tried[i] = true
	for _, m := range e.re.FindAllStringSubmatchIndex(t.s, -1) {
		if start, end := pick(m, e.group); start >= 0 {
			t.found(start, end, e.name, rankExtra+i)
		}
	}
}

// pick returns the range of a match that is secret.
func pick(m []int, group int) (start, end int) {
	if group > 0 {
		return m[2*group], m[2*group+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// merge unites spans that overlap each other or a placeholder, and drops those that contain only
// placeholders, which makes redacting idempotent. The lowest rank names the union.
func merge(spans, held []span) []span {
	for i := range held {
		held[i].rank = -1
	}
	all := append(spans, held...)
	slices.SortFunc(all, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var out []span
	for i := 0; i < len(all); {
		u := span{all[i].start, all[i].end, -1, ""}
		covered := 0 // bytes of the union that are placeholders
		for ; i < len(all) && (all[i].start < u.end || all[i].start == u.start); i++ {
			u.end = max(u.end, all[i].end)
			if all[i].rank < 0 {
				covered += all[i].end - all[i].start
			} else if u.rank < 0 || all[i].rank < u.rank {
				u.rank, u.name = all[i].rank, all[i].name
			}
		}
		if u.rank >= 0 && covered < u.end-u.start {
			out = append(out, u)
		}
	}
	return out
}

// Placeholder returns the text that replaces a secret of that kind.
func Placeholder(name string) string { return "[redacted:" + name + "]" }

// placeholders returns the ranges of the placeholders in s.
func placeholders(s string) []span {
	const open = "[redacted:"
	var out []span
	for at := 0; ; {
		i := strings.Index(s[at:], open)
		if i < 0 {
			return out
		}
		start := at + i
		at = start + len(open)
		end := at
		for end < len(s) && end-at < 40 && (inClass(s[end], lowerNum) || s[end] == '-' && end > at) {
			end++
		}
		if end > at && end < len(s) && s[end] == ']' {
			out = append(out, span{start: start, end: end + 1})
			at = end + 1
		}
	}
}

// Whole reports whether s is exactly one placeholder.
func Whole(s string) bool {
	held := placeholders(s)
	return len(held) == 1 && held[0].end-held[0].start == len(s)
}

// NamedContext redacts the value of a variable. If the name indicates a secret, the whole value is
// replaced. It stops when the context ends and then returns the context's error.
func (r *Redactor) NamedContext(ctx context.Context, name, val string) (string, []Finding, error) {
	if secretName(name) && Value(val) {
		if Whole(val) {
			return val, nil, nil
		}
		return Placeholder("secret"), []Finding{{Name: "secret", Bytes: len(val)}}, nil
	}
	for i := range len(name) {
		if !inClass(name[i], dotted) {
			return r.TextContext(ctx, val) // the name is a subject in words
		}
	}
	out, found, err := r.TextContext(ctx, name+"="+val)
	return strings.TrimPrefix(out, name+"="), found, err
}

// secretName reports whether the name of a variable or a field indicates a secret.
func secretName(name string) bool {
	k := kindOf(name)
	return k == aPassword || k == aSecret
}

// Value reports whether a value whose name indicates a secret is one: it is not a reference, and
// not the path of a file that holds the secret.
func Value(v string) bool { return secretNotPath(v) }
