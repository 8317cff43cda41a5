package recount

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	quoted  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinks checks that every link of a Markdown file to another file of the repository,
// or to a heading, leads somewhere.
func TestLinks(t *testing.T) {
	root := os.DirFS(".")
	headings := map[string]map[string]bool{}
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (name == ".git" || name == "bin" || name == "dist" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		text := fenced.ReplaceAllString(string(b), "")
		headings[name] = map[string]bool{}
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			headings[name][anchor(m[1])] = true
		}
		texts[name] = quoted.ReplaceAllString(text, "")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") {
				continue // elsewhere
			}
			file, at, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := fs.Stat(root, target); err != nil {
				t.Errorf("%s: link to %s: no such file", name, m[1])
			} else if at != "" && headings[target] != nil && !headings[target][at] {
				t.Errorf("%s: link to %s: %s has no such heading", name, m[1], target)
			}
		}
	}
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	text := linked.ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}

// TestArchitectureNamesWhatIsThere finds in the repository what docs/ARCHITECTURE.md names
// below one of its folders.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:bench|cmd|configs|docs|examples|internal|languages|pipeline|processors|projections|query|schemas|server)/[a-z0-9_/*-]*(?:\\.[a-z]+)?)`")
	found := named.FindAllStringSubmatch(string(page), -1)
	if len(found) < 60 {
		t.Fatalf("docs/ARCHITECTURE.md names %d paths: want 60 at least", len(found))
	}
	for _, m := range found {
		if there, err := filepath.Glob(m[1]); err != nil || len(there) == 0 {
			t.Errorf("docs/ARCHITECTURE.md names %s, which is not there", m[1])
		}
	}
}

// TestDecisionsAreListed checks that the list of decisions has each of them, and that each has a number of its own.
func TestDecisionsAreListed(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/0*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no decisions", err)
	}
	list, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]string{}
	for _, page := range pages {
		number := filepath.Base(page)[:4]
		if other := numbers[number]; other != "" {
			t.Errorf("%s and %s have the same number", other, page)
		}
		numbers[number] = page
		if !strings.Contains(string(list), "("+filepath.Base(page)+")") {
			t.Errorf("docs/decisions/README.md does not list %s", page)
		}
	}
}
