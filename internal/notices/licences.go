package main

import "strings"

// allowed are the licences, by their SPDX identifiers, that a module which is linked
// into a release may have. Each lets a binary be passed on under Apache-2.0 as long as
// its text comes along; MPL-2.0 also asks that changes to its own files are published,
// and Recount changes none.
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

// phrases tell licences by words that only they have, lower case, with single spaces.
// The first that a text holds counts for each group.
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

// licencesOf returns the SPDX identifiers of the licences that a text holds, none if it
// holds no licence that is known.
func licencesOf(text string) []string {
	text = strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("*", " ", "//", " ", "“", "\"", "”", "\"").Replace(text))), " ")
	var found []string
	if strings.Contains(text, "redistribution and use in source and binary forms") {
		// The third clause forbids to advertise with the authors' names.
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
