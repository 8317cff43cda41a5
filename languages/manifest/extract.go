// Package manifest extracts the files that say how the packages of a repository are named and
// found: go.mod, package.json, tsconfig.json, Cargo.toml, pyproject.toml and others.
package manifest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractors read the manifests. Their facts are the content, which resolvers read, and the name
// that it states.
var extractors = []extract.Language{
	manifest("go.mod", 1, extract.Named("go.mod"), goModName),
	manifest("go.work", 1, extract.Named("go.work"), nil),
	manifest("package.json", 1, extract.Named("package.json"), packageJSONName),
	manifest("tsconfig.json", 1, isTSConfig, nil),
	manifest("Cargo.toml", 1, extract.Named("Cargo.toml"), sectionName("package")),
	manifest("pyproject.toml", 1, extract.Named("pyproject.toml"), sectionName("project", "tool.poetry")),
	manifest("setup.cfg", 1, extract.Named("setup.cfg"), sectionName("metadata")),
	manifest("pom.xml", 1, extract.Named("pom.xml"), pomName),
}

// maxManifest is the size of the largest manifest whose content goes into the facts.
const maxManifest = 1 << 20

func manifest(name string, version int, matches func(string) bool, stated func([]byte) (string, error)) extract.Language {
	return extract.Language{Name: name, Version: version, Matches: matches, Extract: func(content []byte, facts *recountv1.FileFacts) {
		if len(content) > maxManifest {
			facts.Skipped = "large: a manifest of more than 1 MiB"
			return
		}
		facts.ContentZstd = schemas.Compress(content)
		if stated == nil {
			return
		}
		name, err := stated(content)
		if err != nil {
			extract.Partial(facts, nil, err.Error())
		}
		facts.Package = extract.Clip(strings.ToValidUTF8(name, "_"), extract.MaxName)
	}}
}

func isTSConfig(path string) bool {
	name := extract.Base(path)
	return strings.HasSuffix(name, ".json") && (strings.HasPrefix(name, "tsconfig.") || strings.HasPrefix(name, "jsconfig."))
}

func goModName(content []byte) (string, error) {
	for line := range bytes.Lines(content) {
		words := strings.Fields(string(line))
		if len(words) >= 2 && words[0] == "module" {
			return strings.Trim(words[1], "\"`"), nil
		}
	}
	return "", nil
}

func packageJSONName(content []byte) (string, error) {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(content, &p) != nil {
		return "", errors.New("not the JSON of a package.json")
	}
	return p.Name, nil
}

func pomName(content []byte) (string, error) {
	var p struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Parent   string `xml:"parent>groupId"`
	}
	if xml.Unmarshal(content, &p) != nil {
		return "", errors.New("not the XML of a pom.xml")
	}
	if p.Group == "" {
		p.Group = p.Parent
	}
	return strings.TrimSpace(p.Group) + ":" + strings.TrimSpace(p.Artifact), nil
}

// sectionName finds `name = …` in the first of the sections that has it, of a TOML
// or INI file.
func sectionName(sections ...string) func([]byte) (string, error) {
	return func(content []byte) (string, error) {
		found := map[string]string{}
		section := ""
		for line := range bytes.Lines(content) {
			l := strings.TrimSpace(string(line))
			if strings.HasPrefix(l, "[") {
				section = strings.Trim(l, "[] \t")
				continue
			}
			key, value, ok := strings.Cut(l, "=")
			if !ok || strings.TrimSpace(key) != "name" || found[section] != "" {
				continue
			}
			value = strings.TrimSpace(value)
			if q := value[:min(1, len(value))]; q == `"` || q == "'" {
				value, _, _ = strings.Cut(value[1:], q)
			} else {
				value, _, _ = strings.Cut(value, " ")
			}
			found[section] = value
		}
		for _, s := range sections {
			if found[s] != "" {
				return found[s], nil
			}
		}
		return "", nil
	}
}
