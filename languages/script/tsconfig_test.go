package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

const configured = `
-- tsconfig.base.json --
{
  // what all share
  "compilerOptions": { "paths": { "@lib/*": ["./lib/*", "./old/*"], "one": ["./lib/one.ts"], }, /* and */ },
}
-- tsconfig.json --
{ "extends": "./tsconfig.base" }
-- lib/one.ts --
export function one() {}
-- old/two.ts --
export function two() {}
-- old/one.ts --
export function one() {}
-- src/a.ts --
import { one } from "@lib/one"
import { two } from "@lib/two.js"
import { one as again } from "one"
import { three } from "@lib/three"
import { join } from "path"
one(); two(); again(); three(); join("a")
-- web/tsconfig.json --
{ "files": [], "references": [{ "path": "./tsconfig.app.json" }, { "path": "./server" }] }
-- web/tsconfig.app.json --
{ "extends": ["../tsconfig.base.json", "@tsconfig/node18"], "compilerOptions": { "baseUrl": "./src", "paths": { "*": ["gen/*"], "@/*": ["./*"], "@/deep/*": ["gen/*"] } } }
-- web/src/page.ts --
import { shown } from "@/parts/shown"
import { made } from "made"
import { kept } from "parts/kept"
import { deep } from "@/deep/made"
import { other } from "other"
shown(); made(); kept(); deep(); other()
-- web/src/parts/shown.ts --
export function shown() {}
-- web/src/parts/kept.ts --
export function kept() {}
-- web/src/gen/made.ts --
export function made() {}
export function deep() {}
`

func TestNamesOfATSConfig(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, configured, factsOf)).Text("calls", "imports")
	want := strings.Split(strings.Trim(`
imports src/a.ts -> lib/one.ts @1:20,3:29
imports src/a.ts -> old/two.ts @2:20
calls src/a.ts -> lib/one.ts:one @6:0,6:14
calls src/a.ts -> old/two.ts:two @6:7
imports src/a.ts -> javascript path @5:21 (external)
calls src/a.ts -> javascript path join @6:32 (external)
imports src/a.ts -> @lib/three @4:22 (unresolved)
calls src/a.ts -> three @6:23 (unresolved)
imports web/src/page.ts -> web/src/gen/made.ts @2:21,4:21
imports web/src/page.ts -> web/src/parts/kept.ts @3:21
imports web/src/page.ts -> web/src/parts/shown.ts @1:22
calls web/src/page.ts -> web/src/gen/made.ts:deep @6:25
calls web/src/page.ts -> web/src/gen/made.ts:made @6:9
calls web/src/page.ts -> web/src/parts/kept.ts:kept @6:17
calls web/src/page.ts -> web/src/parts/shown.ts:shown @6:0
imports web/src/page.ts -> javascript other @5:22 (external)
calls web/src/page.ts -> javascript other other @6:33 (external)
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

// TestATSConfigChanges: what it says is as much a change as what a file does.
func TestATSConfigChanges(t *testing.T) {
	trees := []*resolvetest.Tree{resolvetest.Archive(t, configured, factsOf)}
	for _, c := range []map[string]string{
		{"tsconfig.base.json": `{"compilerOptions": {"paths": {"@lib/*": ["./old/*"]}}}`},
		{"tsconfig.json": `{"extends": `},
		{"tsconfig.json": `{"extends": "./tsconfig.json", "compilerOptions": {"baseUrl": "."}}`},
	} {
		trees = append(trees, trees[len(trees)-1].With(c))
	}
	trees = append(trees, trees[len(trees)-1].With(nil, "web/tsconfig.app.json", "tsconfig.json"))
	resolvetest.Series(t, NewResolver, trees...)
}

func TestPlainJSON(t *testing.T) {
	const in = "{ \"a\": [\"x//y\\\",\", 1, ], // no\n /* ,} */ }"
	if got, want := string(plainJSON([]byte(in))), "{ \"a\": [\"x//y\\\",\", 1]}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, broken := range []string{"\"", "\"\\", "/*", "//", "/", "{\"a"} {
		plainJSON([]byte(broken))
	}
}
