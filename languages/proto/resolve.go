package proto

import (
	"strings"

	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NewResolver returns the resolver of Protocol Buffers. The package of a node is the proto
// package, so that "shop.v1" and "Carts.Get" name a procedure in every repository.
//
// Types are looked up as protoc does it, from the innermost scope outwards: in the file, in what
// it imports, and in what these import publicly. An import means the file whose path ends with
// it, the nearest one if there are several.
//
// Generated code names a service differently in each language. The attribute "stubs" of a
// procedure lists these names as language:package, separated by spaces; resolve.StubPackage
// describes them.
func NewResolver() resolve.Resolver {
	return formats.New("proto/1", []string{"proto"}, linkProto)
}

// protoSnapshot is what the proto files of a snapshot declare.
type protoSnapshot struct {
	*formats.Snapshot
	// types has the messages and enums of each file by full name, as index plus 1.
	types map[*formats.File]map[string]int
	// byBase has the files by the last element of their path.
	byBase map[string][]*formats.File
	// seen caches what each file sees.
	seen map[*formats.File]visible
}

// visible are the files whose names a file sees, itself first. incomplete is set if the snapshot
// does not have all of them.
type visible struct {
	files      []*formats.File
	incomplete bool
}

func linkProto(s *formats.Snapshot) {
	p := &protoSnapshot{s, map[*formats.File]map[string]int{}, map[string][]*formats.File{}, map[*formats.File]visible{}}
	for _, f := range s.Files {
		p.byBase[formats.Base(f.Path())] = append(p.byBase[formats.Base(f.Path())], f)
		types := map[string]int{}
		for i, d := range f.Declarations {
			switch d.Kind {
			case recountv1.SymbolKind_SYMBOL_KIND_MESSAGE, recountv1.SymbolKind_SYMBOL_KIND_ENUM:
				if full := join(f.Package, f.Chain(i)); types[full] == 0 {
					types[full] = i + 1
				}
			case recountv1.SymbolKind_SYMBOL_KIND_RPC:
				f.Node(i).Attributes = stubs(f, d)
			}
		}
		p.types[f] = types
	}
	for _, f := range s.Files {
		p.imports(f)
	}
	for _, f := range s.Files {
		for _, r := range f.References {
			p.reference(f, r)
		}
		f.AddRoutes(formats.Dir(f.Path()))
	}
}

// stubs returns the attributes of a procedure, with the names in generated code.
func stubs(f *formats.File, d *recountv1.Declaration) map[string]string {
	options := map[string]string{}
	if d.Owner > 0 {
		options = f.Declarations[d.Owner-1].Attributes
	}
	out := map[string]string{}
	for k, v := range d.Attributes {
		out[k] = v
	}
	java, csharp := options["java_package"], options["csharp_namespace"]
	if java == "" {
		java = f.Package
	}
	if csharp == "" {
		csharp = pascal(f.Package)
	}
	stem := strings.TrimSuffix(formats.Base(f.Path()), ".proto")
	out["stubs"] = strings.Join([]string{
		resolve.StubPackage("csharp", csharp), resolve.StubPackage("java", java),
		resolve.StubPackage("js", f.Package), resolve.StubPackage("python", strings.NewReplacer("-", "_", ".", "_").Replace(stem)),
	}, " ")
	return out
}

// pascal returns a proto package as the C# generator writes it: foo_bar.v1 is FooBar.V1.
func pascal(pkg string) string {
	var b strings.Builder
	up := true
	for _, c := range pkg {
		switch {
		case c == '_':
			up = true
		case c == '.':
			b.WriteRune(c)
			up = true
		case up:
			b.WriteString(strings.ToUpper(string(c)))
			up = c >= '0' && c <= '9'
		default:
			b.WriteRune(c)
			up = c >= '0' && c <= '9'
		}
	}
	return b.String()
}

func join(pkg, chain string) string {
	if pkg == "" {
		return chain
	}
	return pkg + "." + chain
}

// imports makes the edges from a file to what it imports.
func (p *protoSnapshot) imports(f *formats.File) {
	for _, i := range f.Imports {
		if to := p.file(f, i.Path); to != nil {
			f.Edge(formats.Imports, 0, resolve.FileKey(to.Path()), formats.ScopeResolved, i.At)
		} else {
			f.External(formats.Imports, 0, "proto", i.Path, "", formats.Declared, i.At)
		}
	}
}

// file returns the file that an import means: of the files whose path ends with it, the one that
// shares the most of its path with the importing file.
func (p *protoSnapshot) file(from *formats.File, path string) *formats.File {
	var best *formats.File
	shared := -1
	for _, f := range p.byBase[formats.Base(path)] {
		if f.Path() != path && !strings.HasSuffix(f.Path(), "/"+path) {
			continue
		}
		if n := formats.SharedDirs(f.Path(), from.Path()); n > shared || n == shared && len(f.Path()) < len(best.Path()) {
			best, shared = f, n
		}
	}
	return best
}

// sees returns the files whose names a file sees.
func (p *protoSnapshot) sees(f *formats.File) visible {
	if known, ok := p.seen[f]; ok {
		return known
	}
	v := visible{files: []*formats.File{f}}
	have := map[*formats.File]bool{f: true}
	for i := 0; i < len(v.files); i++ {
		for _, m := range v.files[i].Imports {
			if i > 0 && !m.Export {
				continue
			}
			switch to := p.file(v.files[i], m.Path); {
			case to == nil:
				v.incomplete = true
			case !have[to]:
				have[to] = true
				v.files = append(v.files, to)
			}
		}
	}
	p.seen[f] = v
	return v
}

// reference makes the edge to the type that a field or a procedure names.
func (p *protoSnapshot) reference(f *formats.File, r *recountv1.Reference) {
	name, absolute := strings.CutPrefix(r.Path, ".")
	scope := ""
	if !absolute {
		scope = f.Package
		if r.In > 0 && int(r.In) <= len(f.Declarations) {
			scope = join(f.Package, f.Names.Owners[r.In-1])
		}
	}
	for {
		for _, seen := range p.sees(f).files {
			if i := p.types[seen][join(scope, name)]; i > 0 {
				f.Edge(formats.References, r.In, seen.Names.Keys[i-1], formats.ScopeResolved, r.At)
				return
			}
		}
		if scope == "" {
			break
		}
		if i := strings.LastIndexByte(scope, '.'); i >= 0 {
			scope = scope[:i]
		} else {
			scope = ""
		}
	}
	if pkg, chain, ok := cutPackage(name); ok && p.sees(f).incomplete {
		f.External(formats.References, r.In, "proto", pkg, chain, formats.ScopeResolved, r.At)
		return
	}
	f.Unresolved(formats.References, r.In, r.Path, r.At)
}

// cutPackage splits a full name where its types begin: they have a capital letter, packages have
// none.
func cutPackage(full string) (pkg, chain string, ok bool) {
	for at := 0; at < len(full); {
		if c := full[at]; c >= 'A' && c <= 'Z' {
			if at == 0 {
				return "", "", false
			}
			return full[:at-1], full[at:], true
		}
		i := strings.IndexByte(full[at:], '.')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return "", "", false
}
