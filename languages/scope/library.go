package scope

import "strings"

// parseLibrary declares classes of elsewhere that sources use to pass their own types
// around. A line is a class, "class a.b.Name<T> : Base<T>, Other" or "interface …", and
// those behind it are its methods and fields, as sources have them, without names of
// parameters: "<R> Stream<R> map(Function<T,R>)", "static <T> List<T> of(T...)",
// "abstract R apply(T)", ".Key K" (a field). Types are called by their simple names. An
// interface whose one abstract method is listed is a type of functions.
func (t *typer) parseLibrary(text string) {
	type line struct {
		of   *class
		text string
	}
	var rest []line
	var in *class
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		word, body, _ := strings.Cut(l, " ")
		if word != "class" && word != "interface" {
			if l != "" {
				rest = append(rest, line{in, l})
			}
			continue
		}
		head, supers, _ := strings.Cut(body, " : ")
		e := parseType(head)
		pkg, name := t.lang.splitPackage(e.name)
		in = &class{
			pkg: pkg, name: name, iface: word == "interface",
			methods: map[string][]*method{}, fields: map[string]*field{}, types: map[string]*class{},
		}
		for _, a := range e.args {
			in.params = append(in.params, &typeParam{name: a.name})
		}
		_, simple := cutLast(name)
		t.library[simple] = in
		if outer, inner := cutLast(name); outer != "" {
			_, outer = cutLast(outer)
			t.library[outer].types[inner] = in
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
			l.of.fields[name] = &field{typ: t.libraryType(parseType(of), l.of.params)}
		default:
			t.libraryMethod(l.of, l.text)
		}
	}
}

func (t *typer) libraryMethod(of *class, text string) {
	m := &method{class: of}
	for _, word := range []string{"static", "abstract", "extension"} {
		if after, ok := strings.CutPrefix(text, word+" "); ok {
			text = after
			m.static = m.static || word != "abstract"
			m.abstract = m.abstract || word == "abstract"
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
	m.name, m.result = name, t.libraryType(parseType(result), params)
	if list != "" {
		for _, p := range splitTypes(list) {
			if elem, ok := strings.CutSuffix(p, "..."); ok {
				m.rest = true
				m.params = append(m.params, &typ{elem: t.libraryType(parseType(elem), params)})
				continue
			}
			m.params = append(m.params, t.libraryType(parseType(p), params))
			m.least++
		}
	}
	of.methods[name] = append(of.methods[name], m)
	of.order = append(of.order, m)
}

func (t *typer) libraryType(e *typeExpr, params []*typeParam) *typ {
	var of *typ
	_, name := cutLast(e.name)
	for _, p := range params {
		if p.name == name {
			of = &typ{param: p}
			break
		}
	}
	switch c := t.library[name]; {
	case of != nil || name == "":
	case c != nil:
		of = &typ{class: c}
		for _, a := range e.args {
			of.args = append(of.args, t.libraryType(a, params))
		}
	default:
		of = primitive(name)
	}
	for range e.dims {
		of = &typ{elem: of}
	}
	return of
}

// wide are the types of numbers, each after those that become it without a cast.
var wide = map[string]int{"byte": 1, "short": 2, "char": 2, "int": 3, "long": 4, "float": 5, "double": 6, "decimal": 6}

// widens says whether a primitive type is passed for another.
func widens(arg, to string) int {
	switch {
	case arg == to:
		return fits
	case wide[arg] > 0 && wide[to] > wide[arg]:
		return fits
	case wide[arg] > 0 && wide[to] > 0, arg == "boolean", to == "boolean", arg == "bool", to == "bool":
		return never
	}
	return unclear
}

// boxOf is the class of a primitive type's values.
var boxOf = map[string]string{
	"int": "Integer", "long": "Long", "boolean": "Boolean", "double": "Double", "float": "Float",
	"char": "Character", "byte": "Byte", "short": "Short",
}

// finalClasses are those of the library that nothing extends.
var finalClasses = map[string]bool{
	"String": true, "Integer": true, "Long": true, "Boolean": true, "Double": true, "Float": true, "Character": true,
	"Byte": true, "Short": true, "Class": true, "StringBuilder": true, "StringBuffer": true, "Optional": true, "Void": true,
}

// boxes says whether a primitive type is passed for a class.
func (t *typer) boxes(arg string, to *typ) int {
	switch {
	case to.elem != nil, to.class != nil && to.class.decl != nil:
		return never
	case t.isObject(to):
		return boxed
	case to.class == nil:
		return unclear
	case to.class.name == boxOf[arg]:
		return boxed
	case to.class.name == "Number" || to.class.name == "Comparable":
		return boxed
	}
	return never
}

// box is the class of a primitive type; any other type is itself.
func (t *typer) box(of *typ) *typ {
	if of.isPrimitive() {
		if c := t.library[boxOf[of.name]]; c != nil {
			return &typ{class: c}
		}
	}
	return of
}
