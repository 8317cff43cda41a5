package code_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

func TestOwners(t *testing.T) {
	m := newShop(t)
	m.commit(shop, "Bob", "one\n-- pkg/kgo/conn.toy --\npackage github.com/acme/shop/pkg/kgo\nmethod conn.Write\n")
	m.commit(shop, "Bob", "two\n-- pkg/kgo/conn.toy --\npackage github.com/acme/shop/pkg/kgo\nmethod conn.Write = anew\n")
	for _, tt := range []struct{ name, subject, want string }{
		{"the last rule that matches", "pkg/kgo/conn.toy", "@acme/kafka by /pkg/ at CODEOWNERS:2; Bob <bob@example.org> 2, Ada <ada@example.org> 1"},
		{"a symbol's file", "conn.Write", "@acme/kafka by /pkg/ at CODEOWNERS:2; Bob <bob@example.org> 2, Ada <ada@example.org> 1"},
		{"what only the first matches", "cmd/main.toy", "@acme/everyone by * at CODEOWNERS:1; Ada <ada@example.org> 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: tt.subject})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(r.Owners, " ") + " by " + r.Rules[0].Pattern + " at " + r.Rules[0].Place + "; " +
				strings.Join(lines(r.Authors, func(a code.Author) string { return fmt.Sprintf("%s %d", a.Name, a.Commits) }), ", ")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "pkg/kgo/conn.toy", Scope: code.Scope{At: "HEAD~2"}})
	if err != nil || len(r.Authors) != 1 || r.Commits != 1 {
		t.Errorf("as it was two commits ago: %+v %v", r.Authors, err)
	}
}

func TestOwnerPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*", "a/b.go", true},
		{"*.js", "web/app.js", true},
		{"*.js", "web/app.jsx", false},
		{"/build/logs/", "build/logs/x/y.log", true},
		{"/build/logs/", "a/build/logs/y.log", false},
		{"docs/*", "docs/start.md", true},
		{"docs/*", "docs/build/start.md", false},
		{"apps/", "x/apps/y", true},
		{"/docs/", "docs/a", true},
		{"/scripts", "scripts/a.sh", true},
		{"**/logs", "a/b/logs/c", true},
		{"/apps/**/test", "apps/test/a", true},
		{"/apps/**/test", "apps/x/y/test/a", true},
		{"/apps/**", "apps/x/y", true},
		{"a.b", "aXb", false},
		{"internal/x", "internal/x/y.go", true},
		{"internal/x", "y/internal/x", false},
	} {
		if got := code.OwnerPatternMatches(tt.pattern, tt.path); got != tt.want {
			t.Errorf("%s matches %s: %v", tt.pattern, tt.path, got)
		}
	}
}

func TestSnapshots(t *testing.T) {
	m := newShop(t)
	second := m.commit(shop, "Bob", "second\n\nwith a body\n-- cmd/main.toy --\n")
	l, err := code.Log(t.Context(), m.s, code.LogRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(l.Snapshots, func(s code.LoggedSnapshot) string { return fmt.Sprint(s.Subject, " ", s.Changed, " ", s.NoGraph) })
	if diff := cmp.Diff([]string{"second 1 ", "a shop 6 "}, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	s, err := code.Show(t.Context(), m.s, code.ShowRequest{Scope: code.Scope{At: second[:8]}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Files.Total != 5 || s.Files.By["toy"] != 4 || s.Symbols.By["method"] != 5 || s.Edges.By["implements"] != 2 || s.Outside.Total != 2 || s.Unresolved != 1 {
		t.Errorf("holds %+v %+v %+v %+v, %d unresolved", s.Files, s.Symbols, s.Edges, s.Outside, s.Unresolved)
	}
	if s.Status != query.StatusOK || len(s.Roots) != 8 || s.Revision.Commit != second || s.Revision.Snapshot != l.Snapshots[0].Snapshot {
		t.Errorf("snapshot %+v", s.Revision)
	}
	if l, err = code.Log(t.Context(), m.s, code.LogRequest{Limit: 1}); err != nil || !l.Truncated {
		t.Errorf("cut: %+v %v", l, err)
	}
}

// TestOwnersBySection checks that a later rule without owners removes them, that GitLab's sections
// are matched separately, and that an exclusion applies to its own section.
func TestOwnersBySection(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `shop
-- CODEOWNERS --
* @acme/everyone
/free/
-- free/a.toy --
package a
function a
-- docs/a.toy --
package d
function d
`)
	owners := func(path string) string {
		r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: path})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.Owners, lines(r.Rules, func(r code.Rule) string { return r.Section + ":" + r.Pattern }))
	}
	if got := owners("free/a.toy"); got != "[] [:/free/]" {
		t.Errorf("a rule without owners: %s", got)
	}
	m.commit(shop, "Ada", `sections
-- CODEOWNERS --
* @acme/everyone
[Docs] docs/ @writers
[Docs] !docs/private/ 
[Security] docs/ @guards
-- docs/private/b.toy --
package b
function b
`)
	if got := owners("docs/a.toy"); got != "[@acme/everyone @writers @guards] [:* Docs:docs/ Security:docs/]" {
		t.Errorf("three sections: %s", got)
	}
	if got := owners("docs/private/b.toy"); got != "[@acme/everyone @guards] [:* Security:docs/]" {
		t.Errorf("an exclusion: %s", got)
	}
}

func TestGitLabPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*", "a/b.go", true},
		{"*.md", "a/b.md", true},
		{"internal/README.md", "x/internal/README.md", true},
		{"/internal/README.md", "x/internal/README.md", false},
		{"/docs/", "docs/a/b.md", true},
		{"docs/", "x/docs/a", true},
		{"/docs", "docs/a.md", false},
		{"/docs/*.md", "docs/a/b.md", false},
		{"/docs/**/*.md", "docs/a/b/c.md", true},
		{"/docs/**/*.md", "docs/c.md", true},
	} {
		if got := code.GitLabPatternMatches(tt.pattern, tt.path); got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.path, got)
		}
	}
}

// TestAuthorsOfASymbol checks that a symbol's history continues in the file it came from, and does
// not include changes of other symbols of its file.
func TestAuthorsOfASymbol(t *testing.T) {
	m := newShop(t)
	m.commit(shop, "Bob", "one\n-- pkg/kgo/conn.toy --\npackage github.com/acme/shop/pkg/kgo\nstruct conn\nmethod conn.Write = anew\nfunction helper\n")
	m.commit(shop, "Eve", "two\n-- pkg/kgo/conn.toy --\n-- pkg/kgo/wire.toy --\npackage github.com/acme/shop/pkg/kgo\nstruct conn\nmethod conn.Write = anew\nfunction helper\n")
	m.commit(shop, "Bob", "three\n-- pkg/kgo/wire.toy --\npackage github.com/acme/shop/pkg/kgo\n\n\nstruct conn\nmethod conn.Write = thrice\nfunction helper\n")
	say := func(s code.SymbolAuthors) string {
		added := s.Since
		if s.Added != nil {
			added = s.Added.Author
		}
		return fmt.Sprintf("%s added by %s, last by %s, %d: %s", s.Name, added, s.Last.Author, s.Changes,
			strings.Join(lines(s.Authors, func(a code.Author) string { return fmt.Sprintf("%s %d", a.Name, a.Commits) }), ", "))
	}
	r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "conn.Write"})
	if err != nil || len(r.Symbols) != 1 {
		t.Fatalf("%+v %v", r.Symbols, err)
	}
	if got, want := say(r.Symbols[0]), "kgo.conn.Write added by Ada <ada@example.org>, last by Bob <bob@example.org>, 3: Bob <bob@example.org> 2, Ada <ada@example.org> 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r, err = code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "pkg/kgo/wire.toy", Symbols: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"kgo.conn added by Ada <ada@example.org>, last by Bob <bob@example.org>, 2: Bob <bob@example.org> 1, Ada <ada@example.org> 1",
		"kgo.conn.Write added by Ada <ada@example.org>, last by Bob <bob@example.org>, 3: Bob <bob@example.org> 2, Ada <ada@example.org> 1",
		"kgo.helper added by Bob <bob@example.org>, last by Bob <bob@example.org>, 1: Bob <bob@example.org> 1",
	}
	if diff := cmp.Diff(want, lines(r.Symbols, say)); diff != "" {
		t.Errorf("of a file (-want +got):\n%s", diff)
	}
}

// TestOwnersByMailmap checks that .mailmap joins the names of a person, and that a limit says what it left out.
func TestOwnersByMailmap(t *testing.T) {
	m := newShop(t)
	for i, who := range []string{"Bob", "robert", "Eve", "Mallory"} {
		m.commit(shop, who, fmt.Sprintf("%d\n-- pkg/kgo/conn.toy --\npackage github.com/acme/shop/pkg/kgo\nmethod conn.Write = v%d\n", i, i))
	}
	m.commit(shop, "Ada", `names
-- .mailmap --
# Who is who.
Bob Builder <bob@work.example> <BOB@example.org>
Bob Builder <bob@work.example> Robert <robert@example.org>
Eva <eve@example.org>
Nobody <nobody@example.org> Trudy <mallory@example.org>
`)
	r, err := code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "pkg/kgo/conn.toy"})
	want := []string{"Bob Builder <bob@work.example> 2", "Mallory <mallory@example.org> 1", "Eva <eve@example.org> 1", "Ada <ada@example.org> 1"}
	got := lines(r.Authors, func(a code.Author) string { return fmt.Sprint(a.Name, " ", a.Commits) })
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	r, err = code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "conn.Write"})
	if err != nil || len(r.Symbols) != 1 || len(r.Symbols[0].Authors) != 4 || r.Symbols[0].Authors[0].Name != want[0][:len(want[0])-2] {
		t.Errorf("authors of a symbol: %+v %v", r.Symbols, err)
	}
	r, err = code.Owners(t.Context(), m.s, code.OwnersRequest{Subject: "pkg/kgo/conn.toy", Limit: 1})
	if err != nil || len(r.Authors) != 1 || r.Truncated != 3 {
		t.Errorf("limit 1: %d authors, %d left out, %v", len(r.Authors), r.Truncated, err)
	}
}
