package scope

import (
	slash "path"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// python: a class's body is a scope of its own, and every name of a module can be
// imported.
var python = flowLanguage{
	language: language{
		name: "python/1", languages: []string{"python"}, outside: "python",
		builtins: "builtins", builtin: pythonBuiltins, receiverFirst: true,
		layout: func(files []string, _ []manifest) layout { return newPythonLayout(files) },
	},
	constructor: "__init__", stub: pythonStub, served: 3,
}

// pythonLayout says which file an import means. A directory is a root of modules
// where it holds packages (directories with __init__.py) and is none itself.
type pythonLayout struct {
	files map[string]bool // of the language
	dirs  map[string]bool // that have one of them, at any depth
	roots []string        // that hold packages, sorted
}

func newPythonLayout(files []string) *pythonLayout {
	l := &pythonLayout{files: map[string]bool{}, dirs: map[string]bool{"": true}}
	for _, f := range files {
		l.files[f] = true
		for d := dirOf(f); d != "" && !l.dirs[d]; d = dirOf(d) {
			l.dirs[d] = true
		}
	}
	for _, f := range files {
		if d := dirOf(f); l.isPackage(d) {
			l.roots = append(l.roots, l.rootOf(f))
		}
	}
	slices.Sort(l.roots)
	l.roots = slices.Compact(l.roots)
	return l
}

func (l *pythonLayout) isPackage(dir string) bool { return l.initOf(dir) != "" }

func (l *pythonLayout) initOf(dir string) string {
	for _, name := range []string{"__init__.py", "__init__.pyi"} {
		if f := slash.Join(dir, name); l.files[f] {
			return f
		}
	}
	return ""
}

// rootOf is the directory above the outermost package around a file; of a file that
// is in none, its own.
func (l *pythonLayout) rootOf(file string) string {
	root := dirOf(file)
	for dir := root; dir != ""; dir = dirOf(dir) {
		if l.isPackage(dir) {
			root = dirOf(dir)
		}
	}
	return root
}

// nameOf is the dotted name of a file's module, as its package knows it.
func (l *pythonLayout) nameOf(file string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(file, l.rootOf(file)), "/")
	name = strings.TrimSuffix(strings.TrimSuffix(name, slash.Ext(name)), "/__init__")
	return strings.ReplaceAll(name, "/", ".")
}

// find is where the module of a dotted name is below a root: a file, or the
// directory of a package; ok tells whether there is one.
func (l *pythonLayout) find(root, dotted string) (string, bool) {
	p := slash.Join(root, strings.ReplaceAll(dotted, ".", "/"))
	if l.isPackage(p) {
		return p, true
	}
	for _, ext := range []string{".py", ".pyi"} {
		if l.files[p+ext] {
			return p + ext, true
		}
	}
	return p, l.dirs[p]
}

// isBare reports whether a place is a directory without __init__.py. A name that only
// leads to one is as likely that of a package of elsewhere.
func (l *pythonLayout) isBare(place string) bool { return !l.files[place] && !l.isPackage(place) }

// absolute finds the module of an absolute import: below the importing file's root,
// below a directory around it or the src there, or, where that is a package and the
// only one, below another root of the repository.
func (l *pythonLayout) absolute(from, dotted string) (string, bool) {
	for dir := l.rootOf(from); ; dir = dirOf(dir) {
		for _, root := range []string{dir, slash.Join(dir, "src")} {
			if p, ok := l.find(root, dotted); ok {
				return p, true
			}
		}
		if dir == "" {
			break
		}
	}
	first, _, _ := strings.Cut(dotted, ".")
	found := ""
	for _, root := range l.roots {
		if l.isPackage(slash.Join(root, first)) {
			if p, ok := l.find(root, dotted); ok {
				if found != "" {
					return "", false
				}
				found = p
			}
		}
	}
	return found, found != ""
}

// relative finds the module of an import that begins with dots.
func (l *pythonLayout) relative(from, dotted string) (string, bool) {
	rest := strings.TrimLeft(dotted, ".")
	dir := dirOf(from)
	for range len(dotted) - len(rest) - 1 {
		if dir == "" {
			return "", false
		}
		dir = dirOf(dir)
	}
	if rest == "" {
		return dir, l.dirs[dir]
	}
	return l.find(dir, rest)
}

// resolve implements layout.
func (l *pythonLayout) resolve(from string, i *recountv1.Import) (place string, found, ours bool) {
	if strings.HasPrefix(i.Path, ".") {
		place, found = l.relative(from, i.Path)
		return place, found, true
	}
	place, found = l.absolute(from, i.Path)
	if found && l.isBare(place) {
		found = slices.ContainsFunc(i.Names, func(n *recountv1.ImportedName) bool {
			_, below := l.find(place, n.Name)
			return below
		})
	}
	if found {
		return place, true, true
	}
	if first, ok := l.first(from, i); ok && strings.Contains(i.Path, ".") && !l.isBare(first) {
		ours = true // a module of ours that is not there
	}
	return "", false, ours
}

// first implements layout.
func (l *pythonLayout) first(from string, i *recountv1.Import) (place string, found bool) {
	name, _, _ := strings.Cut(i.Path, ".")
	return l.absolute(from, name)
}

// below implements layout.
func (l *pythonLayout) below(dir, name string) (place string, found bool) { return l.find(dir, name) }

// packageOf implements layout.
func (l *pythonLayout) packageOf(file string) (dir string, ok bool) {
	dir = dirOf(file)
	return dir, l.initOf(dir) == file
}

// isTest implements layout, by the names that test runners take.
func (l *pythonLayout) isTest(file string) bool {
	for dir := range strings.SplitSeq(dirOf(file), "/") {
		if dir == "test" || dir == "tests" {
			return true
		}
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	return strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py") || name == "conftest.py"
}

// pythonBuiltins are the names that are there without an import.
var pythonBuiltins = wordSet(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr
classmethod compile complex delattr dict dir divmod enumerate eval exec filter float format frozenset getattr
globals hasattr hash help hex id input int isinstance issubclass iter len list locals map max memoryview min next
object oct open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum
super tuple type vars zip __import__
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError Exception ExceptionGroup
FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError
ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt
LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError
OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError
ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning
SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError
UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError`)

// NewPython makes a resolver of Python.
func NewPython() Resolver { return newFlowResolver(&python) }
