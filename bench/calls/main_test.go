package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSites(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"src/a.rs":               "fn f() { g(Some(x.h::<u8>())); a::b(); (|| 1)(); }\n#[cfg(test)]\nmod tests { fn t() { g() } }\n#[test]\nfn u() { g() }\n",
		"tests/b.rs":             "fn f() { g() }",
		"node_modules/c.ts":      "f()",
		"src/c.ts":               "new A<B>(x!()); a?.b(c)[0](); (await import('x')).y()",
		"src/c.test.ts":          "f()",
		"src/main/D.java":        "class D { D() { this(1); } void f() { g(); new a.E<F>().h(); } }",
		"src/test/java/DIt.java": "class DIt { void f() { g(); } }",
		"src/E.cs":               "class E : F { E() : base(1) { g(nameof(E)); new A.B<C>().H<D>(); a?.b(c)?.d(); x[0](); new(); } }",
		"test/E.Tests/EIt.cs":    "class EIt { void F() { G(); } }",
	})
	for lang, want := range map[string][]string{
		"rust":       {"src/a.rs:1:9 g", "src/a.rs:1:18 h", "src/a.rs:1:34 b"},
		"typescript": {"src/c.ts:1:4 A", "src/c.ts:1:9 x", "src/c.ts:1:19 b", "src/c.ts:1:50 y"},
		"csharp":     {"src/E.cs:1:20 base", "src/E.cs:1:30 g", "src/E.cs:1:50 B", "src/E.cs:1:57 H", "src/E.cs:1:68 b", "src/E.cs:1:74 d"},
		"java":       {"src/main/D.java:1:16 this", "src/main/D.java:1:38 g", "src/main/D.java:1:49 E", "src/main/D.java:1:56 h"},
	} {
		all, err := languages[lang].sites(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range all {
			got = append(got, s.place()+" "+s.name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

// counted scores the labels of a directory, in labels.tsv, against its graph.
func counted(t *testing.T, dir string) (*result, *graph) {
	t.Helper()
	labels, err := readLabels(filepath.Join(dir, "labels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := graphOf(dir, labels)
	if err != nil {
		t.Fatal(err)
	}
	r := &result{sites: map[string]int{}}
	for _, l := range labels {
		r.count(g, l, false)
	}
	return r, g
}

func TestCount(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.ts":       "import { f } from './b'\nfunction g() { f(); h(); JSON.parse('') }\nfunction h() {}\n",
		"b.ts":       "export function f() {}\nfunction e() {}\n",
		"labels.tsv": "r\tc\ta.ts:2:15\tf\ta\tb.ts:1 f\nr\tc\ta.ts:2:20\th\tb\tb.ts:2 e | a.ts:1 g\nr\tc\ta.ts:2:30\tparse\tb\texternal\n",
	})
	r, g := counted(t, dir)
	want := tally{right: 1, wrong: 1, found: 1, missing: 1}
	if r.calls != want || r.both != want || r.externalRight != 1 || r.externalWrong != 0 || g.dangling != 0 {
		t.Errorf("calls %v, both %v, external %d right and %d wrong, %d dangling", r.calls, r.both, r.externalRight, r.externalWrong, g.dangling)
	}
}

// TestLaterSites counts a call of a file, which is one node from its begin to its end, behind the sites
// that its edge keeps.
func TestLaterSites(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.ts":       strings.Repeat("f()\n", 30) + "function f() {}\nfunction g() {}\n",
		"labels.tsv": "r\tc\ta.ts:30:1\tf\tb\ta.ts:31 f\nr\tc\ta.ts:30:1\tg\tb\ta.ts:32 g\n",
	})
	r, _ := counted(t, dir)
	if want := (tally{right: 1, found: 1, missing: 1}); r.calls != want {
		t.Errorf("calls %v", r.calls)
	}
}

// TestConstructors accepts the constructor's own name and that of its class, at its own line and for sites
// that the edge does not keep. Another constructor of the class stays wrong.
func TestConstructors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"A.java": "class A {\n  int x;\n  A(int x) {}\n  A() {}\n  static A f() { return new A(1); }\n  static A g() { return new A(); }\n}\n",
		"a.py":   "class A:\n    def __init__(self): pass\n" + strings.Repeat("A()\n", 40),
		"labels.tsv": "r\tc\tA.java:5:28\tA\tb\tA.java:3 A\nr\tc\tA.java:6:28\tA\tb\tA.java:4 <init>\n" +
			"r\tc\tA.java:6:28\tA\tb\tA.java:3 A\nr\tc\ta.py:40:0\tA\tb\ta.py:2 __init__\n",
	})
	r, _ := counted(t, dir)
	if want := (tally{right: 3, wrong: 1, found: 3, missing: 1}); r.calls != want {
		t.Errorf("calls %v", r.calls)
	}
}
