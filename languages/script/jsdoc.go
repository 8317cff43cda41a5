package script

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var (
	imported   = regexp.MustCompile(`^import\(\s*["']([^"']+)["']\s*\)((?:\.\w+)*)$`)
	importFrom = regexp.MustCompile(`^(?:(\w+)\s+|\*\s+as\s+(\w+)\s+)?from\s+["']([^"']+)["']`)
	predicate  = regexp.MustCompile(`^\s*(?:asserts\s+)?(?:\w+|this)\s+is\s+(.+)$`)
)

// documentTypes gives the parameters and the result of the function with the index in the types that its
// documentation states, if the code states none.
func (j *walker) documentTypes(in uint32, n extract.Ref) {
	decl := j.Decl(in)
	if !strings.Contains(decl.Doc, "@") {
		return
	}
	at := j.Start(n)
	defer j.documentBounds(decl.Doc)()
	var parameters []docMember
	same := map[string]string{}
	for _, t := range docTags(decl.Doc) {
		switch t.name {
		case "param", "arg", "argument":
			name := tagName(t.rest)
			if of := strings.TrimSpace(t.typ); j.bounds[of] == "" && same[of] == "" {
				same[of] = name
			}
			parameters = addMember(parameters, name, j.docTypes(t.typ, at))
		case "return", "returns":
			if of := predicate.FindStringSubmatch(t.typ); of != nil && decl.Attributes == nil {
				if of := j.docType(of[1], at); of != "" {
					decl.Attributes = map[string]string{scope.Guards: of}
				}
				break
			}
			of := strings.TrimSpace(t.typ)
			if bound, own := j.bounds[of]; own && bound == "" && same[of] != "" && decl.Attributes == nil && decl.Type == "" {
				decl.Attributes = map[string]string{scope.Same: same[of]}
			}
			if decl.Type == "" {
				decl.Type = j.docType(t.typ, at)
			}
		case "type":
			of := j.docType(t.typ, at)
			switch {
			case of == "" || j.Facts.Language != "javascript":
			case decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY && decl.Type == "":
				decl.Type = of
			case decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_PROPERTY && len(decl.Parameters) > 0:
				j.givenParameters(in, j.stands(extract.Unknown, of, n, state{in: in}), n)
			}
		}
	}
	for i, p := range decl.Parameters {
		for k, of := range parameters {
			if p.Type == "" && (of.name == p.Name || k == i && strings.HasPrefix(p.Name, "<")) {
				p.Type = saying(of.types)
			}
		}
	}
}

// statedType returns the type that the documentation above a statement, a member or an expression in parentheses
// states of its value: /** @type {Type} */. It returns "" if that states none.
func (j *walker) statedType(n extract.Ref) string {
	if j.Facts.Language != "javascript" || !j.states {
		return ""
	}
	before := bytes.TrimRight(j.Src[:j.Start(n)], " \t\r\n")
	if !bytes.HasSuffix(before, []byte("*/")) {
		return ""
	}
	from := bytes.LastIndex(before, []byte("/*"))
	if !bytes.HasPrefix(before[max(from, 0):], []byte("/**")) {
		return ""
	}
	for _, t := range docTags(plainDoc(string(before[from:]))) {
		if t.name == "type" && t.typ != "" {
			return j.docType(t.typ, uint32(from))
		}
	}
	return ""
}

// plainDoc returns the text of a block comment.
func plainDoc(comment string) string {
	lines := strings.Split(strings.TrimSuffix(strings.TrimLeft(comment, "/*"), "*/"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "*")
	}
	return strings.Join(lines, "\n")
}

// documentBounds makes type parameters of a comment stand for what they extend, until the function that
// it returns is called.
func (j *walker) documentBounds(doc string) func() {
	outer := j.bounds
	if strings.Contains(doc, "@template") {
		j.bounds = map[string]string{}
		for name, of := range outer {
			j.bounds[name] = of
		}
		for _, t := range docTags(doc) {
			for name := range strings.SplitSeq(t.rest, ",") {
				if name = tagName(name); t.name == "template" && name != "" {
					j.bounds[name] = t.typ
				}
			}
		}
	}
	return func() { j.bounds = outer }
}

