package script

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// definition describes TypeScript and JavaScript to languages/flow: members are named through
// `this`, and files see what other files export.
var definition = flow.Language{
	Language: scope.Language{
		Name: "script/38", Languages: []string{"typescript", "tsx", "javascript"}, Manifests: []string{"tsconfig.json", "package.json"}, Outside: "javascript",
		Builtins: "globals", Builtin: globals, MembersHidden: true, Exports: true,
		Layout: func(files []string, manifests []scope.Manifest) scope.Layout { return newLayout(files, manifests) },
	},
	Constructor: "constructor", Stub: stub, Loads: loadsDefinition, Common: commonMethods, Typenames: typeNames,
}

type layout struct {
	files   map[string]bool
	configs map[string]*config
	next    map[string]bool // folders of applications of Next.js
	packages
}

func newLayout(files []string, manifests []scope.Manifest) *layout {
	l := &layout{map[string]bool{}, readConfigs(manifests), nextRoots(files, manifests), readPackages(manifests)}
	for _, f := range files {
		l.files[f] = true
	}
	return l
}

var extensions = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts"}

// NameOf implements scope.Layout: a module's name is its path.
func (l *layout) NameOf(file string) string {
	return strings.TrimSuffix(file, slash.Ext(file))
}

// PackageOf implements scope.Layout: a directory is no module.
func (l *layout) PackageOf(string) (string, bool) { return "", false }

// Resolve implements scope.Layout: it finds relative paths, and names that a configuration maps
// to files.
func (l *layout) Resolve(from string, i *recountv1.Import) (place string, found, ours bool) {
	if !strings.HasPrefix(i.Path, ".") {
		if place, found, ours = l.configured(from, i.Path); found || ours {
			return place, found, ours
		}
		if place, found = l.named(i.Path); found {
			return place, true, true
		}
		// By convention a configuration maps "@/x", "~/x" and "#x" to files of the repository.
		ours = strings.HasPrefix(i.Path, "@/") || strings.HasPrefix(i.Path, "~") || strings.HasPrefix(i.Path, "#") || strings.HasPrefix(i.Path, "/")
		return "", false, ours
	}
	at := slash.Join(scope.DirOf(from), i.Path)
	place, found = l.module(at)
	return place, found, true
}

// file returns the file of a path whose extension is left out, or is that of the JavaScript
// compiled from a TypeScript file.
func (l *layout) file(p string) (place string, found bool) {
	if l.files[p] {
		return p, true
	}
	stems := []string{p, slash.Join(p, "index")}
	if ext := slash.Ext(p); ext == ".js" || ext == ".jsx" || ext == ".mjs" || ext == ".cjs" {
		stems = append([]string{strings.TrimSuffix(p, ext)}, stems...)
	}
	for _, stem := range stems {
		for _, ext := range extensions {
			if l.files[stem+ext] {
				return stem + ext, true
			}
		}
	}
	return "", false
}

// First implements scope.Layout: an import's path is one name.
func (l *layout) First(string, *recountv1.Import) (string, bool) { return "", false }

// Below implements scope.Layout.
func (l *layout) Below(string, string) (string, bool) { return "", false }

// IsTest implements scope.Layout.
func (l *layout) IsTest(file string) bool {
	name := "/" + file
	for _, mark := range []string{".test.", ".spec.", "/__tests__/", "/test/", "/tests/"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// globals are the global objects of JavaScript engines and Node.
var globals = scope.WordSet(`Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Function Intl JSON Map Math
Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError
URIError WeakMap WeakRef WeakSet Buffer URL URLSearchParams TextDecoder TextEncoder AbortController Headers
Request Response FormData Blob console process document window globalThis fetch setTimeout clearTimeout
setInterval clearInterval setImmediate queueMicrotask structuredClone parseInt parseFloat isNaN isFinite
encodeURIComponent decodeURIComponent encodeURI decodeURI`)

// NewResolver returns a resolver of TypeScript and JavaScript.
func NewResolver() resolve.Resolver { return flow.NewResolver(&definition) }
