package main

import (
	"regexp"
	"strings"
)

// allowed lists the licences, by SPDX identifier, of modules that may be linked into a release.
// Each allows distributing a binary under Apache-2.0 if the licence's text is included; MPL-2.0
// also requires that changes to its own files are published, and Recount changes none.
var allowed = map[string]bool{
	"Apache-2.0":       true,
	"BSD-2-Clause":     true,
	"BSD-3-Clause":     true,
	"CC0-1.0":          true,
	"ISC":              true,
	"MIT":              true,
	"MPL-2.0":          true,
	"Unicode-DFS-2016": true,
	"Zlib":             true,
}

// phrases are unique texts of licences, in lower case with single spaces. In each group the first
// phrase that occurs counts.
var phrases = [][]struct{ phrase, licence string }{
	// MPL-2.0 names the GNU licences as possible others, so it comes before them.
	{{"mozilla public license, version 2.0", "MPL-2.0"}, {"mozilla public license version 2.0", "MPL-2.0"}, {"gnu affero general public license", "AGPL"}, {"gnu lesser general public license", "LGPL"}, {"gnu library general public license", "LGPL"}, {"gnu general public license", "GPL"}},
	{{"business source license", "BUSL-1.1"}},
	{{"server side public license", "SSPL-1.0"}},
	{{"commons clause", "Commons-Clause"}},
	{{"elastic license", "Elastic-2.0"}},
	{{"redpanda community license", "RCL"}},
	{{"apache license version 2.0", "Apache-2.0"}, {"apache license, version 2.0", "Apache-2.0"}},
	{{"cc0 1.0 universal", "CC0-1.0"}},
	{{"permission is hereby granted, free of charge, to any person obtaining a copy of this", "MIT"}},
	{{"permission to use, copy, modify, and/or distribute this software", "ISC"}},
	{{"this software is provided 'as-is', without any express or implied warranty", "Zlib"}},
	{{"any person obtaining a copy of the unicode data files", "Unicode-DFS-2016"}},
}

// choice matches a licence file's first line that offers one of two licences.
var choice = regexp.MustCompile(`^\W*SPDX-License-Identifier: (\S+) OR (\S+)`)

// licencesOf returns the SPDX identifiers of the licences in a text, none if no known licence is
// found. Of two that the text offers by an SPDX expression, it returns the allowed one: Recount
// takes that.
func licencesOf(text string) []string {
	if m := choice.FindStringSubmatch(text); m != nil {
		for _, licence := range m[1:] {
			if allowed[licence] {
				return []string{licence}
			}
		}
	}
	text = strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("*", " ", "//", " ", "“", "\"", "”", "\"").Replace(text))), " ")
	var found []string
	if strings.Contains(text, "redistribution and use in source and binary forms") {
		// The third clause forbids advertising with the authors' names.
		if strings.Contains(text, "endorse or promote products") {
			found = append(found, "BSD-3-Clause")
		} else {
			found = append(found, "BSD-2-Clause")
		}
	}
	for _, group := range phrases {
		for _, p := range group {
			if strings.Contains(text, p.phrase) {
				found = append(found, p.licence)
				break
			}
		}
	}
	return found
}
