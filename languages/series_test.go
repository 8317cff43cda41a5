package languages

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

// FuzzSeries edits an application as people do, line by line and name by name, and resolves each commit
// as a change of the one before: the graph must have the bytes that the whole commit gives to a new resolver,
// whatever the edits broke. The seed chooses the edits.
func FuzzSeries(f *testing.F) {
	apps := editable(f)
	for i := range apps {
		if i%7 == 0 { // the rest is for fuzzing: each takes some 30 ms
			f.Add(uint16(i), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, app uint16, seed uint64) {
		e := editor{rand.New(rand.NewPCG(seed, 1))}
		first := apps[int(app)%len(apps)]
		second := e.commit(first)
		third := e.commit(second)
		trees := []*resolvetest.Tree{resolvetest.New(first, Facts), resolvetest.New(second, Facts), resolvetest.New(third, Facts), resolvetest.New(first, Facts)}
		for _, r := range resolversOf(first) {
			resolvetest.Series(t, r, trees...)
		}
		if t.Failed() {
			t.Logf("snapshots:\n%s", archive(first, second, third))
		}
	})
}

// FuzzNames gives many names of an application a few names of it, so that things are what they cannot be and mean
// themselves: its commit must be read. The seed chooses the names.
func FuzzNames(f *testing.F) {
	apps := editable(f)
	for i := range apps {
		f.Add(uint16(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, app uint16, seed uint64) {
		e := editor{rand.New(rand.NewPCG(seed, 2))}
		resolveAll(t, e.confused(apps[int(app)%len(apps)]))
	})
}

// TestUnusualGo has Go that the checker does not finish, and Go that nobody writes.
func TestUnusualGo(t *testing.T) {
	for _, source := range []string{
		"func empty() () {}\n",
		"type route missing\nvar all = []route{{path: \"/a\"}}\nfunc main() { for i, r := range all { http.HandleFunc(r.path, h); _ = i } }\n",
	} {
		resolveAll(t, map[string]string{"go.mod": "module m\n", "main.go": "package main\n\nimport \"net/http\"\n\n" + source})
	}
}

// resolveAll resolves an application by each resolver that reads one of its files.
func resolveAll(t *testing.T, app map[string]string) {
	tree := resolvetest.New(app, Facts)
	for _, r := range resolversOf(app) {
		resolvetest.Full(t, r(), tree)
	}
}

// resolversOf returns the resolvers that read a file of an application.
func resolversOf(app map[string]string) (all []func() resolve.Resolver) {
	for _, l := range registered {
		if l.Resolver != nil && slices.ContainsFunc(slices.Collect(maps.Keys(app)), func(p string) bool { return slices.Contains(l.Resolver().Languages(), NameOf(p)) }) {
			all = append(all, l.Resolver)
		}
	}
	return all
}

// TestFilesThatBreakOff cuts a file of routes in Go everywhere, as an editor saves it or a fixture has it.
func TestFilesThatBreakOff(t *testing.T) {
	const main = `package main

import "github.com/labstack/echo/v4"

const base = "/v1"

func under(p string) string { return base + p }

func main() {
	e := echo.New()
	g := e.Group(under("/admin"))
	g.GET("/main", func(c echo.Context) error { return nil })
	g.Match([]string{"GET"}, under("/x")+"/:id", h)
}

func h(c echo.Context) error { return nil }
`
	app := map[string]string{"go.mod": "module example.com/app\n", "a.go": "package main\n", "main.go": main, "z.go": "package main\n\nvar z = under(base)\n"}
	whole := resolvetest.New(app, Facts)
	for at := 0; at < len(main); at += 3 {
		resolvetest.Series(t, golang.Language.Resolver, whole, whole.With(map[string]string{"main.go": main[:at]}), whole)
		if t.Failed() {
			t.Fatalf("cut after %q", main[:at])
		}
	}
}

// editable returns the applications of testdata: contents by path.
func editable(tb testing.TB) (apps []map[string]string) {
	tb.Helper()
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		of := applicationsIn(a)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			delete(of[name], "want")
			apps = append(apps, of[name])
		}
	}
	return apps
}

// archive writes applications as a text archive, each below a folder with its number.
func archive(apps ...map[string]string) string {
	var a txtar.Archive
	for i, app := range apps {
		for _, p := range slices.Sorted(maps.Keys(app)) {
			a.Files = append(a.Files, txtar.File{Name: fmt.Sprintf("%d/%s", i, p), Data: []byte(app[p])})
		}
	}
	return string(txtar.Format(&a))
}

type editor struct{ *rand.Rand }

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// commit returns an application after one to three edits.
func (e editor) commit(app map[string]string) map[string]string {
	app = maps.Clone(app)
	for range 1 + e.IntN(3) {
		paths := slices.Sorted(maps.Keys(app))
		if len(paths) == 0 {
			break
		}
		p, other := paths[e.IntN(len(paths))], paths[e.IntN(len(paths))]
		lines := strings.SplitAfter(app[p], "\n")
		at := e.IntN(len(lines))
		switch e.IntN(7) {
		case 0: // a line goes
			app[p] = strings.Join(slices.Delete(lines, at, at+1), "")
		case 1: // a line comes from anywhere
			from := strings.SplitAfter(app[other], "\n")
			app[p] = strings.Join(slices.Insert(lines, at, from[e.IntN(len(from))]), "")
		case 2: // a name is another name, once
			app[p] = strings.Join(e.renamed(lines, at, app[other]), "")
		case 3: // a name is another name, everywhere in the application
			if names := identifier.FindAllString(app[p], -1); len(names) > 0 {
				was, is := regexp.MustCompile(`\b`+names[e.IntN(len(names))]+`\b`), names[e.IntN(len(names))]
				for q := range app {
					app[q] = was.ReplaceAllString(app[q], is)
				}
			}
		case 4: // a file goes, or is empty
			if delete(app, p); e.IntN(2) == 0 {
				app[p] = ""
			}
		case 5: // a file moves
			delete(app, p)
			app[path.Join(path.Dir(other), "moved"+path.Ext(p))] = strings.Join(lines, "")
		case 6: // a file ends early, in the middle of something
			app[p] = app[p][:e.IntN(len(app[p])+1)]
		}
	}
	return app
}

// renamed replaces a name of a line by one of another text.
func (e editor) renamed(lines []string, at int, from string) []string {
	were, names := identifier.FindAllStringIndex(lines[at], -1), identifier.FindAllString(from, -1)
	if len(were) > 0 && len(names) > 0 {
		w := were[e.IntN(len(were))]
		lines[at] = lines[at][:w[0]] + names[e.IntN(len(names))] + lines[at][w[1]:]
	}
	return lines
}

// confused returns an application in which names are replaced by a few of them.
func (e editor) confused(app map[string]string) map[string]string {
	app = maps.Clone(app)
	paths := slices.Sorted(maps.Keys(app))
	var names, few []string
	for _, p := range paths {
		names = append(names, identifier.FindAllString(app[p], -1)...)
	}
	if len(names) == 0 {
		return app
	}
	for range 1 + e.IntN(8) {
		few = append(few, names[e.IntN(len(names))])
	}
	share, everywhere := []float64{.05, .1, .2, .4}[e.IntN(4)], e.IntN(2) == 0
	is := map[string]string{}
	for _, p := range paths {
		app[p] = identifier.ReplaceAllStringFunc(app[p], func(name string) string {
			if known, ok := is[name]; ok && everywhere {
				return known
			}
			is[name] = name
			if e.Float64() < share {
				is[name] = few[e.IntN(len(few))]
			}
			return is[name]
		})
	}
	return app
}
