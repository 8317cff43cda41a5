package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestCallsByName has calls on values of which the types are not known: by the only function of a
// name (0.5), and on the instances that are known to arrive (0.7).
func TestCallsByName(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/order.js --
class Order {
  shipParcel() {}
  send() {}
  stow() {}
  onDone() {}
}
class Draft { stow() {} }
module.exports = { Order, Draft };
-- lib/run.js --
const { Order } = require('./order');
function finish(order, other, make) {
  order.stow();
  order.send();
  other.shipParcel();
  other.isDirectory();
  other.onDone();
  other.send();
  other.stow();
  make();
}
function shipParcel(inner) { inner.shipParcel(); }
function isDirectory() {}
finish(new Order(), unknown(), () => 1);
finish(unknown());
other.onDone = (x) => x;
`, `
calls lib/run.js -> lib/order.js:Order @14:11
calls lib/run.js -> lib/run.js:finish @14:0,15:0
calls lib/run.js:finish -> lib/order.js:Order.shipParcel @5:8 (name_matched 500)
calls lib/run.js:finish -> lib/order.js:Order.stow @3:8 (flow 700)
may_call lib/run.js:finish -> lib/order.js:Order.send @4:8 (flow 700)
calls lib/run.js -> unknown @14:20 (unresolved)
calls lib/run.js -> unknown @15:7 (unresolved)
calls lib/run.js:finish -> make @10:2 (unresolved)
calls lib/run.js:finish -> other.isDirectory @6:8 (unresolved)
calls lib/run.js:finish -> other.onDone @7:8 (unresolved)
calls lib/run.js:finish -> other.send @8:8 (unresolved)
calls lib/run.js:finish -> other.stow @9:8 (unresolved)
calls lib/run.js:shipParcel -> inner.shipParcel @12:35 (unresolved)
`, "calls", "may_call")
}

// TestNameOfAnotherPackage has a value that comes from a member of which an interface says only that another
// package has its type: the only function of a name is not meant by it.
func TestNameOfAnotherPackage(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/types.ts --
import type * as other from 'compiler';
export interface Common {
  createProgram: typeof other.createProgram;
}
-- src/host.ts --
export function makeHost() {
  return { getSourceFile: (name) => name };
}
-- src/index.ts --
import { Common } from './types';
function load(name: string): Common { return JSON.parse(name); }
export function run(unknown) {
  const compiler = load('compiler');
  let program = compiler.createProgram({});
  program.getSourceFile('a');
  unknown.getSourceFile('a');
}
`, `
calls src/index.ts:run -> src/host.ts:makeHost.getSourceFile @7:10 (name_matched 500)
calls src/index.ts:run -> src/index.ts:load @4:19
calls src/index.ts:load -> javascript globals JSON.parse @2:50 (external)
calls src/index.ts:run -> compiler.createProgram @5:25 (unresolved)
calls src/index.ts:run -> program.getSourceFile @6:10 (unresolved)
`, "calls")
}

// TestMembersOfObjects has classes that are exported under their names, objects that functions
// return and modules export, accessors, and what arrays pass to functions.
func TestMembersOfObjects(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/base.js --
class Base { reset() {} title() {} }
export { Base };
-- lib/hook.js --
import { Base } from './base.js';
class Hook extends Base {
  reset() { super.reset(); }
  show() { this.title(); }
}
export { Hook };
-- lib/factory.js --
const make = (a, { b } = {}) => {
  const run = () => {};
  return { run, a };
};
const use = () => {
  const r = make(1);
  r.run();
  const local = { run: make };
  local.run();
};
-- lib/proto.js --
module.exports = {
  get length() { return this.has('x'); },
  set length(n) { this.put('y', 1); },
  has(f) { return 1; },
  put(f, v) { return this.has(f); },
};
-- lib/sequence.js --
var Util = require('util');
var Api = exports;
Api.named = function() { Api.other(); };
Api.other = function() {};
module.exports.Query = Query;
Util.inherits(Query, Sequence);
function Query() {}
Query.prototype.start = function() { this.end(); };
function Sequence() {}
Sequence.prototype.end = function() {};
-- lib/asks.js --
var Api = require('./sequence');
function ask() { Api.named(); }
-- lib/list.js --
import { Hook } from './hook.js';
class List {
  constructor() { this.hooks = []; }
  /** @param {Hook} hook */
  add(hook) { this.hooks.push(hook); }
  run() {
    this.hooks.forEach((hook) => hook.show());
    this.hooks.filter((h) => h.reset()).sort((a, b) => b.title());
    this.hooks.reduce((sum, h) => h.show(), 0);
    this.hooks.map(({ reset }) => reset());
    load().then((h) => h.show());
  }
}
async function load() { return new Hook(); }
`, `
calls lib/asks.js:ask -> lib/sequence.js:named @2:21
calls lib/factory.js:use -> lib/factory.js:make @6:12,9:8
calls lib/factory.js:use -> lib/factory.js:make.run @7:4
calls lib/hook.js:Hook.reset -> lib/base.js:Base.reset @3:18
calls lib/hook.js:Hook.show -> lib/base.js:Base.title @4:16
calls lib/list.js:List.run -> lib/base.js:Base.title @8:57
calls lib/list.js:List.run -> lib/hook.js:Hook.reset @8:31,10:34
calls lib/list.js:List.run -> lib/hook.js:Hook.show @7:38,9:36,11:25
calls lib/list.js:List.run -> lib/list.js:load @11:4
calls lib/list.js:load -> lib/hook.js:Hook @14:35
calls lib/list.js:List.add -> self.hooks.push @5:25 (unresolved)
calls lib/list.js:List.run -> load().then @11:11 (unresolved)
calls lib/list.js:List.run -> self.hooks.forEach @7:15 (unresolved)
calls lib/list.js:List.run -> self.hooks.map @10:15 (unresolved)
calls lib/list.js:List.run -> self.hooks.reduce @9:15 (unresolved)
calls lib/proto.js:length -> lib/proto.js:has @2:29
calls lib/proto.js:length#2 -> lib/proto.js:put @3:23
calls lib/proto.js:put -> lib/proto.js:has @5:26
calls lib/sequence.js:Query.start -> lib/sequence.js:Sequence.end @8:42
calls lib/sequence.js:named -> lib/sequence.js:other @3:29
calls lib/sequence.js -> javascript util inherits @6:5 (external)
`, "calls")
}

const heldByName = `
-- a.js --
export function suspend(component) {
    const onResolved = () => {}
    component.onResolve = onResolved
    component.onceMade = onResolved
    component.onceMade = other()
    component.onResolve = null
}
export function run(it) { it.onResolve(); it.onceMade(); it.onChild() }
export function start(it) { it.onChild = noop }
function noop() {}
`

func TestTheOnlyFunctionThatMembersOfANameHold(t *testing.T) {
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, heldByName, factsOf)).Text("calls", "may_call")
	want := []string{
		"calls a.js:run -> a.js:suspend.onResolved @8:29 (name_matched 500)",
		"calls a.js:run -> it.onChild @8:60 (unresolved)",
		"calls a.js:run -> it.onceMade @8:45 (unresolved)",
		"calls a.js:suspend -> other @5:25 (unresolved)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
