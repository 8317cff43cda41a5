package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestChosen has values that are one of several, functions with asserted types, and constructors that call their base.
func TestChosen(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
class Base { start() {} }
class Quiet extends Base { start() {} }
const hypot = Math.hypot ?? ((x) => x)
const sites = Error.sites ?? Error.site
function run() {
  hypot(1); sites()
}
let changed = null ?? ((x) => x);
changed = run;
function change() { changed() }
function begin(sequence) { sequence.beginAll(); sequence.startAll() }
class First { go() { begin(this) } beginAll() {} startAll() {} }
class Second extends First { startAll() {} }
function both(sequence) { sequence.openAll() }
class Third { openAll() {} }
class Fourth extends Third { openAll() {} }
both(new Third()); both(new Fourth());
-- b.js --
var Elem = function (node) {
  this.attr = function (key) {};
};
var Styled = function (node) {
  Elem.call(this, node);
  this.style = function () { return this.attr('style'); };
};
-- c.ts --
class User { rename() {} }
interface Maker { new (): User }
export const Make = function (x: any) {} as any as Maker
new Make().rename()
`, `
calls a.js -> a.js:Fourth @17:28
calls a.js -> a.js:Third @17:9
calls a.js -> a.js:both @17:0,17:19
calls a.js:First.go -> a.js:begin @12:21
extends a.js:Fourth -> a.js:Third @16:21
extends a.js:Quiet -> a.js:Base @2:20
extends a.js:Second -> a.js:First @13:21
calls a.js:begin -> a.js:First.beginAll @11:36 (flow 700)
calls a.js:begin -> a.js:First.startAll @11:57 (flow 700)
may_call a.js:begin -> a.js:Second.startAll @11:57 (flow 700)
may_call a.js:both -> a.js:Fourth.openAll @14:35 (flow 700)
may_call a.js:both -> a.js:Third.openAll @14:35 (flow 700)
may_call a.js:change -> a.js:run @10:20 (flow 700)
calls a.js:run -> a.js:hypot @6:2
may_call a.js:run -> javascript globals Error.site @6:12 (flow 700) (external)
may_call a.js:run -> javascript globals Error.sites @6:12 (flow 700) (external)
may_call a.js:run -> javascript globals Math.hypot @6:2 (flow 700) (external)
calls b.js:Styled -> b.js:Elem @5:7
extends b.js:Styled -> b.js:Elem @5:2
calls b.js:Styled.style -> b.js:Elem.attr @6:41
calls c.ts -> c.ts:Make @4:4
calls c.ts -> c.ts:User.rename @4:11
`, "calls", "may_call", "extends")
}
