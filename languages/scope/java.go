package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// java: what a name is called is declared, so that nothing need flow. See typer.
var java = typedLanguage{
	language: language{
		name: "java/1", languages: []string{"java"}, outside: "java", typed: true,
		layout: func([]string, []manifest) layout { return javaLayout{} },
	},
	library: javaLibrary, object: "Object", constructor: "<init>", iterable: "Iterable", smallPackages: true,
	names: javaNames, implied: javaImplied, complete: javaComplete, bring: javaBring, statics: javaStatics,
	rpc: javaRPC,
}

// javaLayout knows Java's files: what they hold is by their packages, not their paths.
type javaLayout struct{ byName }

// isTest implements layout, by the folders and names of Maven and Gradle.
func (javaLayout) isTest(file string) bool {
	for dir := range strings.SplitSeq(dirOf(file), "/") {
		switch dir {
		case "test", "tests", "androidTest", "integrationTest", "testFixtures":
			return true
		}
	}
	name := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".java")
	return strings.HasSuffix(name, "Test") || strings.HasSuffix(name, "Tests") || strings.HasSuffix(name, "IT")
}

// javaBring reads a file's imports.
func javaBring(t *typer, m *module) {
	have := t.imports[m]
	for _, i := range m.facts.Imports {
		switch {
		case len(i.Names) > 0:
			of := t.qualified(m.file.Path, i.Path)
			for _, n := range i.Names {
				if of == nil {
					continue
				}
				have.members[n.Name] = append(have.members[n.Name], of)
				if c := t.nested(of, n.Name); c != nil && c.class != nil {
					have.types[n.Name] = c
				}
			}
		case i.Wildcard:
			if of := t.qualified(m.file.Path, i.Path); of != nil {
				have.all = append(have.all, of)
			} else {
				have.packages = append(have.packages, i.Path)
			}
		default:
			_, name := cutLast(i.Path)
			if of := t.qualified(m.file.Path, i.Path); of != nil {
				have.types[name] = of
			} else {
				have.types[name] = nil
			}
		}
	}
}

// javaNames finds a type by the imports of its file, in its package, and in java.lang.
func javaNames(t *typer, m *module, _ uint32, name string) *typ {
	have := t.imports[m]
	if of, ok := have.types[name]; ok {
		return of
	}
	if c := nearest(m.file.Path, t.packages[m.name][name]); c != nil {
		return &typ{class: c}
	}
	for _, of := range have.all {
		if c := t.nested(of, name); c != nil && c.class != nil {
			return c
		}
	}
	for _, pkg := range have.packages {
		if c := nearest(m.file.Path, t.packages[pkg][name]); c != nil {
			return &typ{class: c}
		}
		if c := t.library[name]; c != nil && c.pkg == pkg && c.name == name {
			return &typ{class: c}
		}
	}
	if c := t.library[name]; c != nil && c.pkg == "java.lang" {
		return &typ{class: c}
	}
	switch {
	case javaPrimitives[name]:
		return primitive(name)
	case javaLang[name] || strings.HasSuffix(name, "Exception") && javaExceptions[name]:
		return &typ{pkg: "java.lang", name: name}
	case len(have.packages) == 1 && t.packages[have.packages[0]] == nil && name[0] >= 'A' && name[0] <= 'Z' && len(have.all) == 0:
		// The one package of elsewhere of which every type is imported, unless the
		// file's own package is made elsewhere too, in part.
		return &typ{pkg: have.packages[0], name: name}
	}
	return nil
}

var javaPrimitives = wordSet("boolean byte short char int long float double void null")

// javaLang are the classes of java.lang that people name, but for those of javaLibrary.
var javaLang = wordSet(`Math System Thread Process ProcessBuilder Runtime StackTraceElement ClassLoader Package Module
StrictMath ThreadGroup InheritableThreadLocal Deprecated Override SafeVarargs FunctionalInterface SuppressWarnings
Appendable Readable StackOverflowError OutOfMemoryError LinkageError NoClassDefFoundError ExceptionInInitializerError
NoSuchMethodError NoSuchFieldError VirtualMachineError AbstractMethodError IllegalAccessError IncompatibleClassChangeError
UnsatisfiedLinkError UnsupportedClassVersionError VerifyError InternalError StackWalker ClassValue ProcessHandle`)

var javaExceptions = wordSet(`ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException CloneNotSupportedException
EnumConstantNotPresentException ClassNotFoundException IllegalAccessException IllegalMonitorStateException
IllegalThreadStateException InstantiationException NegativeArraySizeException NoSuchFieldException NoSuchMethodException
ReflectiveOperationException SecurityException StringIndexOutOfBoundsException TypeNotPresentException`)

// javaImplied is the class that enums and records extend.
func javaImplied(t *typer, c *class) *typ {
	switch {
	case c.decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM:
		return &typ{class: t.library["Enum"], args: []*typ{{class: c}}}
	case c.decl.is("record"):
		return &typ{class: t.library["Record"]}
	}
	return nil
}

// javaComplete adds the methods by which a record's components are read.
func javaComplete(_ *typer, c *class) {
	if !c.decl.is("record") {
		return
	}
	for _, p := range c.decl.Parameters {
		f := c.fields[p.Name]
		if f == nil || f.decl == nil || c.has(p.Name, 0) {
			continue
		}
		m := &method{class: c, decl: f.decl, name: p.Name, result: f.typ, final: true}
		c.methods[p.Name] = append(c.methods[p.Name], m)
	}
}

// javaStatics are the types whose static members a file knows by a name.
func javaStatics(t *typer, m *module, name string) []*typ {
	have := t.imports[m]
	return append(append([]*typ(nil), have.members[name]...), have.all...)
}

// NewJava makes a resolver of Java.
func NewJava() Resolver { return newTypedResolver(&java) }
