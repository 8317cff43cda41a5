package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestMadeClasses has classes that calls make of objects, in scripts that share one scope: their constructors, static
// members, bases, mixins, parts that other files add, and what they override.
func TestMadeClasses(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/core/Base.js --
Base.inject({
  toString: function () { return this.getName(); },
  getName: function () {},
  statics: { read: function () { return new this(); }, pick: function () {} }
});
-- src/core/Emitter.js --
var Emitter = { emit: function () { this.on(); }, on: function () {} };
-- src/item/Point.js --
var Point = Base.extend(Emitter, /** @lends Point# */{
  initialize: function Point(x) { this.set(x); },
  set: function (x) { this.emit('set'); return this.clone(); },
  clone: function () { return new Point(); },
  getName: function getName() { Base.pick(); return getName.base.call(this); },
  statics: new function () {
    function helper() {}
    return { origin: function () { helper(); return Point.read(); } };
  }
});
var Linked = Point.extend({ set: function () { this._super(); } });
Point.inject(new function () {
  function side() {}
  return { later: function () { side(); this.set(); } };
});
Object.assign(Linked.prototype, { added: function () { this.later(); } });
-- src/view/View.js --
function View() { new Point(1).later(); new Linked().added(); helper(); Point.origin(); }
-- src/view/zView.js --
new View();
-- other/View.js --
new View();
-- lib/model.js --
const Backbone = require('backbone');
const Model = module.exports = Backbone.Model.extend({ initialize() { this.go(); }, go() {} }, { make: function () {} });
exports.View = Backbone.View.extend({ init: function () { this.stop(); }, stop: function () {} });
-- lib/use.js --
const { View } = require('./model');
const Plain = build({ run() {} });
const made = build({ run() {} });
class Sub extends View { constructor() { super(); this.stop(); } }
new View().stop(); Plain.run(); made.run();
`, `
calls lib/model.js:View.init -> lib/model.js:View.stop @3:63
calls lib/model.js:exports.initialize -> lib/model.js:exports.go @2:75
calls lib/model.js -> javascript backbone Model.extend @2:46 (external)
calls lib/model.js -> javascript backbone View.extend @3:29 (external)
extends lib/model.js:View -> javascript backbone View @3:24 (external)
extends lib/model.js:exports -> javascript backbone Model @2:40 (external)
calls lib/use.js -> lib/model.js:View.init @5:4
calls lib/use.js -> lib/model.js:View.stop @5:11
calls lib/use.js -> lib/use.js:Plain.run @5:25
calls lib/use.js -> lib/use.js:made.run @5:37
extends lib/use.js:Sub -> lib/model.js:View @4:18
calls lib/use.js:Sub.constructor -> lib/model.js:View.init @4:41
calls lib/use.js:Sub.constructor -> lib/model.js:View.stop @4:55
calls lib/use.js -> build @2:14 (unresolved)
calls lib/use.js -> build @3:13 (unresolved)
calls other/View.js -> View @1:4 (unresolved)
calls src/core/Base.js:Base.read -> src/core/Base.js:Base @4:44
may_call src/core/Base.js:Base.read -> src/item/Point.js:Point.initialize @4:44 (flow 700)
calls src/core/Base.js:Base.toString -> src/core/Base.js:Base.getName @2:38
may_call src/core/Base.js:Base.toString -> src/item/Point.js:Point.getName @2:38 (flow 700)
calls src/core/Base.js -> Base.inject @1:5 (unresolved)
calls src/core/Emitter.js:Emitter.emit -> src/core/Emitter.js:Emitter.on @1:41
extends src/item/Point.js:Linked -> src/item/Point.js:Point @11:13
calls src/item/Point.js:Linked.added -> src/item/Point.js:Point.later @16:60
calls src/item/Point.js:Linked.set -> src/item/Point.js:Point.set @11:52
extends src/item/Point.js:Point -> src/core/Base.js:Base @1:12 (flow 700)
extends src/item/Point.js:Point -> src/core/Emitter.js:Emitter @1:24 (flow 700)
calls src/item/Point.js:Point.clone -> src/item/Point.js:Point.initialize @4:34
calls src/item/Point.js:Point.getName -> src/core/Base.js:Base.getName @5:65 (flow 700)
calls src/item/Point.js:Point.getName -> src/core/Base.js:Base.pick @5:37 (flow 700)
calls src/item/Point.js:Point.initialize -> src/item/Point.js:Point.set @2:39
may_call src/item/Point.js:Point.initialize -> src/item/Point.js:Linked.set @2:39 (flow 700)
calls src/item/Point.js:Point.later -> src/item/Point.js:Point.set @14:45
calls src/item/Point.js:Point.later -> src/item/Point.js:side @14:32
may_call src/item/Point.js:Point.later -> src/item/Point.js:Linked.set @14:45 (flow 700)
calls src/item/Point.js:Point.origin -> src/core/Base.js:Base.read @8:58 (flow 700)
calls src/item/Point.js:Point.origin -> src/item/Point.js:helper @8:35
calls src/item/Point.js:Point.set -> src/core/Emitter.js:Emitter.emit @3:27 (flow 700)
calls src/item/Point.js:Point.set -> src/item/Point.js:Point.clone @3:52
calls src/item/Point.js -> javascript globals Object.assign @16:7 (external)
calls src/item/Point.js -> Base.extend @1:17 (unresolved)
calls src/item/Point.js -> Point.extend @11:19 (unresolved)
calls src/item/Point.js -> Point.inject @12:6 (unresolved)
calls src/view/View.js:View -> src/item/Point.js:Linked.added @1:53 (flow 700)
calls src/view/View.js:View -> src/item/Point.js:Point.initialize @1:22,1:44 (flow 700)
calls src/view/View.js:View -> src/item/Point.js:Point.later @1:31 (flow 700)
calls src/view/View.js:View -> src/item/Point.js:Point.origin @1:78 (flow 700)
calls src/view/View.js:View -> helper @1:62 (unresolved)
calls src/view/zView.js -> src/view/View.js:View @1:4 (flow 700)
`, "calls", "may_call", "extends")
}

// TestFunctionsThatMakeClasses has a function that makes classes of names and objects, as its uses show, methods that
// calls define, and functions of one name in several anonymous functions.
func TestFunctionsThatMakeClasses(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/ast.js --
function DEFNODE(type, methods, base) {
  if (typeof base === "undefined") base = Node_;
  return make(type, methods, base);
}
var Node_ = DEFNODE("Node", { walk: function (v) { v.visit(this); this.print_node(); }, print_node: function () {} }, null);
var Leaf = DEFNODE("Leaf", { go: function () { this.walk(); } });
var Deep = DEFNODE("Deep", { $doc: "" }, Leaf);
new Deep().walk();
-- lib/rules.js --
(function (def) {
  def(Node_, function () { return this.is_constant(); });
})(function (node, own) {
  node.DEFMETHOD("is_constant", own);
});
(function () {
  Leaf.DEFMETHOD("is_leaf_node", function () { this.walk(); });
  function mark() {}
  mark();
  new Leaf().is_leaf_node();
})();
(function () {
  function mark() {}
  mark(); unknown().is_constant();
})();
`, `
calls lib/ast.js -> lib/ast.js:DEFNODE @5:12,6:11,7:11
calls lib/ast.js -> lib/ast.js:Deep @8:4
calls lib/ast.js -> lib/ast.js:Node_.walk @8:11
extends lib/ast.js:Deep -> lib/ast.js:Leaf @7:41
extends lib/ast.js:Leaf -> lib/ast.js:Node_ @2:42
calls lib/ast.js:Leaf.go -> lib/ast.js:Node_.walk @6:52
calls lib/ast.js:Node_.walk -> lib/ast.js:Node_.print_node @5:71
calls lib/ast.js:DEFNODE -> make @3:9 (unresolved)
calls lib/ast.js:Node_.walk -> v.visit @5:53 (unresolved)
calls lib/rules.js -> lib/ast.js:Leaf @10:6 (flow 700)
calls lib/rules.js -> lib/rules.js:is_constant @2:39,14:20 (name_matched 500)
calls lib/rules.js -> lib/rules.js:is_leaf_node @10:13
calls lib/rules.js -> lib/rules.js:mark @9:2
calls lib/rules.js -> lib/rules.js:mark#2 @14:2
calls lib/rules.js:is_leaf_node -> lib/ast.js:Node_.walk @7:52 (flow 700)
calls lib/rules.js -> ?.DEFMETHOD @4:7 (unresolved)
calls lib/rules.js -> Leaf.DEFMETHOD @7:7 (unresolved)
calls lib/rules.js -> unknown @14:10 (unresolved)
`, "calls", "may_call", "extends")
}

// TestDeclaredTypes resolves calls on values by what types say: of alternatives, of elements, and of fields that
// something else is assigned to.
func TestDeclaredTypes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.ts --
class A { run() {} only() {} toString() { return "" } }
class B { run() {} }
interface Runs { run(): void }
type Any = A | undefined;
function either(x: A | B, y: string | A) { x.only(); x.run(); y.only(); y.toString(); }
function elements(all: readonly A[], by: Map<string, A>) {
  for (const x of all) x.run();
  by.get("k").run();
  all.forEach(x => x.only());
}
function named(x: Any) { x.only(); }
class Holds {
  private runs: Runs;
  rest: Array<B> = [];
  constructor(given: B) { this.runs = given; }
  go() { this.runs.run(); this.rest[0].run(); }
}
`, `
calls a.ts:Holds.go -> a.ts:B.run @16:39
calls a.ts:Holds.go -> a.ts:Runs.run @16:19
calls a.ts:either -> a.ts:A.only @5:45,5:64
calls a.ts:elements -> a.ts:A.only @9:21
calls a.ts:elements -> a.ts:A.run @7:25,8:14
calls a.ts:named -> a.ts:A.only @11:27
calls a.ts:elements -> all.forEach @9:6 (unresolved)
`, "calls")
}
