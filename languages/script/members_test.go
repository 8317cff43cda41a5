package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestExportedMembers has functions that code reaches only as members of what a module exports: their
// names hide no import.
func TestExportedMembers(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- request.js --
const parse = require('parseurl');
const fresh = require('fresh');
module.exports = {
  get fresh() { return fresh(this.header); },
  parse() { return parse(this.url); },
  again() { this.parse(); },
};
exports.late = function () { return late(); };
-- only.js --
module.exports = (object) => object;
-- model.js --
module.exports = class { go() {} };
-- use.js --
const only = require('./only');
const Model = require('./model');
const request = require('./request');
only(1);
new Model().go();
request.parse();
request.late();
`, `
calls request.js:again -> request.js:parse @6:17
calls request.js:fresh -> javascript fresh default @4:23 (external)
calls request.js:parse -> javascript parseurl default @5:19 (external)
calls request.js:late -> late @8:36 (unresolved)
calls use.js -> model.js:exports @5:4
calls use.js -> model.js:exports.go @5:12
calls use.js -> only.js:exports @4:0
calls use.js -> request.js:late @7:8
calls use.js -> request.js:parse @6:8
`, "calls", "may_call")
}

// TestObjectsAsPrototypes has objects that are made of others, and are given members later.
func TestObjectsAsPrototypes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- app.js --
const context = require('./context');
const request = require('./request');
class App {
  constructor() {
    this.context = Object.create(context);
    this.request = Object.create(request);
  }
  make(req) {
    const context = Object.create(this.context);
    const request = (context.request = Object.create(this.request));
    context.app = request.app = this;
    request.ctx = context;
    return context;
  }
  serve(req) { this.handle(this.make(req)); this.passed(this.make(req)); setTimeout(this.passed); }
  handle(ctx) { const fail = (err) => ctx.onerror(err); ctx.request.remove(); ctx.unknown(); fail(); }
  passed(ctx) { ctx.onerror(); }
  toJSON() { return {}; }
}
-- context.js --
const proto = module.exports = {
  toJSON() { return [this.request.toJSON(), this.app.toJSON()]; },
  onerror() {},
};
-- request.js --
module.exports = { toJSON() { return this.ctx.onerror(); }, remove() {} };
`, `
calls app.js:App.handle -> app.js:App.handle.fail @16:93
calls app.js:App.handle -> request.js:remove @16:68 (flow 700)
calls app.js:App.handle.fail -> context.js:onerror @16:42 (flow 700)
may_call app.js:App.passed -> context.js:onerror @17:20 (flow 700)
calls app.js:App.serve -> app.js:App.handle @15:20
calls app.js:App.serve -> app.js:App.make @15:32,15:61
calls app.js:App.serve -> app.js:App.passed @15:49
calls app.js:App.constructor -> javascript globals Object.create @5:26,6:26 (external)
calls app.js:App.make -> javascript globals Object.create @9:27,10:46 (external)
calls app.js:App.serve -> javascript globals setTimeout @15:73 (external)
calls app.js:App.handle -> ctx.unknown @16:82 (unresolved)
calls context.js:toJSON -> app.js:App.toJSON @2:53
calls context.js:toJSON -> request.js:toJSON @2:34
calls request.js:toJSON -> context.js:onerror @1:46
`, "calls", "may_call")
}

// TestTypeAsName exports a name that is a word of TypeScript.
func TestTypeAsName(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
export function type() {}
-- index.js --
import {type} from './a.js';
export {type};
-- use.js --
import * as _ from './index.js';
_.type();
`, `
calls use.js -> a.js:type @2:2
`, "calls", "may_call")
}
