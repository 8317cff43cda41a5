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
function begin(sequence) { sequence.beginAll(); sequence.startAll() }
class First { beginAll() {} startAll() {} }
class Second extends First { startAll() {} }
begin(new First()); begin(new Second());
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
calls a.js -> a.js:First @11:10
calls a.js -> a.js:Second @11:30
calls a.js -> a.js:begin @11:0,11:20
extends a.js:Quiet -> a.js:Base @2:20
extends a.js:Second -> a.js:First @10:21
calls a.js:begin -> a.js:First.beginAll @8:36 (flow 700)
calls a.js:begin -> a.js:First.startAll @8:57 (flow 700)
may_call a.js:begin -> a.js:Second.startAll @8:57 (flow 700)
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
