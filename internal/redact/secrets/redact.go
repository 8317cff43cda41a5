// Package secrets takes secrets out of text. It is the core of package redact, which
// applies it to payloads, and a package of its own so that a small program can use it:
// it imports nothing of ours and no protobuf, and is ready in half a millisecond.
//
// A secret becomes [redacted:<kind>], so that a reader still sees that something
// stood there and what it was. There are five sources of rules:
//
//   - tokens.go: forms that say by themselves what they are;
//   - places.go: URLs, headers, keys in PEM, SQL;
//   - names.go: what is assigned to a name that holds secrets, and flags of such names;
//   - programs.go: arguments of programs, read as the shell reads words (commands.go);
//   - entropy.go: values of high entropy that something is assigned.
//
// A deployment adds its own in a file (config.go).
//
// A caller may rely on this:
//
//   - Redacting twice is redacting once.
//   - The time is linear in the text, whatever the text: one pass over it finds where
//     rules may match, and what reads on from there remembers how far it has read.
//   - A reference is no secret and stays: $TOKEN, $(pass show x), <token>.
//   - No finding holds what was taken out.
//
// It errs on the side of taking out: a false alarm costs a word of a command, a
// miss stays for ever. It is a net and not a wall; docs say so too.
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
	// Name is what stands in [redacted:<name>]: lower-case letters, digits and
	// hyphens.
	Name string `json:"name" yaml:"name"`
	// Pattern is an RE2 regular expression.
	Pattern string `json:"pattern" yaml:"pattern"`
	// Group is the capture group that holds the secret. Zero means the first
	// group that took part in the match, or the whole match where the pattern
	// has no groups.
	Group int `json:"group,omitempty" yaml:"group,omitempty"`
	// Literals are texts of which one must occur, in any case of letters, for
	// the pattern to be tried. Empty: the pattern's literal prefix, if it has
	// one; a pattern without either is tried on every text.
	Literals []string `json:"literals,omitempty" yaml:"literals,omitempty"`
}

// Options configure a Redactor.
type Options struct {
	// Extra rules are tried before the built-in ones: where both match, the
	// extra rule's name is the one that is written.
	Extra []Rule
}

// Finding says that something was taken out.
type Finding struct {
	// Name is the rule's.
	Name string `json:"name"`
	// Bytes is the length of what was taken out.
	Bytes int `json:"bytes"`
	// Line is where it began, from 1 on, in the content of a file; else 0.
	Line int `json:"line,omitempty"`
}

// Redactor takes secrets out of text. It is safe for concurrent use.
type Redactor struct {
	formats  []format
	specs    []*lazySpec
	programs map[string][]int // by name, in specs
	triggers triggers
	extra    []extra
	always   []int // of extra, those without literals
}

// extra is a Rule ready to be used.
type extra struct {
	name  string
	re    *regexp.Regexp
	group int
}

const nameOK = `^[a-z0-9][a-z0-9-]{0,39}$`

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(nameOK) })

// New has the built-in rules and the extra ones. An error names the rule.
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

// program makes a program's name known; a very short one with the blank behind it.
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
		panic(err) // without extra rules there is nothing to be wrong
	}
	return r
})

// Default has the built-in rules.
func Default() *Redactor { return std() }

// maxPasses bounds how often a text is looked at. What one pass puts in may
// complete a match of another rule: the second pass settles that, and no text
// found by hand or by fuzzing has needed a fifth to change anything.
const maxPasses = 8

// Text returns s with its secrets replaced, and what was found.
func (r *Redactor) Text(s string) (string, []Finding) {
	out, found, _ := r.TextContext(context.Background(), s)
	return out, found
}

// TextContext is Text, given up when the context ends: the error is then the context's.
func (r *Redactor) TextContext(ctx context.Context, s string) (string, []Finding, error) {
	return r.redact(ctx, s, texts)
}

// Command is Text for a command line, which may also be one line of a key that somebody
// pastes at a prompt.
func (r *Redactor) Command(line string) (string, []Finding) {
	out, found, _ := r.CommandContext(context.Background(), line)
	return out, found
}

// CommandContext is Command, given up when the context ends: the error is then the context's.
func (r *Redactor) CommandContext(ctx context.Context, line string) (string, []Finding, error) {
	return r.redact(ctx, line, commands)
}

// File is Text for the content of a file under version control: only formats that say by
// themselves what they are, for a file is read by programs and a false alarm would change
// what it declares. A secret of several lines leaves as many, so that what follows keeps
// its place.
func (r *Redactor) File(content string) (string, []Finding) {
	out, found, _ := r.redact(context.Background(), content, files)
	return out, found
}

// what a text is says which rules hold.
type what uint8

const (
	texts what = iota
	commands
	files // formats alone
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

// span is a part of the text that is secret. Of spans that overlap, the name of the lowest
// rank holds.
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

// extra looks for a deployment's rule in all of the text, once.
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

// pick is the part of a match that is secret.
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

// merge unites spans that overlap each other or a placeholder, and drops those
// that hold nothing but placeholders: that is what makes redacting idempotent.
// The lowest rank names the union.
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

// Placeholder is what stands in the text for a secret of that name.
func Placeholder(name string) string { return "[redacted:" + name + "]" }

// placeholders are the places where Placeholder stands.
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
		for end < len(s) && end-at < 40 && (is(s[end], lowerNum) || s[end] == '-' && end > at) {
			end++
		}
		if end > at && end < len(s) && s[end] == ']' {
			out = append(out, span{start: start, end: end + 1})
			at = end + 1
		}
	}
}

// Whole says that s is one placeholder and nothing else.
func Whole(s string) bool {
	held := placeholders(s)
	return len(held) == 1 && held[0].end-held[0].start == len(s)
}

// Named redacts the value of a variable: where the name says that it holds a secret,
// the whole of it.
func (r *Redactor) Named(name, val string) (string, []Finding) {
	out, found, _ := r.NamedContext(context.Background(), name, val)
	return out, found
}

// NamedContext is Named, given up when the context ends: the error is then the context's.
func (r *Redactor) NamedContext(ctx context.Context, name, val string) (string, []Finding, error) {
	if secretName(name) && Value(val) {
		if Whole(val) {
			return val, nil, nil
		}
		return Placeholder("secret"), []Finding{{Name: "secret", Bytes: len(val)}}, nil
	}
	for i := range len(name) {
		if !is(name[i], dotted) {
			return r.TextContext(ctx, val) // a subject in words, not a name
		}
	}
	out, found, err := r.TextContext(ctx, name+"="+val)
	return strings.TrimPrefix(out, name+"="), found, err
}

// secretName reports whether a variable or a field holds a secret by its name.
func secretName(name string) bool {
	k := kindOf(name)
	return k == aPassword || k == aSecret
}

// Value accepts a value where the name beside it says that it is a secret, unless it is
// a reference, or the path of a file that holds the secret.
func Value(v string) bool { return secretNotPath(v) }
