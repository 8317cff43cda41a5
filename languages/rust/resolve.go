package rust

import (
	slash "path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// definition describes Rust to languages/flow, with items as its rules.
//
// Modules are the tree that `mod` makes below the roots of crates, which Cargo.toml names; a name
// is looked up by its path and by uses. The type of a value follows from the declared types of
// parameters, fields and results and from how variables get their values, including type
// arguments and what Option, Result and the collections contain; arguments do not flow into
// parameters. A method is the type's own, otherwise that of its trait that has it, otherwise that
// of the type it dereferences to; of a type parameter or dyn it is the trait's, and the
// implementations may be called. A method that several traits have is not sure. Macros are not
// expanded.
//
// A call of a method on an unknown value is name_matched if only one method of the repository has
// that name. Of items for several platforms, those for Linux on amd64 have the name.
var definition = flow.Language{
	Language: scope.Language{
		Name: "rust/10", Languages: []string{"rust"}, Manifests: []string{"Cargo.toml"}, Outside: "rust",
		Builtins: "std", Builtin: prelude, MembersHidden: true,
		Layout: func(files []string, manifests []scope.Manifest) scope.Layout { return newCrates(files, manifests) },
	},
	Rules: func(e *flow.Engine) flow.Rules { return newItems(e) },
}

// crate is what Cargo builds from a root file and the modules below it.
type crate struct {
	name string // the name by which other crates know it
	dir  string // the directory of its Cargo.toml
	// deps has the crates outside the repository that it depends on, by the name that it uses for
	// them.
	deps map[string]string
}

// crates is the layout of Rust: which files are roots of crates.
type crates struct {
	files    map[string]bool
	packages []*crate
	// roots has the crates of root files, libs the root files of libraries by name.
	roots map[string]*crate
	libs  map[string]string
}

func newCrates(files []string, manifests []scope.Manifest) *crates {
	l := &crates{files: map[string]bool{}, roots: map[string]*crate{}, libs: map[string]string{}}
	for _, f := range files {
		l.files[f] = true
	}
	workspace := map[string]string{}
	for _, m := range manifests {
		t := parseTOML(m.Content)
		for name, to := range t.dependencies("workspace.dependencies") {
			workspace[name] = to
		}
	}
	for _, m := range manifests {
		t := parseTOML(m.Content)
		name := t.text("package", "name")
		if name == "" {
			continue
		}
		c := &crate{dir: scope.DirOf(m.Path), name: strings.ReplaceAll(name, "-", "_"), deps: map[string]string{}}
		for _, section := range []string{"dependencies", "dev-dependencies", "build-dependencies"} {
			for alias, to := range t.dependencies(section) {
				if to == alias && workspace[alias] != "" {
					to = workspace[alias]
				}
				c.deps[strings.ReplaceAll(alias, "-", "_")] = strings.ReplaceAll(to, "-", "_")
			}
		}
		l.packages = append(l.packages, c)
		lib := t.text("lib", "path")
		if lib == "" {
			lib = "src/lib.rs"
		}
		if file := slash.Join(c.dir, lib); l.files[file] {
			if n := t.text("lib", "name"); n != "" {
				c.name = strings.ReplaceAll(n, "-", "_")
			}
			l.roots[file] = c
			for _, known := range []string{c.name, strings.ReplaceAll(name, "-", "_")} {
				if _, taken := l.libs[known]; !taken {
					l.libs[known] = file
				}
			}
		}
		for _, path := range append(t.lists("bin", "path"), "src/main.rs", "build.rs") {
			if file := slash.Join(c.dir, path); l.files[file] {
				l.roots[file] = c
			}
		}
		for _, path := range slices.Concat(t.lists("test", "path"), t.lists("bench", "path"), t.lists("example", "path")) {
			if file := slash.Join(c.dir, path); l.files[file] {
				l.roots[file] = c
			}
		}
	}
	for _, f := range files { // files without a manifest
		if base := slash.Base(f); (base == "main.rs" || base == "lib.rs") && l.crateOf(f) == nil {
			l.roots[f] = &crate{dir: scope.DirOf(f), name: "crate", deps: map[string]string{}}
		}
	}
	for _, f := range files { // files that Cargo finds without a declaration
		dir, parent := scope.DirOf(f), scope.DirOf(scope.DirOf(f))
		for _, c := range l.packages {
			for _, sub := range []string{"src/bin", "tests", "benches", "examples"} {
				in := slash.Join(c.dir, sub)
				if l.roots[f] == nil && (dir == in || parent == in && slash.Base(f) == "main.rs") {
					l.roots[f] = c
				}
			}
		}
	}
	return l
}

// crateOf returns the crate in whose directory a file is, nil if there is none.
func (l *crates) crateOf(file string) *crate {
	var best *crate
	for _, c := range l.packages {
		if (c.dir == "" || strings.HasPrefix(file, c.dir+"/")) && (best == nil || len(c.dir) > len(best.dir)) {
			best = c
		}
	}
	return best
}

// moduleFile returns the file of a module that another file declares by `mod name;`. inline are
// the inline modules around the declaration.
func (l *crates) moduleFile(from string, root bool, inline []string, name string) (string, bool) {
	base := slash.Base(from)
	dir := scope.DirOf(from)
	if file, ok := strings.CutPrefix(name, `"`); ok { // #[path = "…"]
		file = slash.Join(append(append([]string{dir}, inline...), strings.TrimSuffix(file, `"`))...)
		return file, l.files[file]
	}
	if !root && base != "mod.rs" {
		dir = slash.Join(dir, strings.TrimSuffix(base, ".rs"))
	}
	dir = slash.Join(append([]string{dir}, inline...)...)
	for _, file := range []string{slash.Join(dir, name+".rs"), slash.Join(dir, name, "mod.rs")} {
		if l.files[file] {
			return file, true
		}
	}
	return "", false
}

// NameOf implements scope.Layout.
func (l *crates) NameOf(file string) string {
	if c := l.roots[file]; c != nil {
		return c.name
	}
	return strings.TrimSuffix(file, ".rs")
}

// PackageOf implements scope.Layout: a directory is no module.
func (l *crates) PackageOf(string) (string, bool) { return "", false }

// Resolve implements scope.Layout: paths are looked up by their names, not by files.
func (l *crates) Resolve(string, *recountv1.Import) (string, bool, bool) { return "", false, true }

// First implements scope.Layout.
func (l *crates) First(string, *recountv1.Import) (string, bool) { return "", false }

// Below implements scope.Layout.
func (l *crates) Below(string, string) (string, bool) { return "", false }

// IsTest implements scope.Layout.
func (l *crates) IsTest(file string) bool {
	name := "/" + file
	return strings.Contains(name, "/tests/") || strings.Contains(name, "/benches/") || strings.HasSuffix(name, "/tests.rs")
}

// prelude are the names that need no import.
var prelude = scope.WordSet(`Option Some None Result Ok Err Vec Box String ToString ToOwned Into From TryFrom TryInto AsRef
AsMut Default Clone Copy Send Sync Sized Drop Fn FnMut FnOnce Iterator IntoIterator Extend DoubleEndedIterator
ExactSizeIterator FromIterator PartialEq Eq PartialOrd Ord drop str bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64
i128 isize f32 f64 std core alloc proc_macro`)

// NewResolver returns a resolver of Rust.
func NewResolver() resolve.Resolver { return flow.NewResolver(&definition) }
