package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestContext has functions whose parameters have no types, of which what is around says what they are given: the type of
// the constant or of the field that holds them, and what a function is declared to return.
func TestContext(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- context.ts --
export class Context { get() {} text() {} }
export type Handler = (c: Context, next: () => void) => void
export type Hooks = { opened: Handler }
-- use.ts --
import { Handler, Hooks, Context } from './context'
export const typed: Handler = (c, next) => { c.get() }
class Router { handler: Handler = (c) => c.text() }
export const logger = (): Handler => async (c) => { c.get() }
export function named(): Handler { return async function named(c, next) { c.text() } }
export function hooks(): Hooks { return { opened(c) { c.get() } } }
export function nested(): Handler { [1].map((c) => c.text()); return (c) => { [2].map((n) => c.get()) } }
function untyped() { return (c) => c.text() }
`, `
calls use.ts:Router.handler -> context.ts:Context.text @3:43
calls use.ts:hooks.opened -> context.ts:Context.get @6:56
calls use.ts:logger -> context.ts:Context.get @4:54
calls use.ts:named.named -> context.ts:Context.text @5:76
calls use.ts:nested -> context.ts:Context.get @7:95
calls use.ts:typed -> context.ts:Context.get @2:47
calls use.ts:nested -> ?.map @7:40 (unresolved)
calls use.ts:nested -> ?.map @7:82 (unresolved)
calls use.ts:nested -> ?.text @7:53 (unresolved)
calls use.ts:untyped -> ?.text @8:37 (unresolved)
`, "calls", "may_call")
}

// TestTypeMembers has functions that types declare as members, which are called by their own names, and options.
func TestTypeMembers(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- unhandle.ts --
type Unhandler = { once: (event: string) => void; all: () => void; close?: () => void }
export default function unhandle(): Unhandler { return { once(event) {}, all() {} } }
-- use.ts --
import unhandle from './unhandle'
const { once } = unhandle()
class User {
  kept = unhandle().all
  run() { once('a'); unhandle().all(); unhandle().close(); this.kept() }
}
`, `
calls use.ts -> unhandle.ts:unhandle @2:17
calls use.ts:User -> unhandle.ts:unhandle @4:9
calls use.ts:User.run -> unhandle.ts:Unhandler.all @5:32
calls use.ts:User.run -> unhandle.ts:Unhandler.once @5:10
calls use.ts:User.run -> unhandle.ts:unhandle @5:21,5:39
may_call use.ts:User.run -> unhandle.ts:Unhandler.all @5:64 (flow 700)
may_call use.ts:User.run -> unhandle.ts:unhandle.all @5:32,5:64 (flow 700)
may_call use.ts:User.run -> unhandle.ts:unhandle.once @5:10 (flow 700)
calls use.ts:User.run -> unhandle().close @5:50 (unresolved)
`, "calls", "may_call")
}

