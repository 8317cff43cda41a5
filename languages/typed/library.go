package typed

import "strings"

// parseLibrary adds the classes outside the repository that a text declares: those by which
// sources pass their own types around. A line is a class, "class a.b.Name<T> : Base<T>, Other",
// "interface …", or "struct …", which has no other bases. The lines after it are its methods and fields as sources have them, without
// names of parameters: "<R> Stream<R> map(Function<T,R>)", "static <T> List<T> of(T...)",
// "abstract R apply(T)", ".Key K" (a field). Types have their simple names. An interface with one
// abstract method is a function type.
func (t *Typer) parseLibrary(text string) {
	type line struct {
		of   *Class
		text string
	}
	var rest []line
	var in *Class
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		word, body, _ := strings.Cut(l, " ")
		if word != "class" && word != "interface" && word != "struct" {
			if l != "" {
				rest = append(rest, line{in, l})
			}
			continue
		}
		head, supers, _ := strings.Cut(body, " : ")
		e := parseType(head)
		pkg, name := t.lang.splitPackage(e.name)
		in = &Class{
			Pkg: pkg, Name: name, iface: word == "interface", value: word == "struct",
			Methods: map[string][]*Method{}, Fields: map[string]*field{}, types: map[string]*Class{},
		}
		for _, a := range e.args {
			in.params = append(in.params, &typeParam{name: a.name})
		}
		_, simple := CutLast(name)
		t.Library[simple] = in
		if outer, inner := CutLast(name); outer != "" {
			_, outer = CutLast(outer)
			t.Library[outer].types[inner] = in
		}
		if supers != "" {
			rest = append(rest, line{in, ": " + supers})
		}
	}
	for _, l := range rest {
		switch {
		case strings.HasPrefix(l.text, ": "):
			for _, s := range splitTypes(l.text[2:]) {
				l.of.supers = append(l.of.supers, t.libraryType(parseType(s), l.of.params))
			}
		case strings.HasPrefix(l.text, "."):
			name, of, _ := strings.Cut(l.text[1:], " ")
			l.of.Fields[name] = &field{Typ: t.libraryType(parseType(of), l.of.params)}
		default:
			t.libraryMethod(l.of, l.text)
		}
	}
}

func (t *Typer) libraryMethod(of *Class, text string) {
	m := &Method{Class: of}
	for _, word := range []string{"static", "abstract", "extension"} {
		if after, ok := strings.CutPrefix(text, word+" "); ok {
			text = after
			m.static = m.static || word != "abstract"
			m.Abstract = m.Abstract || word == "abstract"
			m.extension = m.extension || word == "extension"
		}
	}
	params := of.params
	if strings.HasPrefix(text, "<") {
		end := strings.Index(text, "> ")
		for name := range strings.SplitSeq(text[1:end], ",") {
			m.tparams = append(m.tparams, &typeParam{name: name})
		}
		params = append(append([]*typeParam(nil), m.tparams...), params...)
		text = text[end+2:]
	}
	head, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	result, name := head[:strings.LastIndexByte(head, ' ')], head[strings.LastIndexByte(head, ' ')+1:]
	m.Name, m.Result = name, t.libraryType(parseType(result), params)
	if list != "" {
		for _, p := range splitTypes(list) {
			if elem, ok := strings.CutSuffix(p, "..."); ok {
				m.rest = true
				m.Params = append(m.Params, &Type{elem: t.libraryType(parseType(elem), params)})
				continue
			}
			m.Params = append(m.Params, t.libraryType(parseType(p), params))
			m.MinArgs++
		}
	}
	of.Methods[name] = append(of.Methods[name], m)
	of.Order = append(of.Order, m)
}

func (t *Typer) libraryType(e *typeExpr, params []*typeParam) *Type {
	var of *Type
	_, name := CutLast(e.name)
	for _, p := range params {
		if p.name == name {
			of = &Type{param: p}
			break
		}
	}
	switch c := t.Library[name]; {
	case of != nil || name == "":
	case c != nil:
		of = &Type{Class: c}
		for _, a := range e.args {
			of.Args = append(of.Args, t.libraryType(a, params))
		}
	default:
		of = Primitive(name)
	}
	for range e.dims {
		of = &Type{elem: of}
	}
	return of
}
