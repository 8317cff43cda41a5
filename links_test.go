package recount

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	codePattern    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// TestLinks follows every relative link of the tracked Markdown pages to its
// file and, where it has one, to its heading.
func TestLinks(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Fields(string(out))
	if len(pages) == 0 {
		t.Fatal("git lists no Markdown page")
	}
	for _, page := range pages {
		for _, m := range linkPattern.FindAllStringSubmatch(codePattern.ReplaceAllString(read(t, page), ""), -1) {
			link := m[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(link, "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: no such file", page, link)
				continue
			}
			if heading != "" && strings.HasSuffix(target, ".md") && !hasHeading(read(t, target), heading) {
				t.Errorf("%s: link to %s: no such heading", page, link)
			}
		}
	}
}

// TestDecisionsAreListed keeps the list of decisions complete.
func TestDecisionsAreListed(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/0*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no decisions", err)
	}
	index := read(t, "docs/decisions/README.md")
	for _, p := range pages {
		if !strings.Contains(index, "("+filepath.Base(p)+")") {
			t.Errorf("docs/decisions/README.md does not list %s", p)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hasHeading reports whether the page has a heading whose anchor, as GitHub
// makes it, is anchor: lower case, spaces as hyphens, other punctuation left out.
func hasHeading(page, anchor string) bool {
	for _, m := range headingPattern.FindAllStringSubmatch(page, -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(m[1])))
		if slug == anchor {
			return true
		}
	}
	return false
}