// TestTypedConstants has constants that are made by a function and have the name of a type, and an interface with the name
// of a function.
func TestTypedConstants(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- core.ts --
export interface $constructor<T> { new (def: any): T; init(inst: T, def: any): void }
export function $constructor<T>(name: string, initializer: (inst: T) => void): $constructor<T> {
  function _(def: any) {}
  return _ as any
}
-- schemas.ts --
import * as core from './core'
export interface Text { length: number }
export const Text: core.$constructor<Text> = core.$constructor("Text", (inst) => {})
export const Mail: core.$constructor<Text> = core.$constructor("Mail", (inst) => { Text.init(inst, 1) })
export function text() { return new Text({}) }
`, `
calls schemas.ts:Mail -> core.ts:$constructor @4:50
calls schemas.ts:Mail -> core.ts:$constructor.init @4:88
calls schemas.ts:Text -> core.ts:$constructor @3:50
calls schemas.ts:text -> schemas.ts:Text @5:36
may_call schemas.ts:text -> core.ts:$constructor._ @5:36 (flow 700)
`, "calls", "may_call")
}

// TestSymbols has members that symbols name, functions that stand in for what an engine may lack, and a method that only a
// subclass has.
func TestSymbols(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- names.js --
exports.kRun = Symbol('run')
-- worker.js --
const Base = require('stream')
const { kRun } = require('./names')
const _queue = Symbol('queue')
class Task extends Base { start() { this.parent.runAll(); this.parent = new Task() } }
class Worker extends Task {
  [_queue]() { this.go() }
  [kRun]() { return this[_queue]() }
  go(key) { this[kRun](); this[key]() }
  runAll() {}
}
-- utils.js --
exports.hasOwn = Object.hasOwn || function (object, name) { return false }
-- use.js --
const { hasOwn } = require('./utils')
hasOwn({}, 'a')
`, `
calls names.js -> javascript globals Symbol @1:15 (external)
calls use.js -> utils.js:hasOwn @2:0
may_call use.js -> javascript globals Object.hasOwn @2:0 (flow 700) (external)
calls worker.js:Task.start -> worker.js:Task @4:76
calls worker.js:Task.start -> worker.js:Worker.runAll @4:48 (name_matched 500)
calls worker.js:Worker._queue -> worker.js:Worker.go @6:20
calls worker.js:Worker.go -> worker.js:Worker.kRun @8:17
calls worker.js:Worker.kRun -> worker.js:Worker._queue @7:25
calls worker.js -> javascript globals Symbol @3:15 (external)
calls worker.js:Worker.go -> self[] @8:26 (unresolved)
`, "calls", "may_call")
}

// TestMain has a package that is loaded by its folder, whose main file is built.
func TestMain(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- package.json --
{"main": "./lib/node/index.js"}
-- src/node/index.js --
exports.run = function () {}
-- src/node/agent.js --
require('../..').run()
-- plain/package.json --
{"main": "main.js"}
-- plain/main.js --
module.exports = function start() {}
-- src/use.js --
require('../plain')()
`, `
calls src/node/agent.js -> src/node/index.js:run @1:17
calls src/use.js -> plain/main.js:start @1:0
`, "calls", "may_call")
}

// TestKnownFields has methods with common names of members to which all that is assigned is known.
func TestKnownFields(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
class Resolver { resolve() {} close() {} }
class Printer {
  constructor(resolver, socket) { this.resolver = resolver; this.socket = socket; this.own = new Resolver(); this.own = null }
  print() { this.resolver.resolve(); this.own.resolve(); this.socket.close() }
}
new Printer(new Resolver(), new Resolver())
function make(socket) { new Printer(new Resolver(), socket) }
`, `
calls a.js -> a.js:Printer.constructor @6:4
calls a.js -> a.js:Resolver @6:16,6:32
calls a.js:Printer.constructor -> a.js:Resolver @3:97
calls a.js:Printer.print -> a.js:Resolver.resolve @4:26,4:46
may_call a.js:Printer.print -> a.js:Resolver.close @4:69 (flow 700)
calls a.js:make -> a.js:Printer.constructor @7:28
calls a.js:make -> a.js:Resolver @7:40
`, "calls", "may_call")
}

// TestStandIns has a method that a test replaces on an instance: outside tests the method is what is called.
func TestStandIns(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/server.js --
class Core { start() { return this } }
exports.Server = class Server { constructor(core) { this.core = core } run() { this.core.start() } }
exports.make = function () { return new exports.Server(new Core()) }
-- test/server.js --
const { make } = require('../lib/server')
const server = make()
server.core.start = function () {}
server.run()
`, `
calls lib/server.js:Server.run -> lib/server.js:Core.start @2:89 (flow 700)
calls lib/server.js:make -> lib/server.js:Core @3:59
calls lib/server.js:make -> lib/server.js:Server.constructor @3:48
calls test/server.js -> lib/server.js:Server.run @4:7
calls test/server.js -> lib/server.js:make @2:15
`, "calls", "may_call")
}
