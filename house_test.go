package recount

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureHasEveryPackage finds each package of the module in the table of
// docs/ARCHITECTURE.md ("The folders"). A row names folders in its first cell: the first in full,
// the others in full, below the first or beside it. internal/render lists the folders below it in its
// second cell.
func TestArchitectureHasEveryPackage(t *testing.T) {
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n## The folders\n")
	table, _, also := strings.Cut(table, "\n## ")
	if !ok || !also {
		t.Fatal("docs/ARCHITECTURE.md has no section The folders")
	}
	quoted := regexp.MustCompile("`([a-z0-9/-]+)`")
	known := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		first := ""
		for i, cell := range cells[:min(3, len(cells))] {
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				name := strings.TrimSuffix(m[1], "/")
				switch {
				case i == 1 && first == "":
					first = name
					known[name] = true
				case i == 1:
					known[name], known[path.Join(first, name)], known[path.Join(path.Dir(first), name)] = true, true, true
				case first != "":
					known[path.Join(first, name)] = true
				}
			}
		}
	}
	packages := 0
	for _, p := range listPackages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue
		}
		if packages++; !known[name] {
			t.Errorf("docs/ARCHITECTURE.md has no row for %s", name)
		}
	}
	if packages < 150 {
		t.Errorf("%d packages: the test is stale", packages)
	}
}

// maxLines is the largest number of lines that a file may have: a longer one has two ideas.
const maxLines = 600

// TestFilesAreReadable checks the files that people write, without tests: none is too long, and the
// comment of a declaration begins with the name of what it declares.
func TestFilesAreReadable(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := 0
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, at most %d are wanted", name, lines, maxLines)
		}
		files++
		for _, d := range file.Decls {
			declared, doc := documented(d)
			words := strings.Fields(doc.Text())
			if len(words) == 0 {
				continue
			}
			if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
				words = words[1:]
			}
			if strings.TrimRight(words[0], ",.:;") != declared {
				t.Errorf("%s: the comment of %s begins with %q", positions.Position(d.Pos()), declared, words[0])
			}
		}
	}
	if files < 1000 {
		t.Errorf("%d files: the test is stale", files)
	}
}

// documented returns the name that a declaration of one thing declares, and its comment. Imports and
// groups in parentheses have no name of their own, and so no comment either.
func documented(d ast.Decl) (string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if d.Lparen.IsValid() {
			return "", nil
		}
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name, d.Doc
		case *ast.ValueSpec:
			return s.Names[0].Name, d.Doc
		}
	}
	return "", nil
}