// docName returns the type that a name in a documentation comment means, as a path: of a type parameter what it extends,
// of a type of another file one that begins with an import.
func (j *walker) docName(name string, at uint32, depth int) []string {
	if of, ok := j.bounds[name]; ok {
		if of == "" {
			return []string{anyType}
		}
		return j.docTypesIn(of, at, depth+1)
	}
	if head, rest, _ := strings.Cut(name, "."); j.typedefs[head] != "" {
		name = strings.TrimSuffix(j.typedefs[head]+"."+rest, ".")
	}
	if m := imported.FindStringSubmatch(name); m != nil {
		alias := j.typeImports[m[1]]
		if alias == "" {
			i := j.Builder.AddImport(0, m[1], at)
			alias = fmt.Sprintf("<type%d>", len(j.typeImports)+1)
			i.Alias, i.TypeOnly = alias, true
			j.typeImports[m[1]] = alias
		}
		return []string{extract.Checked(alias + m[2])}
	}
	if module, ok := strings.CutPrefix(name, "module:"); ok { // module:file~Type
		name = module[strings.LastIndexAny(module, "~.")+1:]
	}
	if name = strings.NewReplacer("~", ".", "#", ".").Replace(name); !isTarget(name) {
		return []string{anyType}
	}
	return []string{extract.Checked(name)}
}

// readTypedefs reads the types that comments of the file declare or import:
//
//	@typedef {Object} Options @property {User} user    @callback Visit @param {User} user    @import {User} from "./user.js"
//
// A type of another file gets another name by that. Of other types it is bound what they say: "typedef Name".
func (j *walker) readTypedefs() {
	j.states = bytes.Contains(j.Src, []byte("@type"))
	if !j.states && !bytes.Contains(j.Src, []byte("@callback")) && !bytes.Contains(j.Src, []byte("@import")) {
		return
	}
	var defining [][]docTag
	for src := j.Src; ; {
		from := bytes.Index(src, []byte("/**"))
		if from < 0 {
			break
		}
		n := bytes.Index(src[from:], []byte("*/"))
		if n < 0 {
			break
		}
		comment := src[from : from+n]
		if src = src[from+n:]; !bytes.Contains(comment, []byte("@typedef")) && !bytes.Contains(comment, []byte("@callback")) && !bytes.Contains(comment, []byte("@import")) {
			continue
		}
		var open []docTag
		for _, t := range docTags(plainDoc(string(comment))) {
			switch t.name {
			case "import":
				j.importTypes(t)
				continue
			case "typedef", "callback":
				defining, open = append(defining, open), nil
				d := docType{j: j, text: t.typ}
				if name := d.name(); strings.HasPrefix(name, "import(") && (d.text == "" || d.text[0] == '<') {
					j.typedefs[tagName(t.rest)] = name
					continue
				}
			}
			open = append(open, t)
		}
		defining = append(defining, open)
	}
	for _, tags := range defining {
		j.defineType(tags)
	}
}

// importTypes reads @import {Type, Other as Name} from "./file.js", import of a default and import of all.
func (j *walker) importTypes(t docTag) {
	m := importFrom.FindStringSubmatch(t.rest)
	if m == nil {
		return
	}
	module := `import("` + m[3] + `")`
	if m[1] != "" {
		j.typedefs[m[1]] = module + "." + scope.DefaultName
	}
	if m[2] != "" {
		j.typedefs[m[2]] = module
	}
	for one := range strings.SplitSeq(t.typ, ",") {
		if words := strings.Fields(one); len(words) > 0 {
			j.typedefs[words[len(words)-1]] = module + "." + words[0]
		}
	}
}

// defineType binds what the tags of a comment say of the type that the first of them declares.
func (j *walker) defineType(tags []docTag) {
	if len(tags) == 0 || tags[0].name != "typedef" && tags[0].name != "callback" {
		return
	}
	name := tagName(tags[0].rest)
	if !extract.IsName(strings.ReplaceAll(name, "$", "_")) {
		return
	}
	outer := j.bounds
	defer func() { j.bounds = outer }()
	var all []string
	var properties, parameters []docMember
	for i, t := range tags {
		types := func() []string { return j.docTypes(t.typ, 0) }
		switch t.name {
		case "template":
			j.documentBounds("@template {" + t.typ + "} " + t.rest)
		case "typedef":
			if i == 0 && t.typ != "" {
				all = append(all, types()...)
			}
		case "property", "prop":
			properties = addMember(properties, tagName(t.rest), types())
		case "param", "arg", "argument":
			parameters = addMember(parameters, tagName(t.rest), types())
		case "return", "returns":
			all = append(all, parts(types(), "<>")...)
		}
	}
	for _, m := range properties {
		all = append(all, parts(m.types, m.name)...)
	}
	for i, m := range parameters {
		all = append(all, parts(m.types, "<"+extract.Decimal(i)+">")...)
	}
	var whole []string
	for _, of := range all {
		if strings.HasSuffix(of, "]") {
			j.Bind(0, scope.TypedefOf+name, extract.Unknown, of, 0)
		} else {
			whole = append(whole, of)
		}
	}
	j.Bind(0, scope.TypedefOf+name, extract.Unknown, saying(whole), 0)
}

// parts returns the types of what has values of some types under a key, without types that say nothing.
func parts(types []string, key string) (all []string) {
	for _, of := range types {
		if !plainTypes[of] {
			all = append(all, of)
		}
	}
	return extract.ElementTypes(all, key)
}
