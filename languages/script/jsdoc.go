package script

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var (
	// documented are the types that a documentation comment states: @param {Type} name, @returns {Type}.
	documented = regexp.MustCompile(`@(param|arg|argument|returns?)\s+\{([^}\n]*)\}[ \t]*\[?([\w$]*)`)
	// bounds are what type parameters extend: @template {Type} T.
	bounds = regexp.MustCompile(`@template\s+\{([^}\n]*)\}\s*(\w+)`)
	// typedefs are names for types of other files: @typedef {import("./file").Type} Name.
	typedefs = regexp.MustCompile(`@typedef\s+\{(import\([^}\n]*)\}\s*(\w+)`)
	imported = regexp.MustCompile(`^import\(["']([^"']+)["']\)((?:\.\w+)*)$`)
)

// documentTypes gives the parameters and the result of a function the types that its documentation
// states, if the code states none.
func (j *walker) documentTypes(decl *recountv1.Declaration, at uint32) {
	if !strings.Contains(decl.Doc, "@") {
		return
	}
	defer j.documentBounds(decl.Doc)()
	for _, m := range documented.FindAllStringSubmatch(decl.Doc, -1) {
		returns := strings.HasPrefix(m[1], "return")
		typ := j.documentedType(m[2], at)
		if typ == "" {
			continue
		}
		if returns {
			if decl.Type == "" {
				decl.Type = typ
			}
			continue
		}
		for _, p := range decl.Parameters {
			if p.Name == m[3] && p.Type == "" {
				p.Type = typ
			}
		}
	}
}

// documentBounds makes type parameters of a comment stand for what they extend, until the function that
// it returns is called.
func (j *walker) documentBounds(doc string) func() {
	outer := j.bounds
	if found := bounds.FindAllStringSubmatch(doc, -1); len(found) > 0 {
		j.bounds = map[string]string{}
		for name, of := range outer {
			j.bounds[name] = of
		}
		for _, m := range found {
			j.bounds[m[2]] = m[1]
		}
	}
	return func() { j.bounds = outer }
}

// documentedType returns what a type in a documentation comment says, "" if nothing, or if one of its alternatives
// besides undefined and null is not understood.
func (j *walker) documentedType(text string, at uint32) string {
	var all []string
	for part := range strings.SplitSeq(strings.Trim(text, "()"), "|") {
		part = strings.Trim(strings.TrimSpace(part), "!?=")
		if part == "undefined" || part == "null" {
			continue
		}
		if of, ok := strings.CutPrefix(part, "Promise<"); ok {
			part = strings.TrimSuffix(of, ">")
		}
		part, array := strings.CutSuffix(part, "[]")
		if of, ok := strings.CutPrefix(part, "Array<"); ok && !array {
			part, array = strings.TrimSuffix(of, ">"), true
		}
		if part = j.typeName(part, at); part == "" {
			return ""
		}
		if array {
			part += "[]"
		}
		all = append(all, part)
	}
	return extract.AnyOf(all)
}

// typeName returns the path of a type without its arguments: of a type parameter what it extends, of a
// type of another file a path that begins with an import.
func (j *walker) typeName(text string, at uint32) string {
	if of, ok := j.bounds[text]; ok {
		if text = of; j.bounds[text] != "" {
			return ""
		}
	}
	text = withoutArguments(text)
	if !j.typedefsRead {
		j.typedefsRead = true
		for _, m := range typedefs.FindAllSubmatch(j.Src, -1) {
			j.typedefs[string(m[2])] = withoutArguments(string(m[1]))
		}
	}
	if of, ok := j.typedefs[text]; ok {
		text = of
	}
	if m := imported.FindStringSubmatch(text); m != nil {
		alias := j.typeImports[m[1]]
		if alias == "" {
			i := j.Builder.AddImport(0, m[1], at)
			alias = fmt.Sprintf("<type%d>", len(j.typeImports)+1)
			i.Alias, i.TypeOnly = alias, true
			j.typeImports[m[1]] = alias
		}
		return extract.Checked(alias + m[2])
	}
	if !extract.IsDotted(text) {
		return ""
	}
	return extract.Checked(text)
}

// withoutArguments returns a type without its type arguments.
func withoutArguments(text string) string {
	if i := strings.IndexByte(text, '<'); i > 0 && strings.HasSuffix(text, ">") {
		return text[:i]
	}
	return text
}
