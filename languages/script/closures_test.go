package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestOuterVariables has functions that assign variables of what is around them.
func TestOuterVariables(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- db.js --
const Db = require('./driver');
let db, Later;
function init() { db = new Db(); }
function use() { init(); db.run(); return new Later().go(); }
exports.register = (dependant) => { Later = dependant; };
function outer() {
  let own;
  function set() { own = new Db(); db2 = own; }
  set();
  own.run();
  function shadow() { var db = { run: use }; let run; run = use; run(); }
}
function unrelated() { implicit = use; implicit(); }
-- driver.js --
const { register } = require('./db');
module.exports = class Db { run() {} };
class Last { go() {} }
register(Last);
`, `
calls db.js:init -> driver.js:Db @3:27
calls db.js:outer -> db.js:outer.set @9:2
calls db.js:outer -> driver.js:Db.run @10:6
calls db.js:outer.set -> driver.js:Db @8:29
calls db.js:outer.shadow -> db.js:use @11:65
calls db.js:unrelated -> db.js:use @13:39
calls db.js:use -> db.js:init @4:17
calls db.js:use -> driver.js:Db.run @4:28
calls db.js:use -> driver.js:Last.go @4:54 (flow 700)
may_call db.js:use -> driver.js:Last @4:46 (flow 700)
calls driver.js -> db.js:register @4:0
`, "calls", "may_call")
}
