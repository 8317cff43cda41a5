package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// nextPattern returns the path that a file serves by the rules of Next.js: app/…/route.ts serves
// the methods that it exports, pages/api/… every method by its default export.
func nextPattern(file string) (pattern string, api, ok bool) {
	parts := strings.Split(file, "/")
	last := parts[len(parts)-1]
	name, _, _ := strings.Cut(last, ".")
	from, api := -1, false
	for i, p := range parts[:len(parts)-1] {
		switch {
		case i > 1 && parts[i-1] != "src" && from >= 0:
		case p == "app" && name == "route" && from < 0:
			from = i + 1
		case p == "pages" && i+2 < len(parts) && parts[i+1] == "api" && from < 0:
			from, api = i+1, true
		}
	}
	if from < 0 {
		return "", false, false
	}
	dirs := parts[from : len(parts)-1]
	if api {
		if name = last[:strings.LastIndexByte(last, '.')]; strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".d") {
			return "", false, false
		}
		if name != "index" {
			dirs = append(dirs[:len(dirs):len(dirs)], name)
		}
	}
	var b strings.Builder
	for _, d := range dirs {
		switch {
		case strings.HasPrefix(d, "_") && !api:
			return "", false, false // a private folder
		case strings.HasPrefix(d, "(") && strings.HasSuffix(d, ")") || strings.HasPrefix(d, "@"):
			continue // a group or a slot is no part of the path
		}
		b.WriteString("/" + d)
	}
	return extract.FirstOf(b.String(), "/"), api, true
}

// nextBase reads the basePath of next.config.js.
func (j *walker) nextBase() {
	name := j.Facts.Path[strings.LastIndexByte(j.Facts.Path, '/')+1:]
	if stem, _, _ := strings.Cut(name, "."); stem != "next" || !strings.HasPrefix(name, "next.config.") {
		return
	}
	for i := range j.Nodes {
		n := extract.Ref(i)
		if j.Kind(n) != "pair" || j.propertyName(j.Field(n, "key")) != "basePath" {
			continue
		}
		value := j.Field(n, "value")
		if of := j.unlessSet(value); of != extract.None {
			value = of
		} else if j.Kind(value) != "string" {
			value = extract.None
		}
		pattern, ok := j.literal(value)
		if !ok {
			pattern = "${}"
		}
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: pattern, Framework: "next"}, n)
	}
}

// nextRoutes adds the routes of a file of Next.js, when all of the file was read: handlers are
// what it exports.
func (j *walker) nextRoutes() {
	j.nextBase()
	pattern, api, ok := nextPattern(j.Facts.Path)
	if !ok {
		return
	}
	done := map[string]bool{}
	add := func(export, handler string, in uint32, at *recountv1.Place) {
		method := export
		switch {
		case api && export == "default":
			method = "ANY"
		case api, verbs[strings.ToLower(export)] != export || done[export]:
			return
		}
		done[export] = true
		j.Facts.Routes = append(j.Facts.Routes, &recountv1.RouteFact{Method: method, Pattern: pattern, Framework: "next", Handler: handler, In: in, At: at})
	}
	for i, d := range j.Facts.Declarations {
		if d.Owner == 0 && d.Exported && !api {
			add(d.Name, "", uint32(i)+1, d.Start)
		}
	}
	for _, b := range j.Facts.Bindings {
		for _, prefix := range []string{"export.", "exports.", "module.exports."} {
			if name, ok := strings.CutPrefix(b.Target, prefix); ok && b.In == 0 {
				add(name, b.Value, 0, b.At)
			}
		}
		if b.Target == "module.exports" {
			add("default", b.Value, 0, b.At)
		}
	}
	for _, i := range j.Facts.Imports {
		for _, n := range i.Names {
			if i.Export {
				add(extract.FirstOf(n.Alias, n.Name), "", 0, i.At)
			}
		}
	}
}
