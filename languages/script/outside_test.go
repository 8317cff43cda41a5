package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

const extended = `
-- request.js --
function patch(Request) {
    Request.prototype.getUrl = function getUrl() { return this.url }
    Request.prototype.getPath = function getPath() { return this.getUrl() }
    Request.prototype.set = function set() { var self = this; self.set(1) }
}
module.exports = patch
-- server.js --
var http = require('http')
var $ = require('jquery')
require('./request')(http.IncomingMessage)
function tooltip() {}
$.tooltip = tooltip
function show() { $.tooltip(); $.other() }
-- test/mock.js --
var http = require('http')
http.getAgentOf = function () {}
-- agent.js --
var http = require('http')
function ask() { http.getAgentOf() }
`

func TestMembersOfObjectsOfOtherPackages(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, extended, factsOf)).Text("calls", "may_call")
	want := strings.Split(strings.Trim(`
calls agent.js:ask -> javascript http getAgentOf @2:22 (external)
calls request.js:patch.getPath -> request.js:patch.getUrl @3:65 (flow 700)
may_call request.js:patch.set -> request.js:patch.set @4:67 (flow 700)
calls server.js -> request.js:patch @3:0
calls server.js:show -> server.js:tooltip @6:20
calls server.js:show -> javascript jquery other @6:33 (external)
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const madeOutside = `
-- log.js --
const debug = require('debug')('x')
const { promisify } = require('util')
const stat = promisify(own)
const load = memoize((id) => own(id))
const made = build()
function memoize(fn) { return fn.bind(null) }
const kept = require('memo')(function () { own() })
function own() {}
function build() { return ready.value }
function use() {
    const once = require('once')(own)
    debug('a'); stat(); load(1); made(); kept(); once()
}
module.exports = { debug, use }
-- errors.ts --
import { createError } from '@x/utils'
export const E_LOST = createError<[id: string]>('lost')
-- find.ts --
import * as errors from './errors.js'
export function find() { throw new errors.E_LOST(['a']) }
`

func TestWhatFunctionsOfOtherPackagesMake(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, madeOutside, factsOf)).Text("calls", "may_call", "references")
	want := strings.Split(strings.Trim(`
calls errors.ts -> javascript @x/utils createError @2:22 (external)
references find.ts:find -> errors.ts:E_LOST @2:42
calls find.ts:find -> javascript @x/utils createError() @2:42 (external)
calls log.js -> log.js:build @5:13
references log.js -> log.js:debug @14:19
references log.js -> log.js:own @3:23
references log.js -> log.js:use @14:26
calls log.js:kept -> log.js:own @7:43
calls log.js:load -> log.js:memoize @4:13
calls log.js:load -> log.js:own @4:29
calls log.js:use -> log.js:kept @12:41
calls log.js:use -> log.js:load @12:24
calls log.js:use -> log.js:made @12:33
references log.js:use -> log.js:debug @12:4
references log.js:use -> log.js:own @11:33
references log.js:use -> log.js:stat @12:16
calls log.js -> javascript debug default @1:14 (external)
calls log.js -> javascript util promisify @3:13 (external)
calls log.js:kept -> javascript memo default @7:13 (external)
calls log.js:use -> javascript debug default() @12:4 (external)
calls log.js:use -> javascript once default @11:17 (external)
calls log.js:use -> javascript once default() @12:49 (external)
calls log.js:use -> javascript util promisify() @12:16 (external)
calls log.js:memoize -> fn.bind @6:33 (unresolved)
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
