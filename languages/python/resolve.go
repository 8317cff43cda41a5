package python

import (
	slash "path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// definition describes Python to languages/flow.
var definition = flow.Language{
	Language: scope.Language{
		Name: "python/18", Languages: []string{"python"}, Outside: "python",
		Builtins: "builtins", Builtin: builtins, ReceiverFirst: true,
		Layout: func(files []string, _ []scope.Manifest) scope.Layout { return newLayout(files) },
	},
	Constructor: "__init__", Stub: stub, Served: 3, Common: common,
}

// layout finds the file that an import means. A directory is a root of modules if it contains
// packages (directories with __init__.py) and is no package itself.
type layout struct {
	files map[string]bool // files of the language
	dirs  map[string]bool // directories that contain such a file, at any depth
	roots []string        // directories that contain packages, sorted
}

func newLayout(files []string) *layout {
	l := &layout{files: map[string]bool{}, dirs: map[string]bool{"": true}}
	for _, f := range files {
		l.files[f] = true
		for d := scope.DirOf(f); d != "" && !l.dirs[d]; d = scope.DirOf(d) {
			l.dirs[d] = true
		}
	}
	for _, f := range files {
		if d := scope.DirOf(f); l.isPackage(d) {
			l.roots = append(l.roots, l.rootOf(f))
		}
	}
	slices.Sort(l.roots)
	l.roots = slices.Compact(l.roots)
	return l
}

func (l *layout) isPackage(dir string) bool { return l.initOf(dir) != "" }

func (l *layout) initOf(dir string) string {
	for _, name := range []string{"__init__.py", "__init__.pyi"} {
		if f := slash.Join(dir, name); l.files[f] {
			return f
		}
	}
	return ""
}

// rootOf returns the directory above the outermost package around a file, or, if the file is in
// no package, its own directory.
func (l *layout) rootOf(file string) string {
	root := scope.DirOf(file)
	for dir := root; dir != ""; dir = scope.DirOf(dir) {
		if l.isPackage(dir) {
			root = scope.DirOf(dir)
		}
	}
	return root
}

// NameOf returns the dotted name of a file's module in its package.
func (l *layout) NameOf(file string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(file, l.rootOf(file)), "/")
	name = strings.TrimSuffix(strings.TrimSuffix(name, slash.Ext(name)), "/__init__")
	return strings.ReplaceAll(name, "/", ".")
}

// find returns the place of a module with a dotted name below a root: a file, or the directory of
// a package; ok reports whether there is one.
func (l *layout) find(root, dotted string) (string, bool) {
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

// isBare reports whether a place is a directory without __init__.py. A name that leads only to
// such a directory is as likely that of a package outside the repository.
func (l *layout) isBare(place string) bool { return !l.files[place] && !l.isPackage(place) }

// absolute finds the module of an absolute import: below the importing file's root, below a
// directory around it or its src, or below another root of the repository, if it is a package
// there and only there.
func (l *layout) absolute(from, dotted string) (string, bool) {
	for dir := l.rootOf(from); ; dir = scope.DirOf(dir) {
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
func (l *layout) relative(from, dotted string) (string, bool) {
	rest := strings.TrimLeft(dotted, ".")
	dir := scope.DirOf(from)
	for range len(dotted) - len(rest) - 1 {
		if dir == "" {
			return "", false
		}
		dir = scope.DirOf(dir)
	}
	if rest == "" {
		return dir, l.dirs[dir]
	}
	return l.find(dir, rest)
}

// Resolve implements scope.Layout.
func (l *layout) Resolve(from string, i *recountv1.Import) (place string, found, ours bool) {
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
	if first, ok := l.First(from, i); ok && strings.Contains(i.Path, ".") && !l.isBare(first) {
		ours = true // a module that should be in the repository and is not
	}
	return "", false, ours
}

// First implements scope.Layout.
func (l *layout) First(from string, i *recountv1.Import) (place string, found bool) {
	name, _, _ := strings.Cut(i.Path, ".")
	return l.absolute(from, name)
}

// Below implements scope.Layout.
func (l *layout) Below(dir, name string) (place string, found bool) { return l.find(dir, name) }

// PackageOf implements scope.Layout.
func (l *layout) PackageOf(file string) (dir string, ok bool) {
	dir = scope.DirOf(file)
	return dir, l.initOf(dir) == file
}

// IsTest implements scope.Layout by the names that test runners look for.
func (l *layout) IsTest(file string) bool {
	for dir := range strings.SplitSeq(scope.DirOf(file), "/") {
		if dir == "test" || dir == "tests" {
			return true
		}
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	return strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py") || name == "conftest.py"
}

// builtins are the names that need no import.
var builtins = scope.WordSet(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr
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

// NewResolver returns a resolver of Python.
func NewResolver() resolve.Resolver { return flow.NewResolver(&definition) }
