package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is third-party code that is linked into the programs or embedded in them.
type module struct {
	Path, Version string
	// Registry is where it comes from, as a package URL names it; empty for a Go module.
	Registry string
	Licences []string // SPDX identifiers, sorted
	Texts    []text
	Unknown  []string // names of licence files without a known licence
}

// text is a licence or a notice in its original wording.
type text struct{ Name, Body string }

// platforms are the platforms of releases; the linked modules differ slightly.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// licenceFile matches the names of files that hold licences and notices.
var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|copyright|notice|unlicense|patents)[-_.a-z0-9]*$`)

// mustBeKnown matches those names of licenceFile that are licences, not notices.
var mustBeKnown = regexp.MustCompile(`(?i)^(licen[sc]e|copying|unlicense)`)

// readByHand are files without a recognised licence that were reviewed by a person.
var readByHand = map[string]bool{
	"github.com/DataDog/sketches-go LICENSE-3rdparty.csv": true, // lists what its tests use
	"modernc.org/memory LICENSE-LOGO":                     true, // a picture, which is not linked
	"modernc.org/sqlite LICENSE-SQLITE":                   true, // the public domain
}

// grammars holds the licences of C code that modules include without a licence file: tree-sitter's
// runtime and grammars. A file is named after the package below grammarModule.
//
//go:embed grammars
var grammars embed.FS

const grammarModule = "github.com/smacker/go-tree-sitter"

// linked returns the modules that the packages are linked with on any platform of a release, sorted
// by path, with the texts found in the module cache.
func linked(packages ...string) ([]module, error) {
	type key struct{ path, version, root string }
	dirs := map[key]map[string]bool{} // the linked directories of each module
	var goroot, goversion string
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		list := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, packages...)...)
		list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=1")
		var stderr strings.Builder
		list.Stderr = &stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w\n%s", platform, err, stderr.String())
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("go list for %s: %w", platform, err)
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			k := key{p.Module.Path, p.Module.Version, p.Module.Dir}
			if dirs[k] == nil {
				dirs[k] = map[string]bool{}
			}
			for dir := p.Dir; len(dir) >= len(k.root); dir = filepath.Dir(dir) {
				dirs[k][dir] = true
			}
		}
	}
	env, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	goroot, goversion, _ = strings.Cut(strings.TrimSpace(string(env)), "\n")
	dirs[key{"std", goversion, goroot}] = map[string]bool{goroot: true}

	var all []module
	for k, folders := range dirs {
		m := module{Path: k.path, Version: k.version}
		for dir := range folders {
			if err := m.read(k.root, dir); err != nil {
				return nil, err
			}
		}
		// Some modules keep the licences of copied code in a directory.
		if others := filepath.Join(k.root, "licenses"); isDir(others) {
			if err := m.read(k.root, others); err != nil {
				return nil, err
			}
		}
		if k.path == grammarModule {
			if err := m.readGrammars(k.root, folders); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(m.Texts, func(a, b text) int { return strings.Compare(a.Name, b.Name) })
		for _, t := range m.Texts {
			found := licencesOf(t.Body)
			m.Licences = append(m.Licences, found...)
			if len(found) == 0 && mustBeKnown.MatchString(path.Base(t.Name)) && !readByHand[m.Path+" "+t.Name] {
				m.Unknown = append(m.Unknown, t.Name)
			}
		}
		slices.Sort(m.Licences)
		m.Licences = slices.Compact(m.Licences)
		all = append(all, m)
	}
	page, err := vendored()
	if err != nil {
		return nil, err
	}
	all = append(all, page...)
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// read adds the licences and notices in a directory of a module.
func (m *module) read(root, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		named := licenceFile.MatchString(e.Name()) || path.Base(dir) == "licenses" && strings.HasSuffix(e.Name(), ".txt")
		if !e.Type().IsRegular() || !named || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		m.Texts = append(m.Texts, text{filepath.ToSlash(name), string(b)})
	}
	return nil
}

// readGrammars adds the licences of the C code in the linked directories of grammarModule.
func (m *module) readGrammars(root string, folders map[string]bool) error {
	needed := map[string]bool{"runtime": true, "unicode": true}
	for dir := range folders {
		if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
			grammar, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			needed[grammar] = true
		}
	}
	for name := range needed {
		b, err := grammars.ReadFile(path.Join("grammars", name+".txt"))
		if err != nil {
			return fmt.Errorf("%s/%s: its C code has no licence in internal/notices/grammars: add %s.txt with the one of the grammar's repository", m.Path, name, name)
		}
		m.Texts = append(m.Texts, text{"tree-sitter " + name, string(b)})
	}
	return nil
}

// check returns an error that names each module without a licence or with one that is not allowed.
func check(all []module) error {
	var errs []error
	for _, m := range all {
		if len(m.Licences) == 0 {
			errs = append(errs, fmt.Errorf("%s %s: no known licence among %d files; if it has one that may be passed on, add its words to internal/notices/licences.go", m.Path, m.Version, len(m.Texts)))
		}
		if len(m.Licences) > 0 && len(m.Unknown) > 0 {
			errs = append(errs, fmt.Errorf("%s %s: %s has no known licence; if what it says may be passed on, add it to readByHand in internal/notices/modules.go", m.Path, m.Version, strings.Join(m.Unknown, ", ")))
		}
		for _, l := range m.Licences {
			if !allowed[l] {
				errs = append(errs, fmt.Errorf("%s %s: licence %s is not one that Recount may be linked with (internal/notices/licences.go)", m.Path, m.Version, l))
			}
		}
	}
	return errors.Join(errs...)
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}
