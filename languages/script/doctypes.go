package script

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
)

// anyType is what a part of a type says that is not understood: its values may be anything.
const anyType = "any"

// docType reads a type of a documentation comment, as TypeScript, Closure and JSDoc write it:
//
//	?User   Array.<User>   Map<string, User[]>   {user: User}   function(User): Group   (user: User) => void
type docType struct {
	j     *walker
	text  string // what was not read yet
	at    uint32
	depth int
}

// maxDocType limits the nesting of types.
const maxDocType = 12

// docTypes returns the alternatives of the type in a documentation comment, in the form of typesOf.
func (j *walker) docTypes(text string, at uint32) []string { return j.docTypesIn(text, at, 0) }

func (j *walker) docTypesIn(text string, at uint32, depth int) []string {
	d := docType{j, text, at, depth}
	all := d.union()
	if strings.TrimSpace(d.text) != "" {
		return []string{anyType}
	}
	return all
}

// docType returns what the type in a documentation comment says, "" if nothing is known of its values.
func (j *walker) docType(text string, at uint32) string { return saying(j.docTypes(text, at)) }

// saying returns the type with these alternatives, "" if none says anything.
func saying(types []string) string {
	if !slices.ContainsFunc(types, func(of string) bool { return of != anyType }) {
		return ""
	}
	return extract.AnyOf(types)
}

// skip reads a word or a sign if it comes next.
func (d *docType) skip(what string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(d.text, " \t\r\n"), what)
	if ok && (!isWordByte(what[0]) || rest == "" || !isWordByte(rest[0])) {
		d.text = rest
		return true
	}
	return false
}

// next reports whether a sign comes next.
func (d *docType) next(what string) bool {
	return strings.HasPrefix(strings.TrimLeft(d.text, " \t\r\n"), what)
}

// inside reads what is between brackets, and returns it.
func (d *docType) inside() string {
	d.text = strings.TrimLeft(d.text, " \t\r\n")
	end := closing(d.text)
	if end == 0 {
		d.text = "?" // what is not read says that the type is not understood
		return ""
	}
	inner := d.text[1:end]
	d.text = d.text[end+1:]
	return inner
}

func (d *docType) union() (all []string) {
	if d.depth++; d.depth > maxDocType {
		d.text = ""
		return []string{anyType}
	}
	defer func() { d.depth-- }()
	d.skip("|")
	for {
		all = append(all, d.part()...)
		if !d.skip("|") && !d.skip("&") {
			return all
		}
	}
}

// part reads one alternative, with the signs before and behind it.
func (d *docType) part() []string {
	rest := d.skip("...")
	for d.skip("!") || d.skip("?") {
	}
	of := d.single()
	for {
		switch {
		case d.next("["):
			if d.inside() == "" {
				of = extract.ElementTypes(of, "")
			} else {
				of = []string{anyType} // Type["name"]
			}
		case d.skip("!"), d.skip("?"), !d.next("=>") && d.skip("="):
		case rest:
			return extract.ElementTypes(of, "")
		default:
			return of
		}
	}
}

func (d *docType) single() []string {
	d.text = strings.TrimLeft(d.text, " \t\r\n")
	if d.text == "" {
		return []string{anyType}
	}
	switch c := d.text[0]; {
	case c == '(':
		inner := d.inside()
		if d.skip("=>") {
			return d.function(inner, d.union)
		}
		return d.j.docTypesIn(inner, d.at, d.depth)
	case c == '{':
		return d.object(d.inside())
	case c == '[':
		var all []string
		for i, of := range split(d.inside(), ",") {
			all = append(all, extract.ElementTypes(d.j.docTypesIn(afterName(of), d.at, d.depth), extract.Decimal(i))...)
		}
		return all
	case c == '"' || c == '\'' || c == '`':
		if i := strings.IndexByte(d.text[1:], c); i >= 0 {
			d.text = d.text[i+2:]
			return []string{anyType}
		}
		d.text = ""
		return []string{anyType}
	case c == '*':
		d.text = d.text[1:]
		return []string{anyType}
	}
	switch {
	case d.skip("readonly"):
		return d.part()
	case d.skip("keyof"), d.skip("unique"):
		d.part()
		return []string{anyType}
	case d.skip("typeof"):
		if of := d.reference(); len(of) == 1 && isTarget(of[0]) && of[0] != anyType {
			return []string{of[0] + scope.ClassOf}
		}
		return []string{anyType}
	case d.skip("new"), d.skip("function"), d.skip("Function"):
		if !d.next("(") {
			return []string{anyType}
		}
		inner := d.inside()
		if d.skip("=>") || d.skip(":") {
			return d.function(inner, d.part)
		}
		return d.function(inner, nil)
	}
	return d.reference()
}

