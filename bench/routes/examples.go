package main

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/languages"
)

// exampleLabels has what the example applications of frameworks serve: half "c". applicationLabels and moreLabels
// have what real applications serve: halves "d" and "e".
//
//go:embed testdata/examples.labels
var exampleLabels string

//go:embed testdata/applications.labels
var applicationLabels string

//go:embed testdata/applications-e.labels
var moreLabels string

// example is an application in a folder of a clone.
type example struct {
	framework, repository, folder string
	want                          []route
	optional                      map[string]bool
}

// examples reads labels.
func examples(labels string) (all []example, err error) {
	framework, repository := "", ""
	for line := range strings.Lines(labels) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "framework" && len(f) == 4:
			framework, repository = f[1], f[2]
		case f[0] == "app" && len(f) == 2:
			all = append(all, example{framework, repository, f[1], nil, map[string]bool{}})
		case len(f) >= 3 && len(all) > 0:
			of := &all[len(all)-1]
			r := route{method: f[0], pattern: strings.Join(f[1:len(f)-1], " "), handlers: f[len(f)-1:]}
			if r.handlers[0] == "optional" {
				of.optional[r.text()] = true
				continue
			}
			of.want = append(of.want, r)
		default:
			return nil, fmt.Errorf("labels: %q", line)
		}
	}
	return all, nil
}

// runExamples scores the applications that labels list, in clones below dir. name tells how an application's clone is
// named, which is the row that it is counted in.
func runExamples(labels, dir, only string, detail bool, name func(example) string) error {
	all, err := examples(labels)
	if err != nil {
		return err
	}
	fmt.Printf("| framework | want | right | sure and wrong | prefix unknown | handler right |\n|---|---|---|---|---|---|\n")
	var whole, here score
	for i, e := range all {
		if only == "" || only == e.framework || only == e.repository {
			app, err := filesBelow(filepath.Join(dir, filepath.FromSlash(name(e)), filepath.FromSlash(e.folder)))
			if err != nil {
				return err
			}
			got, err := routesOf(app)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", name(e), e.folder, err)
			}
			kept := got[:0]
			for _, r := range got {
				if !e.optional[r.text()] {
					kept = append(kept, r)
				}
			}
			if e.framework == "django" {
				withoutMethods(e.want, kept)
			}
			s, problems := compare(e.want, kept)
			here.add(s)
			whole.add(s)
			if detail {
				for _, p := range problems {
					fmt.Println("   ", e.folder, p)
				}
			}
		}
		if last := i+1 == len(all) || name(all[i+1]) != name(e); last && here.want > 0 {
			fmt.Printf("| %s | %d | %d | %d | %d | %d |\n", name(e), here.want, here.right, here.wrong, here.unknown, here.handled)
			here = score{}
		}
	}
	fmt.Printf("| all | %d | %d (%.1f %%) | %d | %d | %d |\n", whole.want, whole.right, 100*float64(whole.right)/float64(max(whole.want, 1)), whole.wrong, whole.unknown, whole.handled)
	return nil
}

// withoutMethods gives the routes that were found the method ANY where the labels have that: the labels of Django's
// applications list the views of its URL configurations, which tell no methods, and not what each view lets through.
func withoutMethods(want, got []route) {
	untold := map[string]bool{}
	for _, w := range want {
		untold[w.text()] = w.method == "ANY"
	}
	for i := range got {
		r := got[i]
		if r.method = "ANY"; untold[r.text()] {
			got[i] = r
		}
	}
}

func (s *score) add(o score) {
	s.want, s.right, s.wrong = s.want+o.want, s.right+o.right, s.wrong+o.wrong
	s.unknown, s.handled = s.unknown+o.unknown, s.handled+o.handled
}

// filesBelow returns the files of a folder that have a language.
func filesBelow(dir string) (map[string]string, error) {
	app := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/node_modules/") {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || languages.NameOf(filepath.ToSlash(rel)) == "" {
			return err
		}
		content, err := os.ReadFile(path)
		app[filepath.ToSlash(rel)] = string(content)
		return err
	})
	return app, err
}
