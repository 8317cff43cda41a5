// Package secrets takes secrets out of text. It is the core of package redact, which
// applies it to payloads, and a package of its own so that a small program can use it:
// it imports nothing of ours and no protobuf, and it compiles a rule's pattern when the
// first text is seen that the rule may match.
//
// A secret becomes [redacted:<kind>], so that a reader still sees that something
// stood there and what it was. There are three sources of rules: formats of
// well-known tokens (tokens.go), arguments and assignments that carry secrets by
// their place, such as --password X or PGPASSWORD=X (arguments.go), and values
// of high entropy that something is assigned (entropy.go). A deployment adds its
// own in a file (config.go).
//
// A caller may rely on this:
//
//   - Redacting twice is redacting once.
//   - The time is linear in the text, whatever the text: patterns are RE2 and
//     none looks further than its own match. One pass over the text finds which
//     rules can match at all, so that a usual command costs about a microsecond.
//   - A reference is no secret and stays: $TOKEN, $(pass show x), <token>.
//   - No finding holds what was taken out.
//
// It errs on the side of taking out: a false alarm costs a word of a command, a
// miss stays for ever. It is a net and not a wall; docs say so too.
package secrets

import (
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
}

// Redactor takes secrets out of text. It is safe for concurrent use.
type Redactor struct {
	rules    []rule
	always   []int // rules without literals
	literals *matcher
}

// rule is a Rule ready to be used.
type rule struct {
	name string
	// re is compiled at its first use; nil where find stands.
	re    func() *regexp.Regexp
	group int
	// also must occur too, where it is not empty.
	also string
	// accept decides about a match by its text; nil accepts all.
	accept func(secret string) bool
	// find replaces re for what no pattern says well.
	find func(s string, yield func(start, end int))
}

// builtin is a rule of the tables in this package.
type builtin struct {
	name     string
	literals []string
	also     string
	pattern  string
	accept   func(secret string) bool
}

const nameOK = `^[a-z0-9][a-z0-9-]{0,39}$`

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(nameOK) })

// New has the built-in rules and the extra ones. An error names the rule.
func New(o Options) (*Redactor, error) {
	r := &Redactor{}
	var lits [][]string
	for _, x := range o.Extra {
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
		ls := x.Literals
		if prefix, _ := re.LiteralPrefix(); len(ls) == 0 && prefix != "" {
			ls = []string{prefix}
		}
		r.rules = append(r.rules, rule{name: x.Name, re: func() *regexp.Regexp { return re }, group: x.Group})
		lits = append(lits, ls)
	}
	for _, table := range [][]builtin{tokens, arguments} {
		for _, b := range table {
			re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(b.pattern) })
			r.rules = append(r.rules, rule{name: b.name, re: re, also: b.also, accept: b.accept})
			lits = append(lits, b.literals)
		}
	}
	r.rules = append(r.rules, rule{name: "high-entropy", find: findEntropy})
	lits = append(lits, []string{"="})

	for i, ls := range lits {
		if len(ls) == 0 || slices.Contains(ls, "") {
			r.always = append(r.always, i)
			lits[i] = nil
		}
	}
	r.literals = newMatcher(lits)
	return r, nil
}

var std = sync.OnceValue(func() *Redactor {
	r, err := New(Options{})
	if err != nil {
		panic(err) // the tables of this package do not compile
	}
	return r
})

// Default has the built-in rules.
func Default() *Redactor { return std() }

// maxPasses bounds how often a text is looked at. What one pass puts in may
// complete a match of another rule: the second pass settles that, and no text
// found by hand or by fuzzing has needed a third to change anything.
const maxPasses = 8

// Text returns s with its secrets replaced, and what was found.
func (r *Redactor) Text(s string) (string, []Finding) {
	if len(r.always) == 0 && !r.literals.any(s) {
		return s, nil
	}
	var found []Finding
	for range maxPasses {
		out, fs := r.pass(s)
		if len(fs) == 0 {
			break
		}
		found = append(found, fs...)
		s = out
	}
	return s, found
}

// span is a part of the text that rule says is secret.
type span struct{ start, end, rule int }

func (r *Redactor) pass(s string) (string, []Finding) {
	var spans []span
	add := func(i int) {
		ru := &r.rules[i]
		if ru.also != "" && !strings.Contains(s, ru.also) {
			return
		}
		if ru.find != nil {
			ru.find(s, func(start, end int) { spans = append(spans, span{start, end, i}) })
			return
		}
		for _, m := range ru.re().FindAllStringSubmatchIndex(s, -1) {
			start, end := pick(m, ru.group)
			if start < end && (ru.accept == nil || ru.accept(s[start:end])) {
				spans = append(spans, span{start, end, i})
			}
		}
	}
	for _, i := range r.always {
		add(i)
	}
	r.literals.hits(s, add)
	if len(spans) == 0 {
		return s, nil
	}
	spans = merge(spans, placeholders(s))
	if len(spans) == 0 {
		return s, nil
	}

	var b strings.Builder
	var found []Finding
	at := 0
	for _, sp := range spans {
		name := r.rules[sp.rule].name
		b.WriteString(s[at:sp.start])
		b.WriteString(Placeholder(name))
		found = append(found, Finding{Name: name, Bytes: sp.end - sp.start})
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String(), found
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
// The rule that stands first in the tables names the union.
func merge(spans, held []span) []span {
	for i := range held {
		held[i].rule = -1
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
		u := span{all[i].start, all[i].end, -1}
		covered := 0 // bytes of the union that are placeholders
		for ; i < len(all) && (all[i].start < u.end || all[i].start == u.start); i++ {
			u.end = max(u.end, all[i].end)
			if all[i].rule < 0 {
				covered += all[i].end - all[i].start
			} else if u.rule < 0 || all[i].rule < u.rule {
				u.rule = all[i].rule
			}
		}
		if u.rule >= 0 && covered < u.end-u.start {
			out = append(out, u)
		}
	}
	return out
}

// Placeholder is what stands in the text for a secret of that name.
func Placeholder(name string) string { return "[redacted:" + name + "]" }

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[redacted:[a-z0-9][a-z0-9-]{0,39}\]`)
})

func placeholders(s string) []span {
	if !strings.Contains(s, "[redacted:") {
		return nil
	}
	var out []span
	for _, m := range placeholder().FindAllStringIndex(s, -1) {
		out = append(out, span{start: m[0], end: m[1]})
	}
	return out
}

// Whole says that s is one placeholder and nothing else.
func Whole(s string) bool {
	held := placeholders(s)
	return len(held) == 1 && held[0].end-held[0].start == len(s)
}

// Named redacts the value of a variable: where the name says that it holds a secret,
// the whole of it.
func (r *Redactor) Named(name, val string) (string, []Finding) {
	if secretEnv().MatchString(name) && Value(val) {
		if Whole(val) {
			return val, nil
		}
		return Placeholder("secret"), []Finding{{Name: "secret", Bytes: len(val)}}
	}
	out, found := r.Text(name + "=" + val)
	return strings.TrimPrefix(out, name+"="), found
}

// secretEnv matches names of environment variables whose whole value is secret,
// spaces and all.
var secretEnv = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + secretName + `$`) })

// Value accepts a value where the name beside it says that it is a secret, unless it is
// a reference, or the path of a file that holds the secret.
func Value(v string) bool { return secretNotPath(v) }
