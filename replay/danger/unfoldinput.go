package danger

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What commands read and print, as far as a line says it.

// reads returns what redirections give to a command. ok is false if they give nothing; the text is nil if it is not known.
func (u *unfolder) reads(redirects []*syntax.Redirect) (text *string, ok bool) {
	for _, rd := range redirects {
		if rd.N != nil && rd.N.Value != "0" {
			continue
		}
		switch {
		case rd.Op == syntax.WordHdoc:
			u.choice, u.choices = 0, 1
			ok, text = true, nil
			if f := u.whole(rd.Word); f.known {
				said := f.text + "\n"
				text = &said
			}
		case rd.Hdoc != nil:
			said, known := u.document(rd)
			if ok, text = true, nil; known {
				text = &said
			}
		case rd.Op == syntax.RdrIn:
			ok, text = true, nil
			if f := u.whole(rd.Word); f.written != nil && len(f.written.Parts) == 1 {
				if p, is := f.written.Parts[0].(*syntax.ProcSubst); is {
					if said, known := u.substitution(p.Stmts); known {
						text = &said
					}
				}
			}
		}
	}
	return text, ok
}

// document returns what a here-document says, with the variables that are known. One that stays unknown says their names.
func (u *unfolder) document(rd *syntax.Redirect) (string, bool) {
	raw := rd.Word.Lit() == "" || strings.Contains(rd.Word.Lit(), `\`)
	var b strings.Builder
	for _, part := range rd.Hdoc.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := part.Value
			if !raw {
				text = unescaped(text, "$`\\")
			}
			b.WriteString(text)
		default:
			u.choice, u.choices = 0, 1
			f := u.whole(&syntax.Word{Parts: []syntax.WordPart{part}})
			if f.known {
				b.WriteString(f.text)
				continue
			}
			text, ok := asText([]*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: []*syntax.Word{f.word()}}}})
			if !ok {
				return "", false
			}
			b.WriteString(strings.TrimSpace(text))
		}
	}
	text := b.String()
	if rd.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text, true
}

// redirects returns redirections with what is known of the files that they name.
func (u *unfolder) redirects(list []*syntax.Redirect) (out []*syntax.Redirect) {
	for _, rd := range list {
		copied := *rd
		if rd.Word != nil && rd.Hdoc == nil {
			u.choice, u.choices = 0, 1
			copied.Word = u.whole(rd.Word).word()
		}
		out = append(out, &copied)
	}
	return out
}

// substitution returns what the statements of a substitution print, if that is known.
func (u *unfolder) substitution(stmts []*syntax.Stmt) (text string, ok bool) {
	if len(stmts) != 1 || u.deep > maxDeep {
		return "", false
	}
	input, took, changed, choice, choices := u.input, u.took, u.changed, u.choice, u.choices
	u.deeper(func() { text, ok = u.output(stmts[0]) })
	u.input, u.took, u.changed, u.choice, u.choices = input, took, changed, choice, choices
	return text, ok
}

// output returns what a statement prints: of echo, printf, and cat of a document, and of what asks where a program is.
func (u *unfolder) output(s *syntax.Stmt) (string, bool) {
	if s == nil || s.Negated || s.Background || slices.ContainsFunc(s.Redirs, func(rd *syntax.Redirect) bool {
		return strings.Contains(rd.Op.String(), ">") && (rd.N == nil || rd.N.Value != "2")
	}) {
		return "", false
	}
	if both, ok := s.Cmd.(*syntax.BinaryCmd); ok && both.Op == syntax.Pipe {
		c, ok := both.Y.Cmd.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 || c.Args[0].Lit() != "tee" && (c.Args[0].Lit() != "cat" || len(c.Args) > 1) {
			return "", false
		}
		return u.output(both.X)
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 {
		return "", false
	}
	fields := u.fields(c.Args)
	for _, f := range fields {
		if !f.known || f.glob {
			return "", false
		}
	}
	name, args := fields[0].text, fields[1:]
	if name == "builtin" && len(args) > 0 {
		name, args = args[0].text, args[1:]
	}
	switch {
	case name == "echo":
		escapes := false
		for len(args) > 0 && len(args[0].text) > 1 && strings.Trim(args[0].text, "-neE") == "" {
			escapes = escapes || strings.Contains(args[0].text, "e")
			args = args[1:]
		}
		text := textsOf(args)
		if escapes {
			text = control.Replace(text)
		}
		return text + "\n", true
	case name == "printf" && len(args) > 0 && args[0].text != "-v":
		return formattedText(args)
	case name == "cat" && len(args) == 0:
		if text, ok := u.reads(s.Redirs); ok && text != nil {
			return *text, true
		}
	case len(args) == 1 && name == "which", len(args) == 2 && (name == "command" && args[0].text == "-v" || name == "type" && strings.EqualFold(args[0].text, "-p")):
		return args[len(args)-1].text, true
	}
	return "", false
}

func textsOf(fields []field) string {
	var texts []string
	for _, f := range fields {
		texts = append(texts, f.text)
	}
	return strings.Join(texts, " ")
}

// control replaces the escapes that echo -e and printf know.
var control = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "", `\0`, "\x00", `\"`, `"`)

// formattedText returns what printf makes of a format and words.
func formattedText(args []field) (string, bool) {
	format, args := args[0].text, args[1:]
	if format == "--" && len(args) > 0 {
		format, args = args[0].text, args[1:]
	}
	var b strings.Builder
	for {
		used := false
		for i := 0; i < len(format); i++ {
			switch {
			case format[i] == '\\' && i+1 < len(format):
				b.WriteString(control.Replace(format[i : i+2]))
				i++
			case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
				b.WriteByte('%')
				i++
			case format[i] == '%' && i+1 < len(format) && strings.IndexByte("sqdbi", format[i+1]) >= 0:
				if i++; len(args) > 0 {
					b.WriteString(args[0].text)
					args, used = args[1:], true
				}
			case format[i] == '%':
				return "", false
			default:
				b.WriteByte(format[i])
			}
		}
		if len(args) == 0 || !used {
			return b.String(), true
		}
	}
}
