// Command routes measures the routes that Recount reads from small applications in the style of
// each framework's documentation (testdata, one file for each framework). Each file has two
// applications: "a", on which the code was developed, and "b", which was written at the same time
// and run only to report. "want" lists what the application serves: method, path and handler.
//
//	go -C bench run ./routes -half a
//	go -C bench run ./routes -examples DIR
//	go -C bench run ./routes -applications DIR
//
// The second form is half "c": example applications of the frameworks' own repositories, whose
// routes testdata/examples.labels lists. DIR has a clone for each, named as the framework. The third is half "d":
// real applications (testdata/applications.labels), whose clones are DIR/OWNER/NAME; a row is an application. With
// -half e it is others (testdata/applications-e.labels). Half "f" (testdata/f) was written from the frameworks'
// documentation by somebody who had not seen the code that it judges, and "g" to "l" by others.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// route is a route of an application. An unknown one shows that its prefix is not known.
type route struct {
	method, pattern string
	handlers        []string
	unknown         bool
}

// text returns the route in the form in which routes are compared: placeholders without names and
// patterns, no slash at the end, small letters. A websocket is opened by GET, and some authors write that.
func (r route) text() string {
	if r.method == "WEBSOCKET" {
		r.method = "GET"
	}
	e, ok := schemas.ParseRoute(r.method + " " + r.pattern)
	if !ok {
		return r.method + " " + r.pattern
	}
	return strings.ToLower(e.Method + " /" + strings.Join(e.Segments, "/"))
}

// score counts the routes of one framework.
type score struct{ want, right, wrong, unknown, handled int }

func main() {
	half := flag.String("half", "a", "a, b, f, g, h, i, j, k or l; with -applications d (the default) or e")
	dir := flag.String("dir", "routes/testdata", "the folder of the applications")
	detail := flag.Bool("detail", false, "list what is missing and what is wrong")
	only := flag.String("only", "", "one framework, or one repository of half d")
	clones := flag.String("examples", "", "the folder of the clones of half c")
	applications := flag.String("applications", "", "the folder of the clones of half d or e")
	flag.Parse()
	do := func() error { return run(*half, *dir, *only, *detail) }
	if *clones != "" {
		do = func() error {
			return runExamples(exampleLabels, *clones, *only, *detail, func(e example) string { return e.framework })
		}
	}
	if *applications != "" {
		labels := applicationLabels
		if *half == "e" {
			labels = moreLabels
		}
		do = func() error {
			return runExamples(labels, *applications, *only, *detail, func(e example) string { return e.repository })
		}
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(half, dir, only string, detail bool) error {
	if half >= "f" {
		dir = filepath.Join(dir, half)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	var all score
	fmt.Printf("| framework | want | right | sure and wrong | prefix unknown | handler right |\n|---|---|---|---|---|---|\n")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if only != "" && name != only {
			continue
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		app, want := map[string]string{}, []route(nil)
		for _, f := range a.Files {
			switch path, ok := strings.CutPrefix(f.Name, half+"/"); {
			case !ok:
			case path == "want":
				want = wanted(string(f.Data))
			default:
				app[path] = string(f.Data)
			}
		}
		got, err := routesOf(app)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		s, problems := compare(want, got)
		fmt.Printf("| %s | %d | %d | %d | %d | %d |\n", name, s.want, s.right, s.wrong, s.unknown, s.handled)
		if detail {
			for _, p := range problems {
				fmt.Println("   ", p)
			}
		}
		all.want, all.right, all.wrong = all.want+s.want, all.right+s.right, all.wrong+s.wrong
		all.unknown, all.handled = all.unknown+s.unknown, all.handled+s.handled
	}
	fmt.Printf("| all | %d | %d (%.1f %%) | %d | %d | %d |\n", all.want, all.right, 100*float64(all.right)/float64(max(all.want, 1)), all.wrong, all.unknown, all.handled)
	return nil
}

// wanted reads lines of method, path and handler.
func wanted(text string) (all []route) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 3 {
			all = append(all, route{method: f[0], pattern: strings.Join(f[1:len(f)-1], " "), handlers: f[len(f)-1:]})
		}
	}
	return all
}

// routesOf returns the routes that Recount finds in an application.
func routesOf(app map[string]string) (all []route, err error) {
	tree := resolvetest.New(app, languages.Facts)
	edges := map[schemas.NodeKey][]string{}
	var routes []resolve.Node
	for _, r := range languages.Resolvers() {
		graphs, err := r.Resolve(context.Background(), tree, tree.Change(nil))
		if err != nil {
			return nil, err
		}
		names := map[schemas.NodeKey]*recountv1.CodeNode{}
		for _, g := range graphs {
			for _, n := range g.Nodes {
				names[n.Key] = n.Node
				if n.Node.Kind == recountv1.SymbolKind_SYMBOL_KIND_ROUTE && !n.Node.Test { // as `recount routes` lists them
					routes = append(routes, n)
				}
			}
		}
		for _, g := range graphs {
			for _, e := range g.Edges {
				if e.Kind != recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE {
					continue
				}
				from, to := e.From, e.To
				if n := names[from]; n != nil && n.Kind == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
					from, to = to, from // Go's edges begin at the route
				}
				if n := names[from]; n != nil {
					edges[to] = append(edges[to], strings.TrimPrefix(n.Owner+"."+n.Name, "."))
				}
			}
			for _, e := range g.Externals {
				if e.Kind == recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE {
					edges[e.From] = append(edges[e.From], e.Name)
				}
			}
		}
	}
	for _, n := range routes {
		method, pattern, _ := strings.Cut(n.Node.Name, " ")
		for m := range strings.SplitSeq(method, ",") {
			all = append(all, route{m, pattern, edges[n.Key], strings.HasPrefix(pattern, "…")})
		}
	}
	slices.SortFunc(all, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.method, b.method))
	})
	return all, nil
}

// compare counts the routes that were wanted and found, and those that were found and not wanted.
func compare(want, got []route) (s score, problems []string) {
	found := map[string]route{}
	for _, r := range got {
		if r.unknown {
			s.unknown++
			problems = append(problems, "unknown "+r.method+" "+r.pattern)
			continue
		}
		r.handlers = append(r.handlers, found[r.text()].handlers...)
		found[r.text()] = r
	}
	expected := map[string]bool{}
	for _, w := range want {
		s.want++
		expected[w.text()] = true
		r, ok := found[w.text()]
		if !ok {
			problems = append(problems, "missing "+w.method+" "+w.pattern)
			continue
		}
		s.right++
		if handles(r.handlers, w.handlers[0]) {
			s.handled++
		} else {
			problems = append(problems, fmt.Sprintf("handler of %s %s: %v, want %s", r.method, r.pattern, r.handlers, w.handlers[0]))
		}
	}
	for _, r := range got {
		if !r.unknown && !expected[r.text()] {
			s.wrong++
			problems = append(problems, fmt.Sprintf("wrong %s %s %v", r.method, r.pattern, r.handlers))
		}
	}
	return s, problems
}

// handles reports whether one of the handlers is the wanted one, by the last of its names or by
// its class. A handler without a name ends in "(inline)"; "-" stands for none.
func handles(handlers []string, want string) bool {
	if want == "-" {
		return len(handlers) == 0
	}
	for _, h := range handlers {
		if want == "inline" && strings.HasSuffix(h, "(inline)") || h == want || slices.Contains(strings.Split(h, "."), want) || strings.HasSuffix(h, "."+want) {
			return true
		}
	}
	return false
}
