package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/manifest"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(slices.Concat(manifest.Language.Files, Language.Files)...)

func TestScript(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"functions, classes, this, bases, super, static and arrow members", `
-- a.ts --
class A {
  constructor() {}
  run() { this.step(); this.later(); A.make() }
  step() {}
  later = () => { this.step() }
  static make() { return new A() }
}
class B extends A {
  constructor() { super() }
  step() { super.step() }
}
class Plain {}
function run() { step(); new B().run(); new Plain() }
function step() {}
A.make().run()
`, `
calls a.ts -> a.ts:A.make @15:2
calls a.ts -> a.ts:A.run @15:9
calls a.ts:A.later -> a.ts:A.step @5:23
may_call a.ts:A.later -> a.ts:B.step @5:23 (flow 700)
calls a.ts:A.make -> a.ts:A.constructor @6:29
calls a.ts:A.run -> a.ts:A.later @3:28
calls a.ts:A.run -> a.ts:A.make @3:39
calls a.ts:A.run -> a.ts:A.step @3:15
may_call a.ts:A.run -> a.ts:B.step @3:15 (flow 700)
calls a.ts:B.constructor -> a.ts:A.constructor @9:18
overrides a.ts:B.constructor -> a.ts:A.constructor @9:2
calls a.ts:B.step -> a.ts:A.step @10:17
overrides a.ts:B.step -> a.ts:A.step @10:2
calls a.ts:run -> a.ts:A.run @13:33
calls a.ts:run -> a.ts:B.constructor @13:29
calls a.ts:run -> a.ts:Plain @13:44
calls a.ts:run -> a.ts:step @13:17
`},
		{"imports: names, default, namespaces, what is handed on, elsewhere, aliases", `
-- src/index.ts --
export { open as start } from "./door.js"
export * from "./rooms"
export * as doors from "./door"
-- src/door.ts --
export function open() {}
function hidden() {}
export default class Door { shut() {} }
-- src/rooms/index.ts --
export const enter = () => {}
-- src/main.tsx --
import Door, { open } from "./door"
import * as all from "."
import { start, enter, hidden, gone } from "./index"
import fs from "node:fs"
import { get } from "@/api"
open(); all.start(); start(); enter(); all.doors.open(); hidden(); gone()
new Door().shut()
fs.readFile("x"); get(); console.log("x")
`, `
imports src/index.ts -> src/door.ts @1:30,3:23
imports src/index.ts -> src/rooms/index.ts @2:14
imports src/main.tsx -> src/door.ts @1:27
imports src/main.tsx -> src/index.ts @2:21,3:43
calls src/main.tsx -> src/door.ts:Door @7:4
calls src/main.tsx -> src/door.ts:Door.shut @7:11
calls src/main.tsx -> src/door.ts:open @6:0,6:12,6:21,6:49
calls src/main.tsx -> src/rooms/index.ts:enter @6:30
imports src/main.tsx -> javascript fs @4:15 (external)
calls src/main.tsx -> javascript fs readFile @8:3 (external)
calls src/main.tsx -> javascript globals console.log @8:33 (external)
imports src/main.tsx -> @/api @5:20 (unresolved)
calls src/main.tsx -> get @8:18 (unresolved)
calls src/main.tsx -> gone @6:67 (unresolved)
calls src/main.tsx -> hidden @6:57 (unresolved)
`},
		{"declared types, interfaces and objects with methods", `
-- a.ts --
interface Store { get(id: string): Item }
class Item { price() {} }
class Memory implements Store { get(id: string): Item { return new Item() } }
class Cart {
  constructor(private store: Store) {}
  total() { this.store.get("a").price() }
}
const table = { one() { this.two() }, two() {} }
table.one()
function over(a: string): void
function over(a: any) {}
over("x")
`, `
calls a.ts -> a.ts:over#2 @12:0
calls a.ts -> a.ts:table.one @9:6
calls a.ts:Cart.total -> a.ts:Item.price @6:32
calls a.ts:Cart.total -> a.ts:Store.get @6:23
may_call a.ts:Cart.total -> a.ts:Memory.get @6:23 (flow 700)
implements a.ts:Memory -> a.ts:Store @3:24
calls a.ts:Memory.get -> a.ts:Item @3:67
calls a.ts:table.one -> a.ts:table.two @8:29
`},
		{"exports of CommonJS", `
-- a.js --
function one() {}
exports.one = one
module.exports.two = function () {}
-- b.js --
const a = require("./a")
const { one } = require("./a")
a.one(); one(); a.two()
`, `
imports b.js -> a.js @1:10,2:16
calls b.js -> a.js:one @3:2,3:9
calls b.js -> a.js:two @3:18
`},
		{"one known value of several is not sure", `
-- a.js --
function own() {}
export function run(options) {
  const join = options.join ?? own
  join()
}
export function hash(by) {
  if (!by) by = own
  by()
}
`, `
may_call a.js:hash -> a.js:own @8:2 (flow 700)
may_call a.js:run -> a.js:own @4:2 (flow 700)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("calls", "may_call", "implements", "overrides", "imports")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

// A handler that is written in place is named by its route.
func TestScriptRoutes(t *testing.T) {
	const archive = `
-- app.js --
import express from "express"
const app = express()
app.get("/", (req, res) => res.end())
app.get("/list", list)
app.get("/gone", gone)
function list() {}
export function more() { app.post("/more", () => {}) }
`
	const want = `
handles_route app.js:GET / (inline) -> app.js:GET / @3:0
handles_route app.js:list -> app.js:GET /list @4:0
handles_route app.js:more.POST /more (inline) -> app.js:POST /more @7:25
handles_route app.js -> gone @5:0 (unresolved)
`
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, archive, factsOf)).Text("handles_route")
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// A route whose handler is wrapped by a call is handled by what the call is given.
func TestWrappedHandlers(t *testing.T) {
	const archive = `
-- wrap.js --
function asyncHandler(fn) {
  return function asyncUtilWrap(...args) {
    return Promise.resolve(fn(...args)).catch(args[args.length - 1])
  }
}
module.exports = asyncHandler
-- more.js --
exports.catchAsync = (fn) => (req, res, next) => { fn.call(this, req, res, next).catch(next) }
const again = (fn) => (req, res) => fn(req, res)
exports.timed = (name, fn) => again(fn)
exports.made = (open) => { const db = open(); return (req, res) => res.send(db) }
-- auth.js --
async function login(req, res) {}
class Users { show(req, res) {} }
module.exports = { login, users: new Users(), list: async (req, res) => {}, limits: { max: 1 } }
-- app.js --
const express = require("express")
const external = require("express-async-handler")
const asyncHandler = require("./wrap")
const { catchAsync, timed, made } = require("./more")
const auth = require("./auth")
const router = express.Router()
const app = express()
app.use(router)
router.post("/login", auth.limit, asyncHandler(auth.login))
router.get("/list", catchAsync(auth.list))
router.route("/list").put(timed(auth.limits, auth.list))
router.get("/both", asyncHandler(catchAsync(auth.login)))
router.get("/show", asyncHandler(auth.users.show.bind(auth.users)))
router.get("/bound", auth.users.show.bind(auth.users))
router.get("/external", external(auth.login))
router.get("/made", made(auth.login))
router.get("/two", asyncHandler(auth.login, auth.list))
router.get("/data", asyncHandler(auth.limits))
`
	const want = `
handles_route app.js -> asyncHandler() @17:0 (unresolved)
handles_route app.js -> asyncHandler() @18:0 (unresolved)
handles_route app.js -> made() @16:0 (unresolved)
handles_route auth.js:Users.show -> app.js:GET /bound
handles_route auth.js:Users.show -> app.js:GET /show
handles_route auth.js:list -> app.js:GET /list
handles_route auth.js:list -> app.js:PUT /list
handles_route auth.js:login -> app.js:GET /both
handles_route auth.js:login -> app.js:GET /external (flow 700)
handles_route auth.js:login -> app.js:POST /login
`
	g := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, archive, factsOf))
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), g.Text("handles_route")); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// TestWrappersOfWrappers has eighty functions that each give what they are given to all of them: whether they wrap it is
// found out once for each.
func TestWrappersOfWrappers(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- app.js --\nconst express = require(\"express\")\nconst app = express()\nfunction login(req, res) {}\napp.get(\"/x\", f0(login))\n")
	for i := range 80 {
		fmt.Fprintf(&b, "function f%d(fn) {", i)
		for j := range 80 {
			fmt.Fprintf(&b, "\n  f%d(fn)", j)
		}
		b.WriteString("\n}\n")
	}
	g := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, b.String(), factsOf))
	if diff := cmp.Diff([]string{"handles_route app.js -> f0() @4:0 (unresolved)"}, g.Text("handles_route")); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}
