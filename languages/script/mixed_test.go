package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestMixed has prototypes and objects that get the members of other objects by calls, in loops over lists and through
// other objects, and by assignment. `this` of what is mixed in is an instance.
func TestMixed(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- core.js --
import * as util from './util';
import events from './events';
import style from './style';
const Core = function () { this.own(); };
const proto = Core.prototype;
util.extend(proto, { own() { this.paint(); return this; } });
proto.also = proto.own;
[events, style].forEach(props => util.extend(proto, props));
export default Core;
-- events.js --
import bind from './bind';
let fn, events;
fn = events = ({ emit: bind.later({}), fire() { this.paint(); this.also(); this.emit(); } });
fn.shot = fn.fire;
export default events;
-- bind.js --
const bind = { later(options) { return function emitImpl() { this.paint(); }; } };
export default bind;
-- style.js --
let style = {};
Object.assign(style, { paint() { this.inner(); } });
const more = {};
more.inner = function () { this.own(); };
Object.assign(style, more);
export default style;
-- util.js --
export const extend = Object.assign;
-- two.js --
import List from './list';
let shared = Item.prototype = List.prototype = Object.create(Array.prototype);
function Item() {}
shared.first = function () { return this.last(); };
Object.assign(shared, { last() {} });
new List().first();
new Item().last();
-- list.js --
const List = function () {};
export default List;
-- use.js --
import Core from './core';
const core = new Core();
core.fire(); core.shot(); core.inner(); core.emit(); core.nothing();
function options(given) { const all = { run() {} }; Object.assign(all, given); all.run(); }
function defaults(target, given) { Object.assign(target, usual, given); target.usually(); }
const usual = { usually() {} };
defaults({});
class Own { paint() {} go() { this.paint(); this.inner(); } }
Object.assign(Own.prototype, { inner() {} });
`, `
calls bind.js:bind.later.emitImpl -> style.js:style.paint @1:66
calls core.js:Core -> core.js:proto.own @4:32
calls core.js:proto.own -> style.js:style.paint @6:34
calls core.js -> javascript globals Object.assign @6:5,8:38 (external)
calls core.js -> ?.forEach @8:16 (unresolved)
calls events.js:events -> bind.js:bind.later @3:28
calls events.js:events.fire -> bind.js:bind.later.emitImpl @3:80
calls events.js:events.fire -> core.js:proto.own @3:67
calls events.js:events.fire -> style.js:style.paint @3:53
calls style.js:more.inner -> core.js:proto.own @4:32
calls style.js:style.paint -> style.js:more.inner @2:38
calls style.js -> javascript globals Object.assign @2:7,5:7 (external)
calls two.js -> list.js:List @6:4
calls two.js -> two.js:Item @7:4
calls two.js -> two.js:shared.first @6:11
calls two.js -> two.js:shared.last @7:11
calls two.js:shared.first -> two.js:shared.last @4:41
calls two.js -> javascript globals Object.assign @5:7 (external)
calls two.js -> javascript globals Object.create @2:54 (external)
calls use.js -> bind.js:bind.later.emitImpl @3:45
calls use.js -> core.js:Core @2:17
calls use.js -> events.js:events.fire @3:5,3:18
calls use.js -> style.js:more.inner @3:31
calls use.js -> use.js:defaults @7:0
calls use.js:Own.go -> use.js:Own.inner @8:49
calls use.js:Own.go -> use.js:Own.paint @8:35
calls use.js:options -> use.js:options.run @4:83
calls use.js -> javascript globals Object.assign @9:7 (external)
calls use.js:defaults -> javascript globals Object.assign @5:42 (external)
calls use.js:options -> javascript globals Object.assign @4:59 (external)
calls use.js -> core.nothing @3:58 (unresolved)
calls use.js:defaults -> target.usually @5:79 (unresolved)
`, "calls", "may_call")
}

// TestMemberOfNothing has a member that is set to null, which is not taken for a member that holds something else.
func TestMemberOfNothing(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
class Client { wrapName() {} }
class Other { reset() { this.config.wrapName = null; } }
function f(any) { any.wrapName(); }
`, `
calls a.js:f -> a.js:Client.wrapName @3:22 (name_matched 500)
`, "calls", "may_call")
}
