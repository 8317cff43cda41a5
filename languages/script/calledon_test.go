package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestCalledOn has calls on parameters of anonymous functions and on a `this` of which nothing is known: what the source
// calls a parameter tells what it is, and a function that a method gives its own object
// is called on that, and one that it gives another object is not. It has functions that
// descriptors put on a prototype, and members under symbols of another file.
func TestCalledOn(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/node.js --
const { kParts } = require('./symbols')
class Parts { splice() {} sort() {} pick() {} }
class Node {
  constructor() { this[kParts] = new Parts() }
  fold() {} unfold() {} watchIt() {} drop() {} later(f) {} stop(bus) { bus.on('y', function () { this.watchIt() }) }
  run(bus) {
    bus.on('x', function () { this.drop() })
    this.later(function () { this.drop(); bus.on('y', function () { this.drop() }) })
    this[bus.name] = function () { this.later(function () { this.drop() }) }
    const other = { go() { this.watchIt() } }
    this[kParts].pick()
  }
}
class Leaf extends Node { drop() {} *[Symbol.iterator]() { this.unfold() } }
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
calls lib/node.js:Leaf -> lib/node.js:Node.unfold @14:64 (name_matched 500)
calls lib/node.js:Node.constructor -> lib/node.js:Parts @4:37
calls lib/node.js:Node.run -> lib/node.js:Node.drop @8:34,9:65 (name_matched 500)
calls lib/node.js:Node.run -> lib/node.js:Node.later @8:9,9:40
calls lib/node.js:Node.run -> lib/node.js:Parts.pick @11:17
calls lib/node.js:Node.run -> ?.drop @7:35 (unresolved)
calls lib/node.js:Node.run -> ?.drop @8:73 (unresolved)
calls lib/node.js:Node.run -> bus.on @7:8 (unresolved)
calls lib/node.js:Node.run -> bus.on @8:46 (unresolved)
calls lib/node.js:Node.run.go -> self.watchIt @10:32 (unresolved)
calls lib/node.js:Node.stop -> ?.watchIt @5:102 (unresolved)
calls lib/node.js:Node.stop -> bus.on @5:75 (unresolved)
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

// TestKeptBefore has members that are kept before a function is put into their place: what is kept is not that function.
func TestKeptBefore(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/app.js --
const boot = require('boot')
const { kBoot } = require('./symbols')
module.exports = function () {
  const app = { [kBoot]: null, name: 'x' }
  boot(app)
  app[kBoot] = app.ready
  app.ready = ready
  const close = app.close
  app.close = shut
  app.open = app.start = go
  function ready() { app[kBoot]() }
  function shut() { close(); app.open() }
  function go() { app.ready() }
  return app
}
-- lib/symbols.js --
exports.kBoot = Symbol('boot')
`, `
calls lib/app.js:exports.go -> lib/app.js:exports.ready @13:22
calls lib/app.js:exports.shut -> lib/app.js:exports.go @12:33
calls lib/app.js:exports -> javascript boot default @5:2 (external)
calls lib/app.js:exports.ready -> app.kBoot @11:25 (unresolved)
calls lib/app.js:exports.shut -> close @12:20 (unresolved)
calls lib/symbols.js -> javascript globals Symbol @1:16 (external)
`, "calls", "may_call")
}
