package danger

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/replay/shell"
)

// value is one that a variable may have.
type value struct {
	text  string
	known bool
	glob  bool // it has a pattern that was not quoted
	array bool
	items []field // of an array
}

// field is a word as a program gets it: its text if that is known, else the parts of which it is made.
type field struct {
	text        string
	known, glob bool
	quoted      bool
	parts       []syntax.WordPart
	// written is the word as it stands in the line, if nothing in it was expanded.
	written *syntax.Word
}

func (f field) value() value { return value{text: f.text, known: f.known, glob: f.glob} }

// word returns a field as a word of a line.
func (f field) word() *syntax.Word {
	switch {
	case f.written != nil:
		return f.written
	case f.known:
		return literal(quoted(f.text, f.glob, f.quoted))
	}
	return &syntax.Word{Parts: f.parts}
}

func literal(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}

// quoted returns a text as a shell has to be given it. A pattern stays one.
func quoted(text string, glob, always bool) string {
	switch {
	case glob:
		var b strings.Builder
		for _, r := range text {
			if !strings.ContainsRune("*?[]{},~", r) && !plainText.MatchString(string(r)) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	case text != "" && (plainText.MatchString(text) || !always && plainText.MatchString(strings.TrimPrefix(text, "~/"))):
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// words returns fields as words.
func (u *unfolder) words(fields []field) (words []*syntax.Word) {
	for _, f := range fields {
		words = append(words, f.word())
	}
	return words
}

// fields expands words as a shell does.
func (u *unfolder) fields(words []*syntax.Word) (out []field) {
	for _, w := range words {
		copied := &syntax.Word{Parts: slices.Clone(w.Parts)}
		list := []*syntax.Word{w}
		if syntax.SplitBraces(copied); len(copied.Parts) != len(w.Parts) || slices.ContainsFunc(copied.Parts, func(p syntax.WordPart) bool { _, is := p.(*syntax.BraceExp); return is }) {
			if words := braces(copied); len(words) > 1 && len(words) <= maxRounds {
				list, u.changed = words, true
			}
		}
		for _, w := range list {
			out = append(out, u.split(w)...)
		}
	}
	return out
}

// braces returns what a word with braces stands for, one more than maxRounds at most.
func braces(w *syntax.Word) (words []*syntax.Word) {
	for word, err := range expand.BracesSeq(nil, w) {
		if words = append(words, word); err != nil || len(words) > maxRounds {
			break
		}
	}
	return words
}

// whole expands a word that is not split, as in an assignment.
func (u *unfolder) whole(w *syntax.Word) field {
	b := builder{u: u, whole: true}
	b.parts(w.Parts, false)
	return b.finish(w)
}

// split expands a word to the fields that it becomes.
func (u *unfolder) split(w *syntax.Word) []field {
	b := builder{u: u}
	b.parts(w.Parts, false)
	if len(b.done) == 0 && !b.expanded {
		return []field{b.finish(w)}
	}
	if b.any {
		b.done = append(b.done, b.finish(w))
	}
	return b.done
}

// builder makes the fields of a word.
type builder struct {
	u     *unfolder
	whole bool
	field
	any      bool // the field has something, be it an empty text in quotes
	expanded bool // something was put in the place of an expansion
	unknown  bool
	done     []field
}

// finish returns the field that is being made of a word.
func (b *builder) finish(w *syntax.Word) field {
	f := b.field
	f.known = !b.unknown
	if !b.expanded && len(b.done) == 0 {
		f.written = w
	}
	return f
}

// next ends a field.
func (b *builder) next() {
	if b.any {
		f := b.field
		f.known = !b.unknown
		b.done = append(b.done, f)
	}
	b.field, b.any, b.unknown = field{}, false, false
}

// adds appends a text to the field.
func (b *builder) adds(text string, inQuotes, glob bool) {
	b.any = b.any || inQuotes || text != ""
	if b.text += text; len(b.text) > maxText {
		b.unknown = true
	}
	b.field.glob = b.field.glob || glob
	b.quoted = b.quoted || inQuotes
	b.field.parts = append(b.field.parts, &syntax.Lit{Value: quoted(text, glob, inQuotes)})
}

// keeps appends a part of which nothing is known.
func (b *builder) keeps(part syntax.WordPart, inQuotes bool) {
	if inQuotes {
		part = &syntax.DblQuoted{Parts: []syntax.WordPart{part}}
	}
	b.any, b.unknown = true, true
	b.field.parts = append(b.field.parts, part)
}

// puts appends what an expansion becomes.
func (b *builder) puts(text string, inQuotes, glob bool) {
	b.expanded, b.u.changed = true, true
	if inQuotes || b.whole || glob {
		b.adds(text, inQuotes, glob)
		return
	}
	for i, word := range strings.Fields(" " + text) {
		if i > 0 || text[0] == ' ' || text[0] == '\n' {
			b.next()
		}
		b.adds(word, false, strings.ContainsAny(word, "*?["))
	}
	if text != "" && strings.TrimRight(text, " \t\n") != text {
		b.next()
	}
}

// lists appends the fields of a list, of which quotes make one each.
func (b *builder) lists(items []field, inQuotes bool) {
	b.expanded, b.u.changed = true, true
	for i, f := range items {
		if i > 0 {
			if b.whole {
				b.adds(" ", true, false)
			} else {
				b.next()
			}
		}
		switch {
		case f.known && inQuotes:
			b.adds(f.text, true, false)
		case f.known:
			b.puts(f.text, false, f.glob)
		default:
			b.any, b.unknown = true, true
			b.field.parts = append(b.field.parts, f.word().Parts...)
		}
	}
}

func (b *builder) parts(parts []syntax.WordPart, inQuotes bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := part.Value
			if inQuotes {
				b.adds(unescaped(text, "$`\"\\"), true, false)
				continue
			}
			if home := b.u.home; home != "" && !b.any && (text == "~" || strings.HasPrefix(text, "~/")) {
				text = home + text[1:]
			}
			b.adds(unescaped(text, ""), false, strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(text, `\*`, ""), `\?`, ""), "*?["))
			b.quoted = b.quoted || strings.Contains(text, `\`)
		case *syntax.SglQuoted:
			text := part.Value
			if part.Dollar {
				if t, _, err := expand.Format(nil, text, nil); err == nil {
					text = t
				}
			}
			b.adds(text, true, false)
		case *syntax.DblQuoted:
			if len(part.Parts) == 0 {
				b.adds("", true, false)
			}
			b.parts(part.Parts, true)
		case *syntax.ParamExp:
			b.parameter(part, inQuotes)
		case *syntax.CmdSubst:
			if text, ok := b.u.substitution(part.Stmts); ok {
				b.puts(strings.TrimRight(text, "\n"), inQuotes, false)
				continue
			}
			copied := *part
			b.u.apart(func() { copied.Stmts = b.u.inside(part.Stmts) })
			b.keeps(&copied, inQuotes)
		case *syntax.ProcSubst:
			copied := *part
			b.u.apart(func() { copied.Stmts = b.u.inside(part.Stmts) })
			b.keeps(&copied, inQuotes)
		default:
			b.keeps(part, inQuotes)
		}
	}
}

// inside returns the statements of a substitution, with what was put in the place of others.
func (u *unfolder) inside(stmts []*syntax.Stmt) []*syntax.Stmt {
	if u.deep > maxDeep {
		return stmts
	}
	choice, choices, input := u.choice, u.choices, u.input
	u.input = nil
	var out []*syntax.Stmt
	u.deeper(func() { out = u.stmts(stmts) })
	u.choice, u.choices, u.input = choice, choices, input
	return out
}

// unescaped removes backslashes: all, or those before some characters.
func unescaped(text, before string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (before == "" || strings.IndexByte(before+"\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// parameter appends what a variable stands for.
func (b *builder) parameter(p *syntax.ParamExp, inQuotes bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width {
		b.keeps(p, inQuotes)
		return
	}
	name := p.Param.Value
	bare := p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil
	if items, ok := b.u.list(p); ok {
		switch {
		case inQuotes && (name == "*" || subscript(p) == "*"):
			for i, f := range items {
				if i > 0 {
					b.puts(" ", true, false)
				}
				b.lists([]field{f}, true)
			}
		default:
			b.lists(items, inQuotes)
		}
		return
	}
	if at, err := strconv.Atoi(name); err == nil && bare && b.u.given != nil {
		switch {
		case at > 0 && at <= len(b.u.given):
			b.lists(b.u.given[at-1:at], inQuotes)
			return
		case at > 0:
			b.puts("", inQuotes, false)
			return
		}
	}
	if name == "0" && bare && b.u.zero != nil {
		b.lists([]field{*b.u.zero}, inQuotes)
		return
	}
	v := b.u.chosen(name)
	switch {
	case v.array && len(v.items) > 0:
		if bare || subscript(p) == "0" {
			b.lists(v.items[:1], inQuotes)
			return
		}
	case bare && v.known:
		b.puts(v.text, inQuotes, v.glob)
		return
	case p.Exp != nil && p.Slice == nil && p.Repl == nil && p.Index == nil:
		if b.otherwise(p, v, inQuotes) {
			return
		}
	}
	if v.known && !v.array && p.Index == nil {
		env := expand.FuncEnviron(func(other string) string {
			if o := b.u.vars[other]; len(o) == 1 && o[0].known {
				return o[0].text
			}
			return ""
		})
		if text, err := expand.Literal(&expand.Config{Env: env}, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}}); err == nil {
			if p.Repl != nil {
				text = strings.ReplaceAll(text, `\/`, "/") // bash takes the backslash away, the library does not
			}
			b.puts(text, inQuotes, v.glob)
			return
		}
	}
	b.keeps(p, inQuotes)
}

// otherwise appends what a variable stands for that has a value in case it has none: ${x:-a}. It reports false if
// that is not known.
func (b *builder) otherwise(p *syntax.ParamExp, v value, inQuotes bool) bool {
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if v.known && v.text != "" {
			b.puts(v.text, inQuotes, v.glob)
			return true
		}
		if p.Exp.Word == nil {
			return false
		}
		def := b.u.whole(p.Exp.Word)
		if !def.known {
			return false
		}
		assigns := p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull
		if v.known {
			b.puts(def.text, inQuotes, def.glob)
			return true
		}
		if assigns {
			b.u.vars[p.Param.Value] = []value{{}, def.value()}
		}
		if b.u.choices = max(b.u.choices, 2); b.u.choice == 1 {
			b.puts(def.text, inQuotes, def.glob)
			return true
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if v.known {
			b.puts(v.text, inQuotes, v.glob)
			return true
		}
	}
	return false
}

// subscript returns the index of an element of an array, as written.
func subscript(p *syntax.ParamExp) string {
	if w, ok := p.Index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// list returns the items that $@ or ${array[@]} stands for.
func (u *unfolder) list(p *syntax.ParamExp) ([]field, bool) {
	items, known := u.given, u.given != nil
	if name := p.Param.Value; name != "@" && name != "*" {
		if at := subscript(p); at != "@" && at != "*" {
			return nil, false
		}
		v := u.chosen(name)
		items, known = v.items, v.known && v.array
	} else if p.Slice != nil && known && u.zero != nil {
		items = append([]field{*u.zero}, items...)
	} else if p.Slice != nil {
		items = append([]field{{known: true}}, items...)
	}
	if !known || p.Exp != nil || p.Repl != nil {
		return nil, false
	}
	if p.Slice == nil {
		return items, true
	}
	w, ok := p.Slice.Offset.(*syntax.Word)
	if !ok || p.Slice.Length != nil {
		return nil, false
	}
	from, err := strconv.Atoi(w.Lit())
	if err != nil || from < 0 {
		return nil, false
	}
	return items[min(from, len(items)):], true
}

// chosen returns the value of a variable that is looked at.
func (u *unfolder) chosen(name string) value {
	values := u.vars[name]
	if len(values) == 0 {
		return value{}
	}
	u.choices = max(u.choices, len(values))
	return values[min(u.choice, len(values)-1)]
}

// asWords returns fields as the reader of lines has words.
func asWords(fields []field) (words []shell.Word) {
	for _, f := range fields {
		w := shell.Word{Text: f.text, Value: f.text, Quoted: f.quoted, Dynamic: !f.known}
		words = append(words, w)
	}
	return words
}
