package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// notices returns the text for people: a list of all modules, then each licence text once, with the
// modules that use it.
func notices(all []module) []byte {
	var b bytes.Buffer
	b.WriteString("Recount is licensed under the Apache License 2.0 (LICENSE). Its programs are linked with\nthe following code of others, each under the licence that its authors gave it.\n\n")
	type use struct{ body, names string }
	var order []string
	texts := map[string]*use{}
	for _, m := range all {
		fmt.Fprintf(&b, "%s %s: %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
		for _, t := range m.Texts {
			body := strings.Trim(strings.ReplaceAll(t.Body, "\r\n", "\n"), "\n")
			if texts[body] == nil {
				texts[body] = &use{body: body}
				order = append(order, body)
			}
			texts[body].names += fmt.Sprintf("%s %s (%s)\n", m.Path, m.Version, t.Name)
		}
	}
	for _, body := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n", strings.Repeat("=", 80), texts[body].names, body)
	}
	return b.Bytes()
}

type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID               string    `json:"SPDXID"`
		Name             string    `json:"name"`
		Version          string    `json:"versionInfo"`
		DownloadLocation string    `json:"downloadLocation"`
		FilesAnalyzed    bool      `json:"filesAnalyzed"`
		Concluded        string    `json:"licenseConcluded"`
		Declared         string    `json:"licenseDeclared"`
		Copyright        string    `json:"copyrightText"`
		Refs             []spdxRef `json:"externalRefs"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// spdx returns the bill of materials as SPDX 2.3 in JSON.
func spdx(all []module, version string, created time.Time) ([]byte, error) {
	const root = "SPDXRef-recount"
	pkg := func(id, registry, path, version string, licences []string) spdxPackage {
		licence := strings.Join(licences, " AND ")
		return spdxPackage{
			ID: id, Name: path, Version: version, DownloadLocation: "NOASSERTION",
			Concluded: licence, Declared: licence, Copyright: "NOASSERTION",
			Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:" + cmp.Or(registry, "golang") + "/" + strings.ReplaceAll(path, "@", "%40") + "@" + strings.ReplaceAll(version, "+", "%2B")}},
		}
	}
	doc := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "recount " + version,
		Creation:      spdxCreation{created.UTC().Format(time.RFC3339), []string{"Tool: recount-internal-notices"}},
		Packages:      []spdxPackage{pkg(root, "", "github.com/recountdb/recount", version, []string{"Apache-2.0"})},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", root}},
	}
	h := sha256.New()
	for i, m := range all {
		id := fmt.Sprintf("SPDXRef-module-%d", i+1)
		doc.Packages = append(doc.Packages, pkg(id, m.Registry, m.Path, m.Version, m.Licences))
		doc.Relationships = append(doc.Relationships, spdxRelationship{root, "DEPENDS_ON", id})
		fmt.Fprintf(h, "%s %s\n", m.Path, m.Version)
	}
	// The namespace is unique for the contents, as SPDX requires, without a random number.
	doc.Namespace = fmt.Sprintf("https://github.com/recountdb/recount/spdx/%s-%x", version, h.Sum(nil)[:8])
	b, err := json.MarshalIndent(doc, "", "  ")
	return append(b, '\n'), err
}
