package scope

import (
	slash "path"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// script is TypeScript and JavaScript: members are named through `this`, and files see
// of each other what is exported.
var script = flowLanguage{
	language: language{
		name: "script/1", languages: []string{"typescript", "tsx", "javascript"}, manifests: []string{"tsconfig.json"}, outside: "javascript",
		builtins: "globals", builtin: scriptGlobals, membersHidden: true, exports: true,
		layout: func(files []string, manifests []manifest) layout { return newScriptLayout(files, manifests) },
	},
	constructor: "constructor", stub: scriptStub, loads: loadsDefinition,
}

type scriptLayout struct {
	files   map[string]bool
	configs map[string]*scriptConfig
}

func newScriptLayout(files []string, manifests []manifest) *scriptLayout {
	l := &scriptLayout{map[string]bool{}, scriptConfigs(manifests)}
	for _, f := range files {
		l.files[f] = true
	}
	return l
}

var scriptExtensions = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts"}

// nameOf implements layout: modules are known by their paths.
func (l *scriptLayout) nameOf(file string) string {
	return strings.TrimSuffix(file, slash.Ext(file))
}

// packageOf implements layout: a directory is no module.
func (l *scriptLayout) packageOf(string) (string, bool) { return "", false }

// resolve implements layout: relative paths, and names that a configuration gives to
// files.
func (l *scriptLayout) resolve(from string, i *recountv1.Import) (place string, found, ours bool) {
	if !strings.HasPrefix(i.Path, ".") {
		if place, found, ours = l.configured(from, i.Path); found || ours {
			return place, found, ours
		}
		// By custom "@/x", "~/x" and "#x" are names that some configuration gives to files.
		ours = strings.HasPrefix(i.Path, "@/") || strings.HasPrefix(i.Path, "~") || strings.HasPrefix(i.Path, "#") || strings.HasPrefix(i.Path, "/")
		return "", false, ours
	}
	place, found = l.file(slash.Join(dirOf(from), i.Path))
	return place, found, true
}

// file is the file of a path with the extension left out, or with that of the JavaScript
// that a TypeScript file becomes.
func (l *scriptLayout) file(p string) (place string, found bool) {
	if l.files[p] {
		return p, true
	}
	stems := []string{p, slash.Join(p, "index")}
	if ext := slash.Ext(p); ext == ".js" || ext == ".jsx" || ext == ".mjs" || ext == ".cjs" {
		stems = append([]string{strings.TrimSuffix(p, ext)}, stems...)
	}
	for _, stem := range stems {
		for _, ext := range scriptExtensions {
			if l.files[stem+ext] {
				return stem + ext, true
			}
		}
	}
	return "", false
}

// first implements layout: a path is one name.
func (l *scriptLayout) first(string, *recountv1.Import) (string, bool) { return "", false }

// below implements layout.
func (l *scriptLayout) below(string, string) (string, bool) { return "", false }

// isTest implements layout.
func (l *scriptLayout) isTest(file string) bool {
	name := "/" + file
	for _, mark := range []string{".test.", ".spec.", "/__tests__/", "/test/", "/tests/"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// scriptGlobals are the objects that engines and Node give.
var scriptGlobals = wordSet(`Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Function Intl JSON Map Math
Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError
URIError WeakMap WeakRef WeakSet Buffer URL URLSearchParams TextDecoder TextEncoder AbortController Headers
Request Response FormData Blob console process document window globalThis fetch setTimeout clearTimeout
setInterval clearInterval setImmediate queueMicrotask structuredClone parseInt parseFloat isNaN isFinite
encodeURIComponent decodeURIComponent encodeURI decodeURI`)

// NewScript makes a resolver of Script.
func NewScript() Resolver { return newFlowResolver(&script) }
