package code

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

// checked is the language whose edges a type checker finds, so that a mention without an edge is
// one of something else.
const checked = "go"

// mentions are what the facts of files say about functions that seem to be unused.
type mentions struct {
	// named has the names that something other than their own declarations mentions, and inTests
	// those that only files of tests mention.
	named, inTests map[string]bool
	// required has the declarations that something outside the repository may call: those with a
	// modifier like override, and those of an external trait.
	required map[mentionKey]bool
	// private has the declarations that only their own file can name.
	private map[mentionKey]bool
	// computed has the files that look up members by names that they compute, and pages the
	// scripts whose functions a page may call because they are not modules.
	computed, pages map[string]bool
}

type mentionKey struct {
	path string
	line uint32
	name string
}

// mayUse reports whether a candidate may be used after all.
func (m mentions) mayUse(g *Graph, c candidate) bool {
	name, path := g.name(c.n), g.keys[c.n].Path()
	if m.pages[path] || m.computed[path] && g.owner(c.n) != "" {
		return true
	}
	named := m.named[name] || m.inTests[name] && c.tests == 0
	return g.language(c.n) != checked && named || m.required[m.key(g, c.n)]
}

func (m mentions) key(g *Graph, n int32) mentionKey {
	return mentionKey{g.keys[n].Path(), g.nodes[n].line, g.name(n)}
}

// calledFromOutside are the modifiers of declarations that need no caller in the repository.
var calledFromOutside = wordset.Of("override native extern partial abstract virtual property")

// mentionsOf reads the facts of all files in the languages of the candidates.
func (st *staleness) mentionsOf(all []candidate, files map[string]*recountv1.CodeFile, tests map[string]bool) (mentions, error) {
	m := mentions{map[string]bool{}, map[string]bool{}, map[mentionKey]bool{}, map[mentionKey]bool{}, map[string]bool{}, map[string]bool{}}
	languages, wanted := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		if l := st.g.language(c.n); l != checked {
			languages[l], wanted[st.g.name(c.n)] = true, true
		}
	}
	// Scripts of both languages import each other.
	if languages["javascript"] || languages["typescript"] {
		languages["javascript"], languages["typescript"] = true, true
	}
	read := 0
	for path, f := range files {
		if !languages[f.Language] {
			continue
		}
		if read++; read&0x3f == 0 && st.a.Ctx.Err() != nil {
			return m, st.a.Ctx.Err()
		}
		stored, err := st.snap.Facts(f)
		if err != nil {
			return m, err
		}
		if stored != nil {
			m.read(path, stored.Facts, wanted, tests[path] || apartFromCode(path))
		}
	}
	return m, nil
}

// read collects what one file mentions.
func (m mentions) read(path string, facts *recountv1.FileFacts, wanted map[string]bool, test bool) {
	named := m.named
	if test {
		named = m.inTests
	}
	mention := func(text string, in uint32) {
		for _, name := range strings.FieldsFunc(text, notInName) {
			if wanted[name] && (in == 0 || int(in) > len(facts.Declarations) || facts.Declarations[in-1].Name != name) {
				named[name] = true
			}
		}
	}
	module := len(facts.Imports) > 0
	for _, r := range facts.References {
		switch r.Path {
		case "getattr":
			m.computed[path] = true
		case "require":
			module = true
		}
		mention(r.Path, r.In)
		for _, a := range r.Args {
			mention(a.Path, r.In)
		}
		for _, value := range r.Attributes {
			mention(value, r.In)
		}
	}
	for _, b := range facts.Bindings {
		mention(b.Value, b.In)
		mention(b.Target, b.In)
		module = module || strings.HasPrefix(b.Target, "export") || strings.HasPrefix(b.Target, "module.exports")
	}
	for _, i := range facts.Imports {
		for _, n := range i.Names {
			mention(n.Name, i.In)
		}
	}
	for _, d := range facts.Declarations {
		module = module || d.Exported
		if !wanted[d.Name] {
			continue
		}
		required := d.Attributes["trait"] != ""
		for _, modifier := range d.Modifiers {
			required = required || calledFromOutside[modifier]
		}
		key := mentionKey{path, d.Start.GetLine(), d.Name}
		if required {
			m.required[key] = true
		}
		if isPrivate(facts.Language, d) {
			m.private[key] = true
		}
	}
	if !module && isScript(facts) {
		m.pages[path] = true
	}
}

