package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Text is what a line writes into a file, where all of it is in the line: of a here-document, echo or
// printf.
type Text struct {
	Target Word
	// Dir is the directory it is relative to, "" if that is not known.
	Dir, Content string
}

// content returns what a here-document or here-string holds, nil if it is not known before the line runs.
func (r *reader) content(rd *syntax.Redirect) *string {
	if rd.Op == syntax.WordHdoc {
		if w := r.word(rd.Word); !w.Dynamic {
			text := w.Value + "\n"
			return &text
		}
		return nil
	}
	if rd.Hdoc == nil {
		text := ""
		return &text
	}
	p := splitter{source: r.line.Source}
	var b strings.Builder
	if delimiter := r.word(rd.Word); delimiter.Quoted || delimiter.Text != delimiter.Value {
		for _, part := range rd.Hdoc.Parts {
			l, ok := part.(*syntax.Lit)
			if !ok {
				return nil
			}
			b.WriteString(l.Value)
		}
	} else {
		p.parts(rd.Hdoc.Parts, Document)
		b.WriteString(p.value.String())
	}
	if p.dynamic {
		return nil
	}
	text := b.String()
	if rd.Op == syntax.DashHdoc {
		lines := strings.SplitAfter(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "")
	}
	return &text
}

// text keeps what a statement writes into a file, if it has one call and one file.
func (r *reader) text(s *syntax.Stmt, before int, document *string) {
	if r.deferred || r.maybe || r.abroad || r.inner > 0 || r.piped || len(r.line.Calls) != before+1 || len(s.Redirs) > 2 {
		return
	}
	var to *syntax.Redirect
	for _, rd := range s.Redirs {
		switch rd.Op {
		case syntax.RdrOut, syntax.RdrClob:
			if to != nil || rd.N != nil && rd.N.Value != "1" {
				return
			}
			to = rd
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		default:
			return
		}
	}
	if to == nil {
		return
	}
	c := &r.line.Calls[before]
	var content string
	ok := false
	switch c.Name {
	case "cat":
		if ok = document != nil && (len(c.Args) == 0 || len(c.Args) == 1 && c.Args[0].Value == "-"); ok {
			content = *document
		}
	case "echo":
		content, ok = echoed(c.Args)
	case "printf":
		content, ok = printed(c.Args)
	}
	if ok {
		r.line.Texts = append(r.line.Texts, Text{r.word(to.Word), r.dir, content})
	}
}

// echoed returns what bash's echo prints.
func echoed(args []Word) (string, bool) {
	end := "\n"
	if len(args) > 0 && args[0].Value == "-n" {
		args, end = args[1:], ""
	}
	var words []string
	for i, a := range args {
		if a.Dynamic || a.Glob || i == 0 && strings.HasPrefix(a.Value, "-") {
			return "", false
		}
		words = append(words, a.Value)
	}
	return strings.Join(words, " ") + end, true
}

// printed returns what printf prints, if its format has nothing but %s, %d and %%.
func printed(args []Word) (string, bool) {
	for _, a := range args {
		if a.Dynamic || a.Glob {
			return "", false
		}
	}
	if len(args) == 0 || strings.HasPrefix(args[0].Value, "-") {
		return "", false
	}
	format, values := args[0].Value, args[1:]
	var b strings.Builder
	for {
		used := 0
		for i := 0; i < len(format); i++ {
			switch c := format[i]; {
			case c == '\\' && i+1 < len(format) && strings.IndexByte(`"'`, format[i+1]) >= 0:
				i++
				b.WriteByte(format[i])
			case c == '\\' && i+1 < len(format):
				r, _, rest, err := strconv.UnquoteChar(format[i:], 0)
				if err != nil {
					return "", false
				}
				b.WriteRune(r)
				i = len(format) - len(rest) - 1
			case c == '%' && i+1 < len(format):
				i++
				switch format[i] {
				case '%':
					b.WriteByte('%')
				case 's', 'd':
					if used < len(values) {
						b.WriteString(values[used].Value)
					}
					used++
				default:
					return "", false
				}
			default:
				b.WriteByte(c)
			}
		}
		if used == 0 || used >= len(values) {
			return b.String(), true
		}
		values = values[used:]
	}
}
