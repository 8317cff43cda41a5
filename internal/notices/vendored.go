package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pagePackage is the package that embeds the page, with the libraries of others that VENDOR lists.
const pagePackage = "github.com/recountdb/recount/server/web"

// vendored returns the libraries of the page as modules, with their licences.
func vendored() ([]module, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pagePackage).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pagePackage, err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "assets", "vendor")
	list, err := os.ReadFile(filepath.Join(dir, "VENDOR"))
	if err != nil {
		return nil, err
	}
	var all []module
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s/VENDOR: %q: want package, version, licence, file, SHA-256", dir, line)
		}
		name, version, licence := fields[0], fields[1], fields[2]
		if slices.ContainsFunc(all, func(m module) bool { return m.Path == name }) {
			continue // another file of it
		}
		file := "LICENSE-" + path.Base(name) + ".txt"
		body, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		found := licencesOf(string(body))
		if !slices.Contains(found, licence) {
			return nil, fmt.Errorf("%s: VENDOR says %s, but %s reads like %v", name, licence, file, found)
		}
		all = append(all, module{Path: name, Version: version, Registry: "npm", Licences: found, Texts: []text{{file, string(body)}}})
	}
	return all, nil
}