// isPrivate reports whether only the file of a declaration that is not exported can name it, by the
// language's rules.
func isPrivate(language string, d *recountv1.Declaration) bool {
	switch language {
	case "javascript", "typescript", "tsx":
		return true
	case "java", "csharp":
		access := ""
		for _, m := range d.Modifiers {
			switch m {
			case "private", "internal", "protected", "public":
				access = m
			}
		}
		return access == "private" || access == "" && language == "csharp"
	}
	return false
}

// namedFrom has the languages whose functions files with an extension may name that are not read.
var namedFrom = map[string]string{
	".xaml": "csharp", ".axaml": "csharp", ".cshtml": "csharp", ".razor": "csharp", ".vb": "csharp", ".fs": "csharp", ".tt": "csharp",
	".kt": "java", ".scala": "java", ".groovy": "java", ".clj": "java", ".jsp": "java", ".jspx": "java", ".ftl": "java",
	".vm": "java", ".mustache": "java", ".hbs": "java", ".fxml": "java", ".xhtml": "java", ".jjt": "java", ".jj": "java", ".g4": "java",
	".pyx": "python", ".pxd": "python", ".pxi": "python", ".mako": "python", ".ipynb": "python",
}

// isScript reports whether a file is JavaScript or TypeScript.
func isScript(facts *recountv1.FileFacts) bool {
	return facts.Language == "javascript" || facts.Language == "typescript"
}

func notInName(r rune) bool {
	return r != '_' && r != '$' && r != '#' && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z') && r < 128
}

// typeName identifies a type, whose members may be in other files than itself.
type typeName struct {
	pkg   int32
	chain string
}

