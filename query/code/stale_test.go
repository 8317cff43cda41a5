package code_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

func staleLine(s code.Stale) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %.2f at %s %s", s.Finding, s.Name, s.Confidence, s.Site, s.Of))
}

func TestStale(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `a shop
-- a.toy --
package a
interface Shape
method Shape.area
struct box -> implements:Shape
method box.area -> implements:Shape.area
function main -> run
function run -> helper Old ?guess
function helper
function lonely -> lonely
function tested
function decorated -> decorates:helper
function maybe
-- b.toy --
package a
function Old
function Ancient
-- a_test.toy --
package a
test TestTested -> tested Old
`)
	m.commit(shop, "Bob", `Old is gone, helper changes
-- a.toy --
package a
interface Shape
method Shape.area
struct box -> implements:Shape
method box.area -> implements:Shape.area
function main -> run
function run -> helper Old ?guess
function helper = anew
function lonely -> lonely
function tested
function decorated -> decorates:helper
function maybe
function explain = about Old
-- b.toy --
package a
function Ancient -> somewhere.maybe
function outer -> outer
function twin
-- c_windows.toy --
package a
function twin
-- b_test.toy --
package a
test TestOuter -> helperOfTests
function helperOfTests
`)
	r, err := code.Stales(t.Context(), m.s, code.StaleRequest{MinConfidence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"gone a.run 0.50 at a.toy:7 a.Old",
		"gone a.TestTested 0.50 at a_test.toy:2 a.Old",
		"unused a.lonely 0.90 at a.toy:9",
		"unused a.explain 0.90 at a.toy:13",
		"unused a.outer 0.90 at b.toy:3",
		"unused a.tested 0.70 at a.toy:10",
		"unused a.maybe 0.30 at a.toy:12",
		"aged a.run 0.98 at a.toy:7 a.helper",
	}
	if diff := cmp.Diff(want, lines(r.Findings, staleLine)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r.Base == nil || r.Hint == "" {
		t.Errorf("the history is younger than 90 days: base %+v, hint %q", r.Base, r.Hint)
	}
	if r, err = code.Stales(t.Context(), m.s, code.StaleRequest{Kinds: []string{"unused"}, Limit: 1}); err != nil || len(r.Findings) != 1 || r.Truncated != 3 || r.Base != nil || r.Counts["unused"] != 4 {
		t.Errorf("only unused: %+v %v", r, err)
	}
	if r, err = code.Stales(t.Context(), m.s, code.StaleRequest{Since: "HEAD", Kinds: []string{"gone", "aged", "doc"}}); err != nil || r.Status != query.StatusEmpty {
		t.Errorf("since itself: %+v %v", r.Findings, err)
	}
	for _, bad := range []code.StaleRequest{{Kinds: []string{"old"}}, {Days: 3, Since: "HEAD"}, {Days: -1}, {MinConfidence: 2}} {
		var re *query.RequestError
		if _, err := code.Stales(t.Context(), m.s, bad); !errors.As(err, &re) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestNamesInDocumentation(t *testing.T) {
	got := strings.Join(code.NamesIn("Close calls Client.flush, and `close`; see [Open], run_all() and the HTTPServer. e.g. not this, or __x__"), " ")
	if want := "Client.flush close Open run_all HTTPServer e.g"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestUnusedIsSaidOfFewOnly checks what is never called unused: what something outside the
// repository may call, what anything else has the name of, and examples.
func TestUnusedIsSaidOfFewOnly(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `widgets
-- a/a.toy --
package a
struct plain
method plain.missed
struct widget -> extends:gui#Base
method widget.paint
struct button -> extends:widget
method button.press
struct marked -> decorates:gui#Component
method marked.render
function lost
function named
function ~plain
-- b/b.toy --
package b
function named
function use -> b.named use
-- examples/e.toy --
package e
function shown
`)
	r, err := code.Stales(t.Context(), m.s, code.StaleRequest{Kinds: []string{"unused"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"unused a.plain.missed 0.90 at a/a.toy:3", "unused a.lost 0.90 at a/a.toy:10", "unused b.use 0.90 at b/b.toy:3"}
	if diff := cmp.Diff(want, lines(r.Findings, staleLine)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEntryPoints(t *testing.T) {
	for name, want := range map[string]bool{"main": true, "exports": true, "GetEnumerator": true, "operator ==": true, "__enter__": true, "<clinit>": true, "operators": false, "__private": false} {
		if got := code.EntryPoint(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnusedReadsTexts checks that a function is not called unused if the content of any file names
// it or begins its name in a string, and that comments and its own declaration do not count.
func TestUnusedReadsTexts(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `names in texts
-- a/a.toy --
package a
function alone -> alone
function spoken = it says spoken
function handed
function do_quit
function cmdStop
function apply_to_all
function elsewhere
function tested
function testedAndNamed
-- a/a_test.toy --
package a
test TestThem -> tested testedAndNamed
-- b/b.toy --
package b
# "alone" and alone stand in a comment
# two words "spoken"
#if handed
#call testedAndNamed(1)
run "do_" + name, 'cmd' + name, "apply_to"
-- c/c_windows.toy --
package c
+elsewhere()
`)
	ask := func() []string {
		t.Helper()
		r, err := code.Stales(t.Context(), m.s, code.StaleRequest{Kinds: []string{"unused"}})
		if err != nil {
			t.Fatal(err)
		}
		return lines(r.Findings, staleLine)
	}
	want := []string{"unused a.alone 0.90 at a/a.toy:2", "unused a.spoken 0.90 at a/a.toy:3", "unused a.tested 0.70 at a/a.toy:9"}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	read := m.s.Contents
	m.s.Contents = func(ctx context.Context, at []schemas.Position, yield func(schemas.Position, []byte) error) error {
		return read(ctx, at, func(p schemas.Position, content []byte) error {
			if strings.Contains(string(content), "elsewhere()") {
				return nil
			}
			return yield(p, content)
		})
	}
	if all := ask(); len(all) != 0 {
		t.Errorf("with a file whose content is not known, which may name anything: %v", all)
	}
	m.s.Contents = nil
	if all := ask(); len(all) != 9 {
		t.Errorf("without the content of files: %v, want all 9", all)
	}
}
