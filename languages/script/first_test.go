package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestImportedObject has an object that a module exports, and that another one puts something into.
func TestImportedObject(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- defaults.js --
export class Defaults { set(a, b) {} get(a) {} }
export default new Defaults()
-- use.js --
import defaults from './defaults.js'
export function use(scope) { defaults.set(scope, defaults.get('a')) }
`, `
calls defaults.js -> defaults.js:Defaults @2:19
calls use.js:use -> defaults.js:Defaults.get @2:58
calls use.js:use -> defaults.js:Defaults.set @2:38
`, "calls", "may_call")
}

// TestAssignedModule has a constructor whose name is given with what its module exports.
func TestAssignedModule(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- client.js --
var Client = module.exports = function (options) { if (!(this instanceof Client)) return new Client(options) }
Client.prototype.find = function (name) {}
-- api.js --
var Client = require('./client')
class API {
  constructor() { this.client = new Client(1) }
  find(name) { var that = this; that.client.find(name) }
}
`, `
calls api.js:API.constructor -> client.js:Client @3:36
calls api.js:API.find -> client.js:Client.find @4:44
calls client.js:Client -> client.js:Client @1:93
`, "calls", "may_call")
}

// TestThisOfLiteral has functions of object literals without a name whose `this` is the literal.
func TestThisOfLiteral(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- meter.js --
class Meter { val() {} }
function start(register) {
  const meter = new Meter()
  register({ name: 'x', of: meter, handler: function () { return [1].map(() => this.of.val()) } })
  register({ meter, handler() { return this.meter.val() }, other: wrap(function () { return this.meter.val() }) })
  register({ of: meter, handler: function () { return function () { return this.of.val() } } })
}
`, `
calls meter.js:start -> meter.js:Meter @3:20
calls meter.js:start -> meter.js:Meter.val @4:87,5:50
calls meter.js:start -> ?.map @4:69 (unresolved)
calls meter.js:start -> ?.meter.val @5:103 (unresolved)
calls meter.js:start -> ?.of.val @6:83 (unresolved)
calls meter.js:start -> register @4:2 (unresolved)
calls meter.js:start -> register @5:2 (unresolved)
calls meter.js:start -> register @6:2 (unresolved)
calls meter.js:start -> wrap @5:66 (unresolved)
`, "calls", "may_call")
}

// TestMembersByType has members of interfaces whose types can be called, functions that return what they are given by its
// type, and a field whose function a setter replaces.
func TestMembersByType(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- event.ts --
export interface Disposable { dispose(): void }
export interface Event<T> { (listener: (e: T) => any): Disposable }
export class Emitter<T> { fire(e: T) {} dispose() {} }
export class Store { all: any[]; add<T extends Disposable>(it: T): T { this.all.push(it); return it } }
export class Owner { store = new Store(); register<T extends Disposable>(it: T): T { return this.store.add(it) } }
-- use.ts --
import { Emitter, Owner, Event } from './event'
export interface Decorations { readonly onRemoved: Event<string> }
export class Use extends Owner {
  private removed = this.register(new Emitter<string>())
  private handler: (n: number) => void = () => {}
  private kept: (n: number) => void = () => {}
  constructor(private all: Decorations) { super() }
  set(handler: (n: number) => void) { this.handler = handler }
  go() { this.removed.fire(''); this.all.onRemoved(x => x).dispose(); this.kept(1); this.handler(1) }
}
`, `
calls event.ts:Owner -> event.ts:Store @5:33
calls event.ts:Owner.register -> event.ts:Store.add @5:103
calls event.ts:Store.add -> self.all.push @4:80 (unresolved)
calls use.ts:Use -> event.ts:Emitter @4:38
calls use.ts:Use -> event.ts:Owner.register @4:25
calls use.ts:Use.go -> event.ts:Disposable.dispose @9:59
calls use.ts:Use.go -> event.ts:Emitter.fire @9:22
calls use.ts:Use.go -> use.ts:Decorations.onRemoved @9:41
calls use.ts:Use.go -> use.ts:Use.kept @9:75
may_call use.ts:Use.go -> use.ts:Use.handler @9:89 (flow 700)
calls use.ts:Use.constructor -> super @7:42 (unresolved)
`, "calls", "may_call")
}

// TestAmbientModules has types of a module that only a file of types declares, and of one that such a file adds to.
func TestAmbientModules(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- typings/term.d.ts --
declare module '@x/term' {
  export class Terminal { clear(): void; select(): void }
}
-- typings/more.d.ts --
import 'other'
declare module 'other' {
  interface Request { user(): void }
}
-- use.ts --
import { Terminal as Api } from '@x/term'
import { Request } from 'other'
type Passed = Omit<Api, 'select'>
export interface ITerminal extends Passed { one(): void }
export class Public {
  constructor(private core: ITerminal) {}
  go(r: Request, of: Api) { this.core.one(); this.core.clear(); of.select(); r.user() }
}
`, `
calls use.ts:Public.go -> typings/term.d.ts:@x/term.Terminal.clear @7:55
calls use.ts:Public.go -> typings/term.d.ts:@x/term.Terminal.select @7:67
calls use.ts:Public.go -> use.ts:ITerminal.one @7:38
calls use.ts:Public.go -> r.user @7:79 (unresolved)
`, "calls", "may_call")
}
