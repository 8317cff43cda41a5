package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestPrototypes checks functions that make instances, members that are assigned or defined,
// and modules that export one value.
func TestPrototypes(t *testing.T) {
	const archive = `
-- view.js --
module.exports = View;
function View(name, options) {
  var opts = options || {};
  this.name = name;
  this.path = this.lookup(name);
}
View.prototype.lookup = function lookup(name) {
  return this.resolve(name);
};
View.prototype.resolve = View.prototype.find = function resolve() { return name };
View.prototype.again = function () { var self = this; self.lookup(); [1].forEach(function () { this.find(); }, this); run(function () { this.find() }.bind(this)) };
function run(f) { f() }
-- res.js --
var http = require('http');
var View = require('./view');
var res = Object.create(http.ServerResponse.prototype);
module.exports = res;
res.set = res.header = function header(field, val) { return this };
res.send = function send() { this.set('a'); this.header('b'); var v = new View(); v.lookup(); v.find(); };
defineGetter(res, 'protocol', function protocol() { return this.get() });
Object.defineProperty(res, 'other', { configurable: true, get: function () { return this.header() } });
res.get = function () { return this.protocol };
function defineGetter(obj, name, getter) { Object.defineProperty(obj, name, { get: getter }) }
-- sub.js --
var util = require('util');
var View = require('./view');
function Sub() { View.call(this); }
util.inherits(Sub, View);
Sub.prototype.go = function () { this.lookup(); View.prototype.lookup.call(this, 'a'); };
function Old() {}
Old.prototype = { one: function () { this.two() }, two() {} };
new Sub().go();
exports.a = exports.b = function () {};
-- use.js --
const { a, b } = require('./sub');
a(); b();
`
	resolvetest.Edges(t, NewResolver(), factsOf, archive, `
calls res.js -> res.js:defineGetter @7:0
calls res.js:res.other -> res.js:res.header @8:89
calls res.js:res.protocol -> res.js:res.get @7:64
calls res.js:res.send -> res.js:res.header @6:34,6:49
calls res.js:res.send -> view.js:View @6:74
calls res.js:res.send -> view.js:View.find @6:96
calls res.js:res.send -> view.js:View.lookup @6:84
calls res.js -> javascript globals Object.create @3:17 (external)
calls res.js -> javascript globals Object.defineProperty @8:7 (external)
calls res.js:defineGetter -> javascript globals Object.defineProperty @10:50 (external)
calls sub.js -> sub.js:Sub @8:4
calls sub.js -> sub.js:Sub.go @8:10
calls sub.js:Old.one -> sub.js:Old.two @7:42
calls sub.js:Sub -> view.js:View @3:22
extends sub.js:Sub -> view.js:View @4:19
calls sub.js:Sub.go -> view.js:View.lookup @5:38,5:70
calls sub.js -> javascript util inherits @4:5 (external)
calls use.js -> sub.js:b @2:0,2:5
calls view.js:View -> view.js:View.lookup @5:19
calls view.js:View.again -> view.js:View.find @11:100,11:141
calls view.js:View.again -> view.js:View.lookup @11:59
calls view.js:View.again -> view.js:run @11:118
calls view.js:View.lookup -> view.js:View.find @8:14
calls view.js:View.again -> ?.bind @11:150 (unresolved)
calls view.js:View.again -> ?.forEach @11:73 (unresolved)
calls view.js:run -> f @12:18 (unresolved)
`, "calls", "may_call", "overrides", "extends")
}

// TestDocumentedTypes resolves calls on values whose types only documentation comments name, and on
// what Object.assign extends.
func TestDocumentedTypes(t *testing.T) {
	const archive = `
-- command.js --
class Option { fullFlag() {} }
class Other { fullFlag() {} }
class Command {
  /**
   * @param {Option} option
   * @param {(Option|Other)} either
   * @param {?Option} [maybe]
   */
  add(option, either, maybe) { option.fullFlag(); either.fullFlag(); maybe.fullFlag(); this.find().fullFlag(); }
  /**
   * @return {Option | undefined} found
   */
  find() { return this.all[0]; }
}
function make() { return Object.assign(new Command(), { extra: 1 }); }
make().find();
`
	resolvetest.Edges(t, NewResolver(), factsOf, archive, `
calls command.js -> command.js:Command.find @16:7
calls command.js -> command.js:make @16:0
calls command.js:Command.add -> command.js:Command.find @9:92
calls command.js:Command.add -> command.js:Option.fullFlag @9:38,9:75,9:99
may_call command.js:Command.add -> command.js:Option.fullFlag @9:57 (flow 700)
may_call command.js:Command.add -> command.js:Other.fullFlag @9:57 (flow 700)
calls command.js:make -> command.js:Command @15:43
calls command.js:make -> javascript globals Object.assign @15:32 (external)
`, "calls", "may_call")
}
