package java

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	"github.com/recountdb/recount/languages/typed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// definition describes Java to languages/typed.
var definition = typed.Language{
	Language: scope.Language{
		Name: "java/14", Languages: []string{"java", "settings"}, Outside: "java", Typed: true,
		Layout: func([]string, []scope.Manifest) scope.Layout { return layout{} },
	},
	Library: library, Object: "Object", Constructor: "<init>", Iterable: "Iterable", SmallPackages: true,
	Names: namedType, Implied: implied, Complete: complete, ReadImports: bring, Statics: statics,
	Widening: map[string][]string{
		"byte": {"short", "int", "long", "float", "double"}, "short": {"int", "long", "float", "double"},
		"char": {"int", "long", "float", "double"}, "int": {"long", "float", "double"}, "long": {"float", "double"},
		"float": {"double"}, "double": nil,
	},
	RPC: grpc, Always: map[string]string{"toString": "String"}, Makers: scope.WordSet("of copyOf valueOf"),
}

// layout has the conventions of Java's files. Their packages, and not their paths, say what they
// contain.
type layout struct{ scope.NoFiles }

// IsTest implements scope.Layout by the names of folders and files in Maven and Gradle.
func (layout) IsTest(file string) bool {
	for dir := range strings.SplitSeq(scope.DirOf(file), "/") {
		switch dir {
		case "test", "tests", "androidTest", "integrationTest", "testFixtures":
			return true
		}
	}
	name := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".java")
	return strings.HasSuffix(name, "Test") || strings.HasSuffix(name, "Tests") || strings.HasSuffix(name, "IT")
}

// bring reads the imports of a file.
func bring(t *typed.Typer, m *scope.Module) {
	have := t.Imports[m]
	for _, i := range m.Facts.Imports {
		switch {
		case len(i.Names) > 0:
			of := t.Qualified(m.File.Path, i.Path)
			for _, n := range i.Names {
				if of == nil {
					continue
				}
				have.Members[n.Name] = append(have.Members[n.Name], of)
				if c := t.Nested(of, n.Name); c != nil && c.Class != nil {
					have.Types[n.Name] = c
				}
			}
		case i.Wildcard:
			if of := t.Qualified(m.File.Path, i.Path); of != nil {
				have.All = append(have.All, of)
			} else {
				have.Packages = append(have.Packages, i.Path)
			}
		default:
			_, name := typed.CutLast(i.Path)
			if of := t.Qualified(m.File.Path, i.Path); of != nil {
				have.Types[name] = of
			} else {
				have.Types[name] = nil
			}
		}
	}
}

// namedType finds a type in the imports of its file, in its package, and in java.lang.
func namedType(t *typed.Typer, m *scope.Module, _ uint32, name string) *typed.Type {
	have := t.Imports[m]
	if of, ok := have.Types[name]; ok {
		return of
	}
	if c := typed.Nearest(m.File.Path, t.Packages[m.Name][name]); c != nil {
		return &typed.Type{Class: c}
	}
	for _, of := range have.All {
		if c := t.Nested(of, name); c != nil && c.Class != nil {
			return c
		}
	}
	for _, pkg := range have.Packages {
		if c := typed.Nearest(m.File.Path, t.Packages[pkg][name]); c != nil {
			return &typed.Type{Class: c}
		}
		if c := t.Library[name]; c != nil && c.Pkg == pkg && c.Name == name {
			return &typed.Type{Class: c}
		}
	}
	if c := t.Library[name]; c != nil && c.Pkg == "java.lang" {
		return &typed.Type{Class: c}
	}
	switch {
	case primitives[name]:
		return typed.Primitive(name)
	case langClasses[name] || strings.HasSuffix(name, "Exception") && langExceptions[name]:
		return &typed.Type{Pkg: "java.lang", Name: name}
	case len(have.Packages) == 1 && t.Packages[have.Packages[0]] == nil && name[0] >= 'A' && name[0] <= 'Z' && len(have.All) == 0:
		// If one package outside the repository is imported with a wildcard, the type is taken to
		// be there, although a part of the file's own package may be outside the repository too.
		return &typed.Type{Pkg: have.Packages[0], Name: name}
	}
	return nil
}

var primitives = scope.WordSet("boolean byte short char int long float double void null")

// langClasses are the common classes of java.lang that are not in library, langExceptions its
// exceptions.
var langClasses = scope.WordSet(`Math System Thread Process ProcessBuilder Runtime StackTraceElement ClassLoader Package Module
StrictMath ThreadGroup InheritableThreadLocal Deprecated Override SafeVarargs FunctionalInterface SuppressWarnings
Appendable Readable StackOverflowError OutOfMemoryError LinkageError NoClassDefFoundError ExceptionInInitializerError
NoSuchMethodError NoSuchFieldError VirtualMachineError AbstractMethodError IllegalAccessError IncompatibleClassChangeError
UnsatisfiedLinkError UnsupportedClassVersionError VerifyError InternalError StackWalker ClassValue ProcessHandle`)

var langExceptions = scope.WordSet(`ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException CloneNotSupportedException
EnumConstantNotPresentException ClassNotFoundException IllegalAccessException IllegalMonitorStateException
IllegalThreadStateException InstantiationException NegativeArraySizeException NoSuchFieldException NoSuchMethodException
ReflectiveOperationException SecurityException StringIndexOutOfBoundsException TypeNotPresentException`)

// implied returns the class that enums and records extend.
func implied(t *typed.Typer, c *typed.Class) *typed.Type {
	switch {
	case c.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM:
		return &typed.Type{Class: t.Library["Enum"], Args: []*typed.Type{{Class: c}}}
	case c.Decl.HasModifier("record"):
		return &typed.Type{Class: t.Library["Record"]}
	}
	return nil
}

// complete adds the accessors of a record's components.
func complete(_ *typed.Typer, c *typed.Class) {
	if !c.Decl.HasModifier("record") {
		return
	}
	for _, p := range c.Decl.Parameters {
		f := c.Fields[p.Name]
		if f == nil || f.Decl == nil || c.Has(p.Name, 0) {
			continue
		}
		m := &typed.Method{Class: c, Decl: f.Decl, Name: p.Name, Result: f.Typ, Final: true}
		c.Methods[p.Name] = append(c.Methods[p.Name], m)
	}
}

// statics returns the types whose static members a file can use by a name.
func statics(t *typed.Typer, m *scope.Module, name string) []*typed.Type {
	have := t.Imports[m]
	return append(append([]*typed.Type(nil), have.Members[name]...), have.All...)
}

// NewResolver returns a resolver of Java.
func NewResolver() resolve.Resolver { return typed.NewResolver(&definition) }
