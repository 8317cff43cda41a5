package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestCalledOn has calls on parameters of anonymous functions and on a `this` of which nothing is known: what the source
// calls a parameter tells what it is, and a function in a method is called on the object of that method. It has functions that
// descriptors put on a prototype, and members under symbols of another file.
func TestCalledOn(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/node.js --
const { kParts } = require('./symbols')
class Parts { splice() {} sort() {} pick() {} }
class Node {
  constructor() { this[kParts] = new Parts() }
  fold() {} unfold() {} watchIt() {} drop() {} stop(bus) { bus.on('y', function () { this.watchIt() }) }
  run(bus) {
    bus.on('x', function () { this.drop() })
    const other = { go() { this.watchIt() } }
    this[kParts].pick()
  }
}
class Leaf extends Node { drop() {} }
class Other { fold() {} watchIt() {} }
module.exports = { Node, Other }
-- lib/symbols.js --
exports.kParts = Symbol('parts')
-- lib/use.js --
exports.use = (list) => {
  each(list, (node) => { node.fold(); node.unfold() })
  each(list, (other) => { other.fold() })
  each(list, (thing) => { thing.fold() })
}
-- lib/reply.js --
function Reply() {}
Object.defineProperties(Reply.prototype, {
  code: { get() { return this.readCode() }, set(v) { this.writeCode(v) } },
  other: { enumerable: true, value: function () { this.writeCode() } }
})
Reply.prototype.readCode = function () {}
Reply.prototype.writeCode = function () {}
function Answer() {}
Answer.prototype.readCode = function () {}
Answer.prototype.writeCode = function () {}
`, `
calls lib/node.js:Node.constructor -> lib/node.js:Parts @4:37
calls lib/node.js:Node.run -> lib/node.js:Node.drop @7:35 (name_matched 500)
calls lib/node.js:Node.run -> lib/node.js:Parts.pick @9:17
calls lib/node.js:Node.run -> bus.on @7:8 (unresolved)
calls lib/node.js:Node.run.go -> self.watchIt @8:32 (unresolved)
calls lib/node.js:Node.stop -> ?.watchIt @5:90 (unresolved)
calls lib/node.js:Node.stop -> bus.on @5:63 (unresolved)
calls lib/reply.js:Reply.code -> lib/reply.js:Reply.readCode @3:30
calls lib/reply.js:Reply.code#2 -> lib/reply.js:Reply.writeCode @3:58
calls lib/reply.js:Reply.other -> lib/reply.js:Reply.writeCode @4:55
calls lib/reply.js -> javascript globals Object.defineProperties @2:7 (external)
calls lib/symbols.js -> javascript globals Symbol @1:17 (external)
calls lib/use.js:use -> lib/node.js:Node.fold @2:30 (name_matched 500)
calls lib/use.js:use -> lib/node.js:Node.unfold @2:43 (name_matched 500)
calls lib/use.js:use -> lib/node.js:Other.fold @3:32 (name_matched 500)
calls lib/use.js:use -> each @2:2 (unresolved)
calls lib/use.js:use -> each @3:2 (unresolved)
calls lib/use.js:use -> each @4:2 (unresolved)
calls lib/use.js:use -> each[<1>][<0>].fold @4:32 (unresolved)
`, "calls", "may_call")
}
