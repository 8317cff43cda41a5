package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	"github.com/recountdb/recount/languages/typed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// definition describes C# to languages/typed. A class of several parts is one class; the types of
// a namespace are visible in the namespaces below it; an extension method is used if the type has
// no method of the name. Of the namespaces that a project imports implicitly (ImplicitUsings),
// only those in library are known.
var definition = typed.Language{
	Language: scope.Language{
		Name: "csharp/16", Languages: []string{"csharp"}, Outside: "csharp", Typed: true,
		Layout: func([]string, []scope.Manifest) scope.Layout { return layout{} },
	},
	Library: library, Object: "Object", Constructor: "ctor", Iterable: "IEnumerable",
	VariadicArrays: true, ExplicitOverride: true, PrivateByDefault: true, Attribute: "Attribute",
	Arity: true, ByArity: byArity, Widening: widening, Converts: map[string]string{"String": "ReadOnlySpan"},
	ArrayBases:  scope.WordSet("IEnumerable ICollection IList IReadOnlyCollection IReadOnlyList Span ReadOnlySpan Memory ReadOnlyMemory"),
	Transparent: scope.WordSet("Result Value GetAwaiter GetResult ConfigureAwait AsTask WaitAsync GetValueOrDefault"),
	Given:       scope.WordSet("GetService GetRequiredService GetKeyedService Resolve CreateInstance GetInstance DeserializeObject Deserialize DeserializeAsync GetExportedValue"),
	Common:      commonMethods,
	Always:      map[string]string{"ToString": "String"},
	Names:       namedType, Implied: func(*typed.Typer, *typed.Class) *typed.Type { return nil }, Complete: complete,
	ReadImports: bring, Statics: statics, Extensions: extensions,
	RPC: grpc,
}

// layout has the conventions of C#'s files. Their namespaces, and not their paths, say what they
// contain.
type layout struct{ scope.NoFiles }

// IsTest implements scope.Layout by the names of test projects.
func (layout) IsTest(file string) bool {
	for dir := range strings.SplitSeq(scope.DirOf(file), "/") {
		d := strings.ToLower(dir)
		if d == "test" || d == "tests" || strings.HasSuffix(d, ".tests") || strings.HasSuffix(d, ".test") || strings.HasSuffix(d, "tests") {
			return true
		}
	}
	return false
}

// bring reads the using directives of a file, and the global ones of files in its directory or
// above it.
func bring(t *typed.Typer, m *scope.Module) {
	for _, i := range m.Facts.Imports {
		using(t, m, i)
	}
	for _, from := range t.Reexporting() {
		if from == m || !within(m.File.Path, scope.DirOf(from.File.Path)) {
			continue
		}
		for _, i := range from.Facts.Imports {
			if i.Export {
				using(t, m, i)
			}
		}
	}
}

// within reports whether a path is below a directory.
func within(path, dir string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") }

func using(t *typed.Typer, m *scope.Module, i *recountv1.Import) {
	have := t.Imports[m]
	i = relative(t, m, i)
	of := t.Qualified(m.File.Path, i.Path)
	switch {
	case i.Alias != "" && of != nil:
		have.Types[i.Alias] = of
	case i.Alias != "" && t.Prefixes[i.Path]:
		have.Types[i.Alias] = &typed.Type{Name: i.Path, Prefix: true}
	case i.Alias != "":
		pkg, name := typed.CutLast(i.Path)
		have.Types[i.Alias] = &typed.Type{Pkg: pkg, Name: name}
	case of != nil && of.Class != nil && !t.Prefixes[i.Path]:
		have.All = append(have.All, of)
	default:
		have.Packages = append(have.Packages, i.Path)
	}
}

// relative returns a using directive with the full name of what it means: inside a namespace,
// `using Internal` means a namespace or a type of the enclosing ones first.
func relative(t *typed.Typer, m *scope.Module, i *recountv1.Import) *recountv1.Import {
	if t.Prefixes[i.Path] {
		return i
	}
	for ns := m.Name; ns != ""; ns, _ = typed.CutLast(ns) {
		full := ns + "." + i.Path
		if of := t.Qualified(m.File.Path, full); t.Prefixes[full] || of != nil && of.Class != nil && of.Class.Decl != nil {
			return &recountv1.Import{Path: full, Alias: i.Alias, Export: i.Export, Wildcard: i.Wildcard, At: i.At}
		}
	}
	return i
}

// namespace returns the full name of the namespace of a declaration.
func namespace(m *scope.Module, in uint32) string {
	name := ""
	for d := m.Decl(in); d != nil; d = m.Decl(d.Owner) {
		if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			name = typed.Joined(name, d.Name)
		}
	}
	return typed.Joined(name, m.Name)
}

