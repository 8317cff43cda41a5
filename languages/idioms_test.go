package languages

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Each file of testdata/idioms has small applications, one a folder, in the style in which the documentation of one
// framework teaches a thing, each with the routes that it serves: method and path. A path that begins with … is one
// whose prefix cannot be known from the sources.
func TestIdiomsOfFrameworks(t *testing.T) {
	files, err := filepath.Glob("testdata/idioms/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, app := range applicationsIn(a) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				wanted := app["want"]
				delete(app, "want")
				want, got := map[string]bool{}, routesIn(t, app)
				for line := range strings.Lines(wanted) {
					want[oneForm(strings.TrimSpace(line))] = true
				}
				sameRoutes(t, got, want)
			})
		}
	}
}

// applicationsIn returns the applications of an archive, which has a folder for each: contents by path.
func applicationsIn(a *txtar.Archive) map[string]map[string]string {
	apps := map[string]map[string]string{}
	for _, f := range a.Files {
		app, path, _ := strings.Cut(f.Name, "/")
		if apps[app] == nil {
			apps[app] = map[string]string{}
		}
		apps[app][path] = string(f.Data)
	}
	return apps
}
