package script

import (
	"encoding/json"
	"errors"
	"maps"
	slash "path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// The packages of a repository import each other, and themselves, by their names:
//
//	import { render } from '@shop/view/server'
//
// The package.json of such a package names its files, which often are built from sources in the repository.

// packages are those of a repository.
type packages struct {
	byFolder map[string]*packageJSON
	folders  map[string]string // by name, noFolder if several have it
}

// packageJSON is what a package.json says of the package and its files.
type packageJSON struct {
	Name, Source, Module, Main string
	Exports                    json.RawMessage
}

// readPackages reads the packages of a repository. Those of tests have no name that others import.
func readPackages(manifests []scope.Manifest) packages {
	all := packages{map[string]*packageJSON{}, map[string]string{}}
	for _, m := range manifests {
		var read packageJSON
		var other *json.UnmarshalTypeError // some tools have values of another type there
		if err := json.Unmarshal(m.Content, &read); slash.Base(m.Path) != "package.json" || err != nil && !errors.As(err, &other) {
			continue
		}
		folder := scope.DirOf(m.Path)
		all.byFolder[folder] = &read
		if strings.Contains("/"+m.Path, "/test/") || strings.Contains("/"+m.Path, "/tests/") || strings.Contains(m.Path, "fixtures/") || nodeModules[read.Name] {
			continue
		}
		if _, several := all.folders[read.Name]; several {
			folder = noFolder
		}
		all.folders[read.Name] = folder
	}
	return all
}

// noFolder stands for the folders of several packages.
const noFolder = "?"

// named returns the file that a name means if it is that of a package of the repository, or begins with it.
func (l *layout) named(name string) (place string, found bool) {
	of, sub, _ := strings.Cut(name, "/")
	if strings.HasPrefix(name, "@") {
		var own string
		own, sub, _ = strings.Cut(sub, "/")
		of += "/" + own
	}
	folder, is := l.folders[of]
	if !is || of == "" || folder == noFolder {
		return "", false
	}
	if sub == "" {
		return l.main(folder)
	}
	if place, found = l.first(folder, l.byFolder[folder].exported("./"+sub)); found {
		return place, true
	}
	if place, found = l.module(slash.Join(folder, sub)); !found {
		place, found = l.file(slash.Join(folder, "src", sub))
	}
	return place, found
}

// module returns the file of a path, which may be that of a package's folder.
func (l *layout) module(at string) (place string, found bool) {
	if at = strings.TrimPrefix(at, "."); at != "" {
		place, found = l.file(at)
	}
	if !found {
		place, found = l.main(at)
	}
	return place, found
}

// main returns the main file of the package in a folder.
func (l *layout) main(folder string) (place string, found bool) {
	p := l.byFolder[folder]
	if p == nil {
		return "", false
	}
	all := append([]string{p.Source, p.Main, p.Module}, p.exported(".")...)
	if place, found = l.first(folder, append(all, "index")); found {
		return place, true
	}
	for _, of := range all {
		if place, found = l.file(slash.Join(folder, "src", slash.Base(of))); found && of != "" {
			return place, true
		}
	}
	return l.file(slash.Join(folder, "src/index"))
}

// first returns the file of the first of some paths in a package that has one, and code in it. If none has, they are built, and it is
// the file in src from which one of them is.
func (l *layout) first(folder string, paths []string) (place string, found bool) {
	all := slices.DeleteFunc(slices.Clone(paths), func(of string) bool { return of == "" })
	for _, of := range all {
		if place, found = l.file(slash.Join(folder, of)); found && !strings.HasSuffix(place, ".d.ts") {
			return place, true
		}
	}
	for _, of := range all {
		of = slash.Clean(of)
		if place, found = l.file(slash.Join(folder, "src", of)); found {
			return place, true
		}
		if _, inside, below := strings.Cut(of, "/"); below {
			if place, found = l.file(slash.Join(folder, "src", inside)); found {
				return place, true
			}
		}
	}
	return "", false
}

// exported returns the files that a package exports under a path: ".", or one that begins with "./".
func (p *packageJSON) exported(path string) []string {
	var of map[string]json.RawMessage
	if json.Unmarshal(p.Exports, &of) != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(key string) bool { return strings.HasPrefix(key, ".") }) {
		if path == "." { // the only export, or its conditions
			return conditions(p.Exports)
		}
		return nil
	}
	if exact, ok := of[path]; ok {
		return conditions(exact)
	}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(of))) {
		star, ok := pathMapping{pattern: key}.matches(path)
		if !ok {
			continue
		}
		all := conditions(of[key])
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], "*", star)
		}
		return all
	}
	return nil
}

// conditions returns the files of an export under all conditions but those of types: that for require before that for import, which
// often is one that imports the other.
func conditions(raw json.RawMessage) (all []string) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var of map[string]json.RawMessage
	if json.Unmarshal(raw, &of) != nil {
		return nil
	}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(of))) {
		if !strings.HasPrefix(key, "types") {
			all = append(all, conditions(of[key])...)
		}
	}
	return all
}

// nodeModules are the modules of Node, which no package of the same name replaces.
var nodeModules = scope.WordSet(`assert async_hooks buffer child_process cluster console constants crypto dgram dns domain events fs http
http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls
tty url util v8 vm worker_threads zlib`)
