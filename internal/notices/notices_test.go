package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLicences fails if a linked module has a licence that is unknown or not allowed, and if an
// exception in the lists is no longer needed.
func TestLicences(t *testing.T) {
	all, err := linked(programs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(all); err != nil {
		t.Fatal(err)
	}
	byPath := map[string]module{}
	read := map[string]bool{}
	for _, m := range all {
		byPath[m.Path] = m
		for _, text := range m.Texts {
			read[m.Path+" "+text.Name] = true
		}
	}
	for file := range readByHand {
		if !read[file] {
			t.Errorf("readByHand: %s: no such file is linked", file)
		}
	}
	for path, file := range map[string]string{
		"std":                            "LICENSE",
		"github.com/apache/arrow-go/v18": "NOTICE.txt",
		"github.com/klauspost/compress":  "s2/LICENSE", // in a package below the root
		grammarModule:                    "tree-sitter runtime",
		"preact":                         "LICENSE-preact.txt", // of the page
	} {
		if !slices.ContainsFunc(byPath[path].Texts, func(t text) bool { return t.Name == file }) {
			t.Errorf("%s: no %s among %d texts", path, file, len(byPath[path].Texts))
		}
	}

	written := notices(all)
	for _, m := range all {
		if !bytes.Contains(written, []byte(m.Path+" "+m.Version+": ")) {
			t.Errorf("the notices do not name %s", m.Path)
		}
		for _, text := range m.Texts {
			if body := strings.Trim(strings.ReplaceAll(text.Body, "\r\n", "\n"), "\n"); !bytes.Contains(written, []byte(body)) {
				t.Errorf("the notices do not hold %s of %s", text.Name, m.Path)
			}
		}
	}
	bill, err := spdx(all, "1.2.3", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var doc spdxDocument
	if err := json.Unmarshal(bill, &doc); err != nil {
		t.Fatal(err)
	}
	if got, want := len(doc.Packages), len(all)+1; got != want {
		t.Errorf("the bill of materials has %d packages, want %d", got, want)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		m    module
		want string
	}{
		{"one that is allowed", module{Licences: []string{"MIT"}}, ""},
		{"none", module{}, "no known licence"},
		{"one that is not allowed", module{Licences: []string{"GPL"}}, "licence GPL"},
		{"a second one that is not allowed", module{Licences: []string{"BUSL-1.1", "MIT"}}, "licence BUSL-1.1"},
		{"a second file that is unknown", module{Licences: []string{"MIT"}, Unknown: []string{"LICENSE-2"}}, "LICENSE-2 has no known licence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.Path = "example.org/m"
			err := check([]module{c.m})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.m.Path)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLicencesOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"two in one file", "Apache License\n  Version 2.0, January 2004\n…\nPermission is hereby granted, free of charge, to any person\nobtaining a copy of this software", []string{"Apache-2.0", "MIT"}},
		{"in comments", "// Redistribution and use in source and binary\n// forms, with or without modification", []string{"BSD-2-Clause"}},
		{"three clauses", "Redistribution and use in source and binary forms … may be used to endorse or promote products derived", []string{"BSD-3-Clause"}},
		{"MPL names the GNU licences", "Mozilla Public License, version 2.0 … means either the GNU General Public License, Version 2.0", []string{"MPL-2.0"}},
		{"GPL", "GNU GENERAL PUBLIC LICENSE\n Version 3", []string{"GPL"}},
		{"MIT with a condition", "“Commons Clause” … Permission is hereby granted, free of charge, to any person obtaining a copy of this", []string{"Commons-Clause", "MIT"}},
		{"one of two", "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */\n\nGNU GENERAL PUBLIC LICENSE\nGNU Lesser General Public License", []string{"BSD-3-Clause"}},
		{"one of two, neither allowed", "SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1\nGNU General Public License", []string{"GPL"}},
		{"no licence", "All rights reserved.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, licencesOf(c.text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
