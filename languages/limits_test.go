package languages

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestHostileFiles gives every extractor what breaks parsers: it must return facts that pass
// checkFacts, or say why there are none. Without the limits of parse.go some of these run for
// minutes.
func TestHostileFiles(t *testing.T) {
	pieces := []string{
		"(", "[", "{", "'", `"`, "`${", "!", "-", "a(", "f(x,", "a=", "a<", "<a>", "()=>", "({", "\\", "@", "\x00", "\xff", "😀",
		"if x:\n", "x if y else ", "[x for x in ", "def f(a", "class A{", "not ", "lambda:", "a?b:", "async ", "a.b().", "/*", "//", "#",
	}
	const size = 8_000
	for _, l := range files {
		path := anyPath(t, l)
		t.Run(l.Name, func(t *testing.T) {
			racing.Alone(t)
			for _, piece := range pieces {
				broken := strings.Repeat(piece, size/len(piece))
				for _, content := range []string{broken, strings.ReplaceAll(broken, piece+piece+piece+piece, piece+piece+piece+"\n"+piece)} {
					checkFacts(t, factsOf(l, path, []byte(content)), []byte(content))
				}
			}
		})
	}
}

// anyPath is a path of the language, from its testdata.
func anyPath(t testing.TB, l extract.Language) string {
	t.Helper()
	for _, src := range sources(t) {
		name := strings.TrimSuffix(extract.Base(src), ".src")
		if got, ok := OfPath(name); ok && got.Name == l.Name {
			return name
		}
	}
	t.Fatalf("%s has no testdata", l.Name)
	return ""
}

func TestDeepNestingIsPartial(t *testing.T) {
	l, _ := OfPath("a.py")
	content := "def f():\n    pass\nx = " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")\\\n", 100_000) + "\ndef g():\n    pass\n"
	facts := factsOf(l, "a.py", []byte(content))
	if !facts.Partial || !strings.Contains(facts.Problem, "nested more than 1000 deep") {
		t.Errorf("partial %v, problem %q", facts.Partial, facts.Problem)
	}
	var names []string
	for _, d := range facts.Declarations {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "f x g" {
		t.Errorf("declared %q: what is not deep is lost", got)
	}
}

// TestDeepAmbiguity: freeing the parser's stack recurses once for each level.
func TestDeepAmbiguity(t *testing.T) {
	racing.Alone(t)
	l, _ := OfPath("a.ts")
	content := strings.Repeat("{a:{a:{a:\n", 100_000)
	if facts := factsOf(l, "a.ts", []byte(content)); !facts.Partial {
		t.Errorf("a broken file is not marked: %v", facts)
	}
}

func TestLargeAndMinifiedFilesAreSkipped(t *testing.T) {
	for _, c := range []struct{ path, content, skipped string }{
		{"a.py", strings.Repeat("x = 1\n", 200_000), "large: 1200000 bytes, at most 1048576 are parsed"},
		{"a.js", strings.Repeat("var x=1;", 3_000), "minified: 24000 bytes in 1 lines"},
		{"a.js", "var x = 1\n" + strings.Repeat("y = 22222222222222222222222222\n", 1000), ""},
		{"a.py", "x = '" + strings.Repeat("x", 20_000) + "'", ""},
	} {
		l, _ := OfPath(c.path)
		facts := factsOf(l, c.path, []byte(c.content))
		if facts.Skipped != c.skipped {
			t.Errorf("%s of %d bytes: skipped %q, want %q", c.path, len(c.content), facts.Skipped, c.skipped)
		}
		if (len(facts.Declarations) == 0) != (c.skipped != "") {
			t.Errorf("%s of %d bytes: %d declarations", c.path, len(c.content), len(facts.Declarations))
		}
	}
}

// TestParsersKeepNothing: what a file's facts are does not depend on the files
// before it, although C's memory is reused.
func TestParsersKeepNothing(t *testing.T) {
	racing.Alone(t)
	l, _ := OfPath("a.py")
	content := []byte(strings.Repeat("def f(a", 3000))
	first := factsOf(l, "a.py", content)
	for _, other := range []string{"x = 1\n", strings.Repeat("(", 50_000), strings.Repeat("class A{", 500)} {
		factsOf(l, "b.py", []byte(other))
		if again := factsOf(l, "a.py", content); !proto.Equal(first, again) {
			t.Fatalf("other facts after %.20q", other)
		}
	}
}

// TestTextsThatNameOthersOften has constants that name the one before 20 times, eight levels deep: written out, the
// last has 25,600,000,000 parts. It is no path, and must not take the memory or the time of one.
func TestTextsThatNameOthersOften(t *testing.T) {
	chain := func(form, join string, n int) string {
		var b strings.Builder
		for i := 1; i <= 8; i++ {
			fmt.Fprintf(&b, form, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("A%d%s", i-1, join), n), join))
		}
		return b.String()
	}
	for name, app := range map[string]map[string]string{
		"Spring":     {"C.java": "import org.springframework.web.bind.annotation.*;\n@RestController\nclass C {\n  static final String A0 = \"/x\";\n" + chain("  static final String A%d = %s;\n", " + ", 20) + "  @GetMapping(A8)\n  String g() { return null; }\n}\n"},
		"ASP.NET":    {"C.cs": "using Microsoft.AspNetCore.Mvc;\n[ApiController]\npublic class C : ControllerBase {\n  const string A0 = \"/x\";\n" + chain("  const string A%d = %s;\n", " + ", 20) + "  [HttpGet(A8)]\n  public string G() { return null; }\n}\n"},
		"chi":        {"go.mod": "module x\n", "a.go": "package main\n\nimport \"github.com/go-chi/chi/v5\"\n\nvar A0 = \"/x\"\n\n" + chain("var A%d = %s\n", " + ", 20) + "\nfunc main() { chi.NewRouter().Get(A8, nil) }\n"},
		"chi, calls": {"go.mod": "module x\n", "a.go": "package main\n\nimport \"github.com/go-chi/chi/v5\"\n\nfunc f(a ...string) string { return a[0] }\n\nfunc main() {\n\tA0 := f(\"/x\")\n" + chain("\tA%d := f(%s)\n", ", ", 150) + "\tchi.NewRouter().Get(A8, nil)\n}\n"},
		"Flask":      {"a.py": "from flask import Flask\napp = Flask(__name__)\nA0 = '/x'\n" + chain("A%d = %s\n", " + ", 20) + "@app.get(A8)\ndef g(): pass\n"},
		"Express":    {"a.js": "const app = require('express')();\nconst A0 = '/x';\n" + chain("const A%d = %s;\n", " + ", 20) + "app.get(A8, (q, r) => {});\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for route := range routesIn(t, app) {
				if len(route) > 8192 {
					t.Errorf("a route of %d bytes", len(route))
				}
			}
		})
	}
}

func FuzzExtract(f *testing.F) {
	for _, src := range sources(f) {
		f.Add(strings.TrimSuffix(extract.Base(src), ".src"), readFile(f, src))
	}
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		l, ok := OfPath(path)
		if !ok || len(content) > 64<<10 {
			return
		}
		facts := &recountv1.FileFacts{Language: l.Name}
		l.Run(content, facts)
		checkFacts(t, facts, content)
	})
}
