package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// csharp: see java. Classes of several parts are one, what a namespace holds is known in
// those below it, and a method that extends a type is found where the type has none.
// Of the namespaces that a project takes in without saying so (ImplicitUsings) only
// those of csharpLibrary are known.
var csharp = typedLanguage{
	language: language{
		name: "csharp/1", languages: []string{"csharp"}, outside: "csharp", typed: true,
		layout: func([]string, []manifest) layout { return csharpLayout{} },
	},
	library: csharpLibrary, object: "Object", constructor: "ctor", iterable: "IEnumerable",
	variadicArrays: true, explicitOverride: true, privateByDefault: true, attribute: "Attribute",
	byArity: map[string]bool{"Func": true, "Action": true},
	names:   csharpNames, implied: func(*typer, *class) *typ { return nil }, complete: csharpComplete,
	bring: csharpBring, statics: csharpStatics, extensions: csharpExtensions,
	rpc: csharpRPC,
}

// csharpLayout knows C#'s files: what they hold is by their namespaces.
type csharpLayout struct{ byName }

// isTest implements layout, by the names of test projects.
func (csharpLayout) isTest(file string) bool {
	for dir := range strings.SplitSeq(dirOf(file), "/") {
		d := strings.ToLower(dir)
		if d == "test" || d == "tests" || strings.HasSuffix(d, ".tests") || strings.HasSuffix(d, ".test") || strings.HasSuffix(d, "tests") {
			return true
		}
	}
	return false
}

// csharpBring reads a file's using directives, and the global ones of files in its
// directory or above it.
func csharpBring(t *typer, m *module) {
	for _, i := range m.facts.Imports {
		using(t, m, i)
	}
	for _, from := range t.handing() {
		if from == m || !within(m.file.Path, dirOf(from.file.Path)) {
			continue
		}
		for _, i := range from.facts.Imports {
			if i.Export {
				using(t, m, i)
			}
		}
	}
}

// within reports whether a path lies below a directory.
func within(path, dir string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") }

func using(t *typer, m *module, i *recountv1.Import) {
	have := t.imports[m]
	of := t.qualified(m.file.Path, i.Path)
	switch {
	case i.Alias != "" && of != nil:
		have.types[i.Alias] = of
	case i.Alias != "" && t.prefixes[i.Path]:
		have.types[i.Alias] = &typ{name: i.Path, prefix: true}
	case i.Alias != "":
		pkg, name := cutLast(i.Path)
		have.types[i.Alias] = &typ{pkg: pkg, name: name}
	case of != nil && of.class != nil && !t.prefixes[i.Path]:
		have.all = append(have.all, of)
	default:
		have.packages = append(have.packages, i.Path)
	}
}

// namespace is that of a declaration.
func namespace(m *module, in uint32) string {
	name := ""
	for d := m.decl(in); d != nil; d = m.decl(d.Owner) {
		if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			name = joined(name, d.Name)
		}
	}
	return joined(name, m.name)
}

// csharpNames finds a type in the namespaces around, by the file's using directives,
// and among the language's own.
func csharpNames(t *typer, m *module, in uint32, name string) *typ {
	have := t.imports[m]
	for ns := namespace(m, in); ; ns, _ = cutLast(ns) {
		if c := nearest(m.file.Path, t.packages[ns][name]); c != nil {
			return &typ{class: c}
		}
		if ns == "" {
			break
		}
	}
	if of := have.types[name]; of != nil {
		return of
	}
	var found *class
	for _, ns := range have.packages {
		if c := nearest(m.file.Path, t.packages[ns][name]); c != nil && c != found {
			if found != nil {
				return nil // two namespaces have it
			}
			found = c
		}
	}
	if found != nil {
		return &typ{class: found}
	}
	for _, of := range have.all {
		if c := t.nested(of, name); c != nil && c.class != nil {
			return c
		}
	}
	if class, ok := csharpWords[name]; ok {
		if c := t.library[class]; c != nil {
			return &typ{class: c}
		}
		return primitive(name)
	}
	if c := t.library[name]; c != nil && c.name == name {
		return &typ{class: c}
	}
	if ours := t.packages[name]; ours == nil && !t.prefixes[name] && csharpSystem[name] {
		return &typ{pkg: "System", name: name}
	}
	return nil
}

// csharpWords are the types that the language has words for.
var csharpWords = map[string]string{
	"string": "String", "object": "Object", "dynamic": "", "int": "", "long": "", "short": "", "byte": "", "sbyte": "", "uint": "", "ulong": "",
	"ushort": "", "float": "", "double": "", "decimal": "", "bool": "", "char": "", "void": "", "nint": "", "nuint": "",
}

// csharpSystem are the classes of System that people name, but for those of csharpLibrary.
var csharpSystem = wordSet(`Console Math DateTime DateTimeOffset TimeSpan Guid Environment Convert Random Uri Version Type Array
Activator AppDomain BitConverter Buffer GC Attribute EventArgs Int32 Int64 Boolean Double Decimal Char Byte ArgumentException
ArgumentNullException ArgumentOutOfRangeException InvalidOperationException NotImplementedException NotSupportedException
ObjectDisposedException FormatException OverflowException TimeoutException UnauthorizedAccessException OperationCanceledException
IndexOutOfRangeException NullReferenceException InvalidCastException AggregateException Memory Span ReadOnlySpan`)

// csharpComplete gives a delegate the method that calling it means.
func csharpComplete(t *typer, c *class) {
	if !c.decl.is("delegate") {
		return
	}
	at := spot{m: c.decl.mod, in: c.decl.in}
	m := &method{class: c, decl: c.decl, name: "Invoke", abstract: true, final: true, result: t.typeOf(at, c.decl.Type)}
	for _, p := range c.decl.Parameters {
		m.params = append(m.params, t.parameterType(at, p))
		m.least++
	}
	c.methods[m.name] = append(c.methods[m.name], m)
	c.order = append(c.order, m)
}

// csharpStatics are the types whose static members a file knows by a name.
func csharpStatics(t *typer, m *module, _ string) []*typ { return t.imports[m].all }

// csharpExtensions are the methods of a name that extend a type, of the namespaces
// that a place knows.
func csharpExtensions(t *typer, at spot, name string) []*method {
	var out []*method
	ns := namespace(at.m, at.in)
	for _, m := range t.extensionMethods(name) {
		known := ns == m.class.pkg || strings.HasPrefix(ns, m.class.pkg+".") || m.class.pkg == ""
		for _, used := range t.imports[at.m].packages {
			known = known || used == m.class.pkg
		}
		for _, used := range t.imports[at.m].all {
			known = known || used.class == m.class
		}
		if known {
			out = append(out, m)
		}
	}
	return out
}

// NewCSharp makes a resolver of CSharp.
func NewCSharp() Resolver { return newTypedResolver(&csharp) }
