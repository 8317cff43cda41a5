package documents

import (
	"testing"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf returns the facts of files.
var factsOf = extract.Facts(Language.Files...)

const files = `
-- docs/guide.md --
# Guide
Call ` + "`Router.nest()`" + `, see [the router](../src/router.rs) and [the top](/README.md), [here](#guide), [there](https://example.org).
-- docs/guide.rst --
The :meth:` + "`~@Task.delay`" + ` method.
-- README.md --
Nothing.
`

func TestEdges(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, files, `
references docs/guide.md -> text /README.md @2:0 (name_matched 500) (external)
references docs/guide.md -> text /src/router.rs @2:0 (name_matched 500) (external)
references docs/guide.md -> text Router.nest() @2:0 (name_matched 500) (external)
references docs/guide.rst -> text Task.delay @1:0 (name_matched 500) (external)
`, "references")
}

func TestCommitByCommit(t *testing.T) {
	first := resolvetest.Archive(t, files, factsOf)
	second := first.With(map[string]string{"README.md": "Call `Router.merge()`."})
	resolvetest.Series(t, NewResolver, first, second, second.With(nil, "docs/guide.rst"), first)
}
