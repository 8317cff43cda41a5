package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

const packaged = `
-- package.json --
{ "name": "view", "source": "src/index.js", "main": "dist/view.js", "exports": { ".": "./dist/view.js", "./hooks": { "types": "./hooks/src/index.d.ts", "import": "./hooks/dist/hooks.mjs" } } }
-- jsconfig.json --
{ "compilerOptions": { "baseUrl": ".", "paths": { "own": ["."], "own/*": ["./*"] } } }
-- src/index.js --
export function render() {}
-- src/index.d.ts --
export function render(): void
-- hooks/package.json --
{ "name": "view-hooks", "source": "src/index.js", "module": true }
-- hooks/src/index.js --
import { render } from "view"
export function useRef() { render() }
-- hooks/src/index.d.ts --
export function useRef(): void
-- test/fixtures/view/package.json --
{ "name": "view", "main": "other.js" }
-- test/fixtures/view/other.js --
export function render() {}
-- packages/core/package.json --
{ "name": "@shop/core", "main": "lib/cjs/index.js", "exports": { ".": { "types@<5": "./old.d.ts", "require": "./lib/cjs/index.js" }, "./parts/*": "./lib/parts/*.js", "./mini": { "require": "./mini/index.cjs" } } }
-- packages/core/src/index.ts --
export function open() {}
-- packages/core/src/parts/door.ts --
export function close() {}
-- packages/core/src/mini/index.ts --
export function small() {}
-- packages/core/old.d.ts --
export function open(): void
-- packages/core/src/more.ts --
export function more() {}
-- packages/one/package.json --
{ "name": "twice" }
-- packages/one/index.js --
export function twice() {}
-- packages/two/package.json --
{ "name": "twice" }
-- packages/two/index.js --
export function twice() {}
-- packages/fs/package.json --
{ "name": "fs" }
-- packages/fs/index.js --
export function stat() {}
-- packages/broker/package.json --
{ "name": "broker", "exports": { ".": { "import": "./index.mjs", "require": "./index.js" } } }
-- packages/broker/index.js --
exports.start = function () {}
-- packages/broker/index.mjs --
import of from "./index.js"
export const start = of.start
-- use.js --
import { start } from "broker"; import { small } from "@shop/core/mini"
import { render } from "own"
import { useRef } from "view/hooks"
import { useRef as again } from "own/hooks"
import { open } from "@shop/core"
import { close } from "@shop/core/parts/door"
import { more } from "@shop/core/more"
import { twice } from "twice"
import { stat } from "fs"
render(); useRef(); again(); open(); close(); more(); twice(); stat(); start(); small()
`

func TestPackagesOfARepository(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, packaged, factsOf)).Text("calls")
	want := strings.Split(strings.Trim(`
calls hooks/src/index.js:useRef -> src/index.js:render @2:27
calls use.js -> hooks/src/index.js:useRef @10:10,10:20
calls use.js -> packages/broker/index.js:start @10:71
calls use.js -> packages/core/src/index.ts:open @10:29
calls use.js -> packages/core/src/mini/index.ts:small @10:80
calls use.js -> packages/core/src/more.ts:more @10:46
calls use.js -> packages/core/src/parts/door.ts:close @10:37
calls use.js -> src/index.js:render @10:0
calls use.js -> javascript fs stat @10:63 (external)
calls use.js -> javascript twice twice @10:54 (external)
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const shown = `
-- lib/help.js --
export class Help { titleOf() {} show(item) { this.titleOf(); item.paintAll() } }
-- examples/own.js --
import { Help } from '../lib/help.js'
class MyHelp extends Help { titleOf() {} paintAll() {} }
function use(item) { new MyHelp().titleOf(); item.paintAll() }
`

func TestExamplesAreNotCalledByWhatTheyShow(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, shown, factsOf)).Text("calls", "may_call")
	want := strings.Split(strings.Trim(`
calls examples/own.js:use -> examples/own.js:MyHelp @3:25
calls examples/own.js:use -> examples/own.js:MyHelp.paintAll @3:50 (name_matched 500)
calls examples/own.js:use -> examples/own.js:MyHelp.titleOf @3:34
calls lib/help.js:Help.show -> lib/help.js:Help.titleOf @1:51
calls lib/help.js:Help.show -> item.paintAll @1:67 (unresolved)
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
