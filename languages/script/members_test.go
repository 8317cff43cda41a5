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

// TestRegisteredMembers has functions that become members by calls that give them a name: their `this`,
// what calls of them call, and chains of members of which only the kind is known.
func TestRegisteredMembers(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- claim.js --
import { addMethod, addProperty, addChain } from './add.js';
export class Claim {
  static addMethod(name, fn) { addMethod(this.prototype, name, fn); }
  static addProperty(name, fn) { addProperty(this.prototype, name, fn); }
  static addChain(name, fn, read) { addChain(this.prototype, name, fn, read); }
  check(ok) {}
}
-- add.js --
import { Claim } from './claim.js';
export function addMethod(object, name, method) {
  let wrapper = function () {
    let result = method.apply(this, arguments);
    return result === undefined ? new Claim() : result;
  };
  object[name] = wrapper;
}
export function addProperty(object, name, getter) {
  Object.defineProperty(object, name, { get: function get() { if (getter) getter.call(this); return new Claim(); } });
}
export function addChain(object, name, method, read) {
  const kept = object;
  let both = { method: method, read: read };
  Object.defineProperty(kept, name, { get: function chain() { both.read.call(this); function call() { return both.method.apply(this, arguments); } return call; } });
}
export function overwrite(object, name, make) {
  object[name] = function () { return make(object[name]).apply(this, arguments); };
}
-- claims.js --
import { Claim } from './claim.js';
['to', 'be'].forEach(function (word) { Claim.addProperty(word); });
function keys(all) { this.check(all.length); }
Claim.addMethod('keys', keys);
Claim.addMethod('key', keys);
Claim.addMethod('members', function (all) { this.keys(all); });
Claim.addProperty('not', function () { this.check(1); });
function include() { this.check(2); }
function includes() { this.check(3); }
Claim.addChain('include', include, includes);
-- use.js --
import { Claim } from './claim.js';
new Claim().to.be.key(1);
new Claim().to.not.members(1).but.include(2);
new Claim().to.other(1);
-- own.js --
import { overwrite } from './add.js';
class Own { check() {} }
function replaced() { this.check(); }
overwrite(Own.prototype, 'replaced', replaced);
new Own().replaced();
`, `
calls add.js:addMethod.wrapper -> claim.js:Claim @5:38
calls add.js:addProperty.get -> claim.js:Claim @10:104
calls add.js:addChain -> javascript globals Object.defineProperty @15:9 (external)
calls add.js:addProperty -> javascript globals Object.defineProperty @10:9 (external)
calls add.js:overwrite -> make().apply @18:57 (unresolved)
calls claim.js:Claim.addChain -> add.js:addChain @5:36
calls claim.js:Claim.addMethod -> add.js:addMethod @3:31
calls claim.js:Claim.addProperty -> add.js:addProperty @4:33
calls claims.js -> claim.js:Claim.addChain @10:6
calls claims.js -> claim.js:Claim.addMethod @4:6,5:6,6:6
calls claims.js -> claim.js:Claim.addProperty @2:45,7:6
calls claims.js:include -> claim.js:Claim.check @8:26
calls claims.js:includes -> claim.js:Claim.check @9:27
calls claims.js:keys -> claim.js:Claim.check @3:26
calls claims.js:members -> claims.js:keys @6:49
calls claims.js:not -> claim.js:Claim.check @7:44
calls claims.js -> ?.forEach @2:13 (unresolved)
calls own.js -> add.js:overwrite @4:0
calls own.js -> own.js:Own @5:4
calls own.js -> Own().replaced @5:10 (unresolved)
calls own.js:replaced -> self.check @3:27 (unresolved)
calls use.js -> claim.js:Claim @2:4,3:4,4:4
calls use.js -> claims.js:include @3:34
calls use.js -> claims.js:keys @2:18
calls use.js -> claims.js:members @3:19
calls use.js -> Claim().to.other @4:15 (unresolved)
`, "calls")
}

// TestWrappedMember assigns to a prototype what another package makes of a function.
func TestWrappedMember(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- map.js --
const util = require('util');
class Hooks { for(key) {} }
Hooks.prototype.tap = util.deprecate(function tap(key) { return this.for(key); }, 'old');
new Hooks().tap();
`, `
calls map.js -> map.js:Hooks @4:4
calls map.js -> map.js:Hooks.tap @4:12
calls map.js:Hooks.tap -> map.js:Hooks.for @3:69
calls map.js -> javascript util deprecate @3:27 (external)
`, "calls", "may_call")
}

// TestDocumentedElements has types that only documentation comments name: of other files, of type
// parameters, of the elements of arrays.
func TestDocumentedElements(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- hook.js --
class Hook { tap() {} used() { return true; } }
module.exports = Hook;
-- multi.js --
/** @typedef {import("./hook").Any} Any */
/**
 * @template T, R
 * @typedef {import("./hook")<T, R>} Hook
 */
/**
 * @template {Hook<Any>} H
 */
class Multi {
  /**
   * @param {H[]} hooks the hooks
   * @param {H} first the first
   * @param {Array<import("./hook")>} more
   */
  constructor(hooks, first, more) { this.hooks = hooks; first.used(); more[0].used(); }
  tap() { const { hooks } = this; for (let i = 0; i < hooks.length; i++) hooks[i].tap(); }
  all() { return this.hooks.map((hook) => hook.used()); }
}
/** @param {H[]} hooks */
function outside(hooks) { hooks[0].used(); }
`, `
calls multi.js:Multi.all -> hook.js:Hook.used @17:47
calls multi.js:Multi.constructor -> hook.js:Hook.used @15:62,15:78
calls multi.js:Multi.tap -> hook.js:Hook.tap @16:82
calls multi.js:Multi.all -> self.hooks.map @17:28 (unresolved)
calls multi.js:outside -> hooks[0].used @20:35 (unresolved)
`, "calls", "may_call")
}

// TestReplacedMethods has a method of which instances get others: it is called, and they may be.
func TestReplacedMethods(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- hook.js --
class Hook {
  compile() { throw new Error(); }
  create() { return this.compile(); }
}
function one() {}
function other() {}
function make() { const hook = new Hook(); hook.compile = one; return hook; }
function again() { const hook = new Hook(); hook.compile = other; return hook; }
`, `
calls hook.js:Hook.create -> hook.js:Hook.compile @3:25
may_call hook.js:Hook.create -> hook.js:one @3:25 (flow 700)
may_call hook.js:Hook.create -> hook.js:other @3:25 (flow 700)
calls hook.js:again -> hook.js:Hook @8:36
calls hook.js:make -> hook.js:Hook @7:35
calls hook.js:Hook.compile -> javascript globals Error @2:24 (external)
`, "calls", "may_call")
}

// TestRegisteredAreUsed refers to functions that calls are given in place, since nothing else names them.
func TestRegisteredAreUsed(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
class Claim { static add(name, fn) {} check() {} }
Claim.add('members', function () { this.check(); });
function put(object, name) {
  Object.defineProperty(object, name, { get: function getter() { return 1; } });
}
`, `
references a.js -> a.js:members @2:21
references a.js:put -> a.js:put.getter @4:45
`, "references")
}
