package script

import (
	"encoding/json"
	slash "path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// nextFile is what Next.js serves by the place of a file.
type nextFile struct {
	pattern string
	// serves says what: "route" the methods that the file exports, "api" every method by its default export, "page" GET
	// by it.
	serves string
}

// nextMetadata has the files at the top of app/ that make a document, with the name of that document. A site map may
// be in other folders, too.
var nextMetadata = map[string]string{"sitemap": "sitemap.xml", "robots": "robots.txt", "manifest": "manifest.webmanifest"}

// nextSpecial are the files of pages/ that are no pages of their own.
var nextSpecial = scope.WordSet("_app _document _error 404 500 middleware")

// nextPattern returns the path that a file serves by the rules of Next.js: app/…/route.ts and app/…/page.tsx that of
// their folder, pages/… its own.
func nextPattern(file string) (of nextFile, ok bool) {
	parts := strings.Split(file, "/")
	last := parts[len(parts)-1]
	name, ending, _ := strings.Cut(last, ".")
	if ending = ending[strings.LastIndexByte(ending, '.')+1:]; strings.Contains(last, ".test.") || strings.Contains(last, ".spec.") || strings.Contains(last, ".d.") {
		return nextFile{}, false
	}
	from := slices.IndexFunc(parts[:len(parts)-1], func(p string) bool { return p == "app" || p == "pages" })
	if from < 0 {
		return nextFile{}, false
	}
	app := parts[from] == "app"
	dirs := slices.Clone(parts[from+1 : len(parts)-1])
	switch document := nextMetadata[name]; {
	case app && name == "route":
		of.serves = "route"
	case app && name == "page":
		of.serves = "page"
	case app && document != "" && (len(dirs) == 0 || name == "sitemap") && (ending == "ts" || ending == "js"):
		of.serves, dirs = "page", append(dirs, document)
	case app:
		return nextFile{}, false
	case len(dirs) == 0 && nextSpecial[name], name == "_middleware": // which older versions have in every folder
		return nextFile{}, false
	default:
		of.serves = "page"
		if len(dirs) > 0 && dirs[0] == "api" {
			of.serves = "api"
		}
		if name = last[:strings.LastIndexByte(last, '.')]; name != "index" {
			dirs = append(dirs, name)
		}
	}
	var b strings.Builder
	for _, d := range dirs {
		switch {
		case !app:
		case strings.HasPrefix(d, "_"), of.serves == "page" && (strings.HasPrefix(d, "@") || strings.HasPrefix(d, "(.")):
			return nextFile{}, false // a private folder, or what is shown inside of another page
		case strings.HasPrefix(d, "(") && strings.HasSuffix(d, ")") || strings.HasPrefix(d, "@"):
			continue // a group or a slot is no part of the path
		}
		b.WriteString("/" + strings.Replace(d, "%5F", "_", 1))
	}
	of.pattern = extract.FirstOf(b.String(), "/")
	return of, true
}

// nextRoots returns the folders of applications of Next.js: those of a next.config.js, and of a package.json that
// depends on it.
func nextRoots(files []string, manifests []scope.Manifest) map[string]bool {
	roots := map[string]bool{}
	for _, f := range files {
		if strings.HasPrefix(slash.Base(f), "next.config.") {
			roots[scope.DirOf(f)] = true
		}
	}
	for _, m := range manifests {
		var read struct{ Dependencies, DevDependencies map[string]string }
		if slash.Base(m.Path) == "package.json" && json.Unmarshal(m.Content, &read) == nil && read.Dependencies["next"]+read.DevDependencies["next"] != "" {
			roots[scope.DirOf(m.Path)] = true
		}
	}
	return roots
}

// Pages implements scope.Paged: the pages of Next.js are in app/ and pages/ of an application, or below its src/.
func (l *layout) Pages(file string) bool {
	for _, folder := range []string{"app", "pages"} {
		at := strings.Index("/"+file, "/"+folder+"/")
		if at < 0 {
			continue
		}
		dir := strings.TrimSuffix(file[:at], "/")
		if l.next[dir] || dir == "src" && l.next[""] || strings.HasSuffix(dir, "/src") && l.next[strings.TrimSuffix(dir, "/src")] {
			return true
		}
	}
	return false
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
	of, ok := nextPattern(j.Facts.Path)
	if !ok {
		return
	}
	byDefault := of.serves != "route"
	done := map[string]bool{}
	add := func(export, handler string, in uint32, at *recountv1.Place) {
		r := &recountv1.RouteFact{Method: export, Pattern: of.pattern, Framework: "next", Handler: handler, In: in, At: at}
		switch {
		case done[export], byDefault != (export == "default"), !byDefault && verbs[strings.ToLower(export)] != export:
			return
		case of.serves == "api":
			r.Method = "ANY"
		case of.serves == "page":
			r.Method, r.Role = "GET", scope.PageRole
		}
		done[export] = true
		j.Facts.Routes = append(j.Facts.Routes, r)
	}
	for i, d := range j.Facts.Declarations {
		if d.Owner == 0 && d.Exported && !byDefault {
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
