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

// labels has what the example applications of frameworks serve: half "c".
//
//go:embed testdata/examples.labels
var labels string

// example is an application in a folder of a clone.
type example struct {
	framework, folder string
	want              []route
	optional          map[string]bool
}

// examples reads the labels.
func examples() (all []example, err error) {
	framework := ""
	for line := range strings.Lines(labels) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "framework" && len(f) == 4:
			framework = f[1]
		case f[0] == "app" && len(f) == 2:
			all = append(all, example{framework, f[1], nil, map[string]bool{}})
		case len(f) >= 3 && len(all) > 0:
			of := &all[len(all)-1]
			r := route{method: f[0], pattern: strings.Join(f[1:len(f)-1], " "), handlers: f[len(f)-1:]}
			if r.handlers[0] == "optional" {
				of.optional[r.text()] = true
				continue
			}
			of.want = append(of.want, r)
		default:
			return nil, fmt.Errorf("testdata/examples.labels: %q", line)
		}
	}
	return all, nil
}

// runExamples scores the applications in clones below dir, which are named as the frameworks are.
func runExamples(dir, only string, detail bool) error {
	all, err := examples()
	if err != nil {
		return err
	}
	fmt.Printf("| framework | want | right | sure and wrong | prefix unknown | handler right |\n|---|---|---|---|---|---|\n")
	var whole, here score
	for i, e := range all {
		if only == "" || only == e.framework {
			app, err := filesBelow(filepath.Join(dir, e.framework, filepath.FromSlash(e.folder)))
			if err != nil {
				return err
			}
			got, err := routesOf(app)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", e.framework, e.folder, err)
			}
			kept := got[:0]
			for _, r := range got {
				if !e.optional[r.text()] {
					kept = append(kept, r)
				}
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
		if last := i+1 == len(all) || all[i+1].framework != e.framework; last && here.want > 0 {
			fmt.Printf("| %s | %d | %d | %d | %d | %d |\n", e.framework, here.want, here.right, here.wrong, here.unknown, here.handled)
			here = score{}
		}
	}
	fmt.Printf("| all | %d | %d (%.1f %%) | %d | %d | %d |\n", whole.want, whole.right, 100*float64(whole.right)/float64(max(whole.want, 1)), whole.wrong, whole.unknown, whole.handled)
	return nil
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
