package style

import (
	"testing"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(Language.Files...)

const files = `
-- css/site.scss --
@use "lib/colors" as c;
@import "base";
.card { @include box(1px); color: c.$red; width: dbl($gap); height: min(1px); border: var(--line); @extend .base; x: $gone; }
-- css/_base.scss --
$gap: 1px;
.base { --line: 1px }
@mixin box($w) { width: $w }
@function dbl($n) { @return $n * 2; }
-- css/lib/_colors.scss --
@forward "more";
-- css/lib/more.scss --
$red: red;
-- css/plain.css --
@import url("https://example.org/x.css");
a { color: var(--line) }
`

func TestEdges(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, files, `
imports css/lib/_colors.scss -> css/lib/more.scss @1:9
references css/plain.css:a -> css/_base.scss:.base.--line @2:15 (name_matched 500)
imports css/plain.css -> css https://example.org/x.css @1:8 (external)
imports css/site.scss -> css/_base.scss @2:8
imports css/site.scss -> css/lib/_colors.scss @1:5
calls css/site.scss:.card -> css/_base.scss:box @3:17
calls css/site.scss:.card -> css/_base.scss:dbl @3:49
references css/site.scss:.card -> css/_base.scss:$gap @3:53
references css/site.scss:.card -> css/_base.scss:.base.--line @3:90
references css/site.scss:.card -> css/lib/more.scss:$red @3:36
extends css/site.scss:.card -> css/_base.scss:.base @3:107
references css/site.scss:.card -> $gone @3:117 (unresolved)
`, "references", "calls", "extends", "imports")
}

func TestCommitByCommit(t *testing.T) {
	first := resolvetest.Archive(t, files, factsOf)
	second := first.With(map[string]string{"css/_base.scss": "$gone: 1px;"})
	resolvetest.Series(t, NewResolver, first, second, second.With(nil, "css/lib/more.scss"), first)
}