// function returns what the type of a function with some parameters says; result reads the type of what it returns.
func (d *docType) function(parameters string, result func() []string) (all []string) {
	add := func(types []string, key string) {
		all = append(all, parts(types, "<"+key+">")...)
	}
	i := 0
	for _, of := range split(parameters, ",") {
		if name := strings.TrimSpace(of); strings.HasPrefix(name, "this") || strings.HasPrefix(name, "new:") {
			continue
		}
		if !strings.HasPrefix(strings.TrimSpace(of), "...") {
			add(d.j.docTypesIn(afterName(of), d.at, d.depth), extract.Decimal(i))
		}
		i++
	}
	if result != nil {
		add(result(), "")
	}
	if len(all) == 0 {
		return []string{anyType}
	}
	return all
}

// object returns what the type of an object says: {name: string, owner?: User, [id: string]: User}.
func (d *docType) object(members string) (all []string) {
	for _, m := range split(strings.ReplaceAll(members, ";", ","), ",") {
		m = strings.TrimSpace(m)
		key := ""
		if strings.HasPrefix(m, "[") {
			m = m[closing(m)+1:]
		} else {
			key = tagName(m)
			m = strings.TrimPrefix(m, key)
			if !extract.IsName(key) {
				continue
			}
		}
		typ, ok := strings.CutPrefix(strings.TrimLeft(m, "? "), ":")
		if !ok {
			continue
		}
		all = append(all, parts(d.j.docTypesIn(typ, d.at, d.depth), key)...)
	}
	if len(all) == 0 {
		return []string{anyType}
	}
	return all
}

// reference reads a name with its type arguments.
func (d *docType) reference() []string {
	name := d.name()
	var args []string
	d.skip(".")
	if d.next("<") {
		d.text = strings.TrimLeft(d.text, " \t\r\n")
		end := closingAngle(d.text)
		args = split(d.text[1:max(end, 1)], ",")
		if d.text = d.text[end+1:]; end == 0 {
			d.text = "?"
		}
	}
	argument := func(i int) []string {
		if i >= len(args) {
			return []string{anyType}
		}
		return d.j.docTypesIn(args[i], d.at, d.depth)
	}
	switch {
	case wrappers[name] && len(args) > 0:
		if of := argument(0); len(args) == 1 || !slices.Contains(of, "self") { // Omit<this, "name"> is often another object
			return of
		}
		return []string{anyType}
	case lists[name] && len(args) > 0:
		return parts(argument(0), "")
	case (mappings[name] || name == "Object" || name == "object") && len(args) > 1:
		return parts(argument(1), "")
	case name == "null" || name == "undefined" || name == "void":
		return nil
	case name == "this":
		return []string{"self"}
	}
	return d.j.docName(name, d.at, d.depth)
}

// name reads a name: Type, space.Type, import("./file").Type, module:file~Type.
func (d *docType) name() string {
	d.text = strings.TrimLeft(d.text, " \t\r\n")
	n := 0
	if strings.HasPrefix(d.text, "import(") {
		n = closing(d.text[len("import"):]) + len("import") + 1
	} else if strings.HasPrefix(d.text, "module:") {
		n = len("module:")
		for n < len(d.text) && (isWordByte(d.text[n]) || strings.IndexByte("/-@.", d.text[n]) >= 0 && !strings.HasPrefix(d.text[n:], ".<")) {
			n++
		}
	}
	for n < len(d.text) && (isWordByte(d.text[n]) || n > 0 && strings.IndexByte(".~#", d.text[n]) >= 0 && n+1 < len(d.text) && isWordByte(d.text[n+1])) {
		n++
	}
	name := d.text[:min(n, len(d.text))]
	d.text = d.text[len(name):]
	if name == "" {
		d.text = "?"
	}
	return name
}

// closingAngle returns the index of the > that closes the < with which a text begins, 0 if there is none.
func closingAngle(text string) int {
	depth := 0
	for i := range len(text) {
		switch {
		case text[i] == '<':
			depth++
		case text[i] == '>' && text[i-1] != '=':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// split returns the parts of a text between signs that are in no brackets, without a last part that is empty.
func split(text, sign string) (all []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte("{([<", c) >= 0:
			depth++
		case strings.IndexByte("})]", c) >= 0, c == '>' && i > 0 && text[i-1] != '=':
			depth--
		case depth == 0 && c == sign[0]:
			all = append(all, text[from:i])
			from = i + 1
		}
	}
	if strings.TrimSpace(text[from:]) != "" {
		all = append(all, text[from:])
	}
	return all
}

// afterName returns the type of a parameter or an element that may have a name: user?: User.
func afterName(text string) string {
	text = strings.TrimSpace(text)
	name := tagName(text)
	if typ, ok := strings.CutPrefix(strings.TrimLeft(text[len(name):], "? "), ":"); ok && extract.IsName(strings.ReplaceAll(name, "$", "_")) && name != "module" {
		return typ
	}
	return text
}