// namedType finds a type in the enclosing namespaces, by the file's using directives, and among
// the language's own.
func namedType(t *typed.Typer, m *scope.Module, in uint32, name string) *typed.Type {
	have := t.Imports[m]
	for ns := namespace(m, in); ; ns, _ = typed.CutLast(ns) {
		if c := typed.Nearest(m.File.Path, t.In(ns, name)); c != nil {
			return &typed.Type{Class: c}
		}
		if ns == "" {
			break
		}
	}
	if of := have.Types[typed.Plain(name)]; of != nil {
		return of
	}
	var found *typed.Class
	for _, ns := range have.Packages {
		if c := typed.Nearest(m.File.Path, t.In(ns, name)); c != nil && c != found {
			if found != nil {
				return nil // two namespaces have it
			}
			found = c
		}
	}
	if found != nil {
		return &typed.Type{Class: found}
	}
	whole, bare := name, typed.Plain(name) == name && !byArity[strings.TrimRight(name, "0123456789")]
	for _, of := range have.All {
		if c := t.Nested(of, name); c != nil && c.Class != nil {
			return c
		}
	}
	name = typed.Plain(name)
	if class, ok := keywordTypes[name]; ok {
		if c := t.Library[class]; c != nil {
			return &typed.Type{Class: c}
		}
		return typed.Primitive(name)
	}
	if c := t.Library[name]; c != nil && c.Name == name && !(bare && c.Generic()) {
		return &typed.Type{Class: c}
	}
	if ours := t.Packages[name]; ours == nil && !t.Prefixes[name] && systemClasses[name] {
		return &typed.Type{Pkg: "System", Name: name}
	}
	// A project file may import more of the project's namespaces.
	if c := typed.Nearest(m.File.Path, t.Anywhere(namespace(m, in), whole)); c != nil {
		return &typed.Type{Class: c}
	}
	return nil
}

// byArity has the types that library has once for each number of type arguments, which ends their
// names there.
var byArity = scope.WordSet("Func Action Tuple ValueTuple")

// widening has the numeric types, each with those that its values are converted to.
var widening = map[string][]string{
	"sbyte":  {"short", "int", "long", "float", "double", "decimal", "nint"},
	"byte":   {"short", "ushort", "int", "uint", "long", "ulong", "float", "double", "decimal", "nint", "nuint"},
	"short":  {"int", "long", "float", "double", "decimal", "nint"},
	"ushort": {"int", "uint", "long", "ulong", "float", "double", "decimal", "nint", "nuint"},
	"char":   {"ushort", "int", "uint", "long", "ulong", "float", "double", "decimal", "nint", "nuint"},
	"int":    {"long", "float", "double", "decimal", "nint"},
	"uint":   {"long", "ulong", "float", "double", "decimal", "nuint"},
	"nint":   {"long", "float", "double", "decimal"},
	"nuint":  {"ulong", "float", "double", "decimal"},
	"long":   {"float", "double", "decimal"},
	"ulong":  {"float", "double", "decimal"},
	"float":  {"double"}, "double": {}, "decimal": {},
}

// keywordTypes has the types that have keywords, with the class that a keyword means.
var keywordTypes = map[string]string{
	"string": "String", "object": "Object", "dynamic": "", "int": "", "long": "", "short": "", "byte": "", "sbyte": "", "uint": "", "ulong": "",
	"ushort": "", "float": "", "double": "", "decimal": "", "bool": "", "char": "", "void": "", "nint": "", "nuint": "",
}

// systemClasses are the common classes of System that are not in library.
var systemClasses = scope.WordSet(`Console Math DateTime DateTimeOffset TimeSpan Guid Environment Convert Random Uri Version Type Array
Activator AppDomain BitConverter Buffer GC Attribute EventArgs Int32 Int64 Boolean Double Decimal Char Byte ArgumentException
ArgumentNullException ArgumentOutOfRangeException InvalidOperationException NotImplementedException NotSupportedException
ObjectDisposedException FormatException OverflowException TimeoutException UnauthorizedAccessException OperationCanceledException
IndexOutOfRangeException NullReferenceException InvalidCastException AggregateException Memory Span ReadOnlySpan`)

// complete gives a delegate the method that is called by calling the delegate.
func complete(t *typed.Typer, c *typed.Class) {
	if !c.Decl.HasModifier("delegate") {
		return
	}
	at := typed.Spot{Module: c.Decl.Mod, In: c.Decl.Index}
	m := &typed.Method{Class: c, Decl: c.Decl, Name: "Invoke", Abstract: true, Final: true, Result: t.TypeOf(at, c.Decl.Type)}
	for _, p := range c.Decl.Parameters {
		m.Params = append(m.Params, t.ParameterType(at, p))
		m.MinArgs++
	}
	c.Methods[m.Name] = append(c.Methods[m.Name], m)
	c.Order = append(c.Order, m)
}

// statics returns the types whose static members a file can use by a name.
func statics(t *typed.Typer, m *scope.Module, _ string) []*typed.Type { return t.Imports[m].All }

// extensions returns the extension methods of a name in the namespaces that are visible at a
// place. A project file may import others, so if there are none, all are returned, with doubt.
func extensions(t *typed.Typer, at typed.Spot, name string) (out []*typed.Method, doubt bool) {
	ns := namespace(at.Module, at.In)
	for _, m := range t.ExtensionMethods(name) {
		known := ns == m.Class.Pkg || strings.HasPrefix(ns, m.Class.Pkg+".") || m.Class.Pkg == ""
		for _, used := range t.Imports[at.Module].Packages {
			known = known || used == m.Class.Pkg
		}
		for _, used := range t.Imports[at.Module].All {
			known = known || used.Class == m.Class
		}
		if known {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return t.ExtensionMethods(name), true
	}
	return out, false
}

// NewResolver returns a resolver of C#.
func NewResolver() resolve.Resolver { return typed.NewResolver(&definition) }