// typeNames returns all types. The value is true if a type has a decorator, if it extends or implements
// something unknown or outside the repository, or if one of its bases has the value true.
func (st *staleness) typeNames() map[typeName]bool {
	all := map[typeName]bool{}
	for i := range st.g.nodes {
		if n := int32(i); isType(st.g.kind(n)) {
			all[typeName{st.g.nodes[n].pkg, st.g.chain(n)}] = false
		}
	}
	var work []int32
	mark := func(n int32) {
		if key := (typeName{st.g.nodes[n].pkg, st.g.chain(n)}); !all[key] {
			all[key] = true
			work = append(work, n)
		}
	}
	for _, e := range st.g.outside {
		if baseKinds.has(e.kind) {
			mark(e.from)
		}
	}
	for _, n := range st.unresolvedBases {
		mark(n)
	}
	for i := range st.g.nodes {
		if n := int32(i); isType(st.g.kind(n)) && (st.decorated[n] || st.leads(n, kindsOf(eDecorates))) {
			mark(n)
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, i := range st.g.into[st.g.in[n]:st.g.in[n+1]] {
			if e := &st.g.edges[i]; baseKinds.has(e.kind) {
				mark(e.from)
			}
		}
	}
	return all
}

var baseKinds = kindsOf(recountv1.EdgeKind_EDGE_KIND_EXTENDS, eImplements)

// mayOverride reports whether something outside the repository may call a method because of what
// declares it: an anonymous class, an object without a type, a type with a foreign base or a
// decorator, or a type of a language in which any object with such a method will do. Types of Go
// have no bases, and those of Rust implement traits member by member.
func (st *staleness) mayOverride(n int32, types map[typeName]bool) bool {
	owner, language := st.g.owner(n), st.g.language(n)
	if strings.HasSuffix(st.g.keys[n].Path(), ".d.ts") { // it declares what is elsewhere
		return true
	}
	if owner == "" || language == checked || language == "rust" {
		return false
	}
	foreign, known := types[typeName{st.g.nodes[n].pkg, owner}]
	if foreign || !known || strings.Contains(owner, "$") {
		return true
	}
	switch language {
	case "python", "javascript", "typescript":
		return !strings.HasPrefix(st.g.name(n), "_") && !strings.HasPrefix(st.g.name(n), "#")
	}
	return false
}

// named are the functions that seem to be unused, and which of them the content of a file names
// nevertheless. A name in a string, a template or a macro is no reference, and code for another
// platform has no edges.
type named struct {
	g *Graph
	// by has the candidates by name that nothing has been found to name yet, and starts those by the
	// beginnings of their names, which code may complete when it runs, such as "do_" of do_quit.
	by, starts map[string][]int32
	// used has the candidates that may be used, inTests those that files of tests alone name, and read
	// the files whose content was read.
	used, inTests map[int32]bool
	read          map[string]bool
}

// namedInTexts returns the candidates whose names stand anywhere but at their own declarations, those
// whose own files can't be read, and those that a file whose content is not known may name. It returns
// none if the content of files is not at hand. Tests may name those that tests use.
func (st *staleness) namedInTexts(all []candidate, files map[string]*recountv1.CodeFile, tests map[string]bool, known mentions) (map[int32]bool, error) {
	if st.a.s.Contents == nil || len(all) == 0 {
		return nil, nil
	}
	t := &named{st.g, map[string][]int32{}, map[string][]int32{}, map[int32]bool{}, map[int32]bool{}, map[string]bool{}}
	for _, c := range all {
		name := st.g.name(c.n)
		t.by[name] = append(t.by[name], c.n)
		for _, start := range startsOf(name) {
			t.starts[start] = append(t.starts[start], c.n)
		}
	}
	unread := map[string]bool{}
	err := st.a.contents(st.snap, slices.Sorted(maps.Keys(files)), func(file string, content []byte) {
		t.read[file] = true
		marks := t.used
		if tests[file] || apartFromCode(file) {
			marks = t.inTests
		}
		t.file(file, content, marks)
	})
	if err != nil {
		return nil, err
	}
	for file, f := range files {
		if !t.read[file] {
			unread[f.Language], unread[namedFrom[path.Ext(file)]] = true, true
		}
	}
	for _, c := range all {
		language := st.g.language(c.n)
		if c.tests > 0 && language == checked { // its edges come from a type checker
			delete(t.used, c.n)
			continue
		}
		if c.tests == 0 && t.inTests[c.n] {
			t.used[c.n] = true
		}
		if !t.read[st.g.keys[c.n].Path()] || language != checked && unread[language] && !known.private[known.key(st.g, c.n)] {
			t.used[c.n] = true
		}
	}
	return t.used, nil
}

// file marks the candidates that a file names outside lines of comments. An unexported name of Go
// means the candidate in its own package only.
func (t *named) file(file string, content []byte, marks map[int32]bool) {
	dir, number := path.Dir(file), uint32(0)
	for line := range bytes.Lines(content) {
		number++
		if commentLine(bytes.TrimSpace(line)) {
			continue
		}
		for i := 0; i < len(line); {
			start := i
			for i < len(line) && !notInName(rune(line[i])) {
				i++
			}
			if i == start {
				i++
				continue
			}
			for _, n := range t.by[string(line[start:i])] {
				nd, own := &t.g.nodes[n], t.g.keys[n].Path()
				itself := file == own && number >= nd.line && number <= nd.end
				if !itself && (t.g.language(n) != checked || path.Dir(own) == dir) {
					marks[n] = true
				}
			}
			if start > 0 && strings.IndexByte("\"'`", line[start-1]) >= 0 {
				for _, n := range t.starts[string(line[start:i])] {
					marks[n] = true
				}
			}
		}
	}
}

// commentLine reports whether nothing but a comment stands in a line, in the languages that are
// read. A directive is none: it may name a function that assembly or the linker uses.
func commentLine(line []byte) bool {
	if bytes.HasPrefix(line, []byte("//go:")) || bytes.HasPrefix(line, []byte("//export ")) {
		return false
	}
	for _, mark := range []string{"//", "/*", "* ", "*/", "# "} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return len(line) == 1 && (line[0] == '*' || line[0] == '#')
}

// startsOf returns the beginnings of a name that end at a boundary between words, of at least
// three characters: what code would begin a name with that it computes.
func startsOf(name string) []string {
	var all []string
	for i := 3; i < len(name); i++ {
		if before, here := name[i-1], name[i]; before == '_' && here != '_' || here >= 'A' && here <= 'Z' && before >= 'a' && before <= 'z' {
			all = append(all, name[:i])
			if start := strings.TrimRight(name[:i], "_"); len(start) >= 3 && start != name[:i] {
				all = append(all, start)
			}
		}
	}
	return all
}
