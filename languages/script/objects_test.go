package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestMembersOfValues has functions that are assigned to members of objects of which only values tell what
// they are: parameters, results of calls, what other files export. Their `this` is the object.
func TestMembersOfValues(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- env.js --
exports.Env = Env;
function Env() {}
Env.prototype = { log: say, Kind: Kind, start() { new this.Kind().run(); } };
function say() {}
function Kind() {}
Kind.prototype = { run() {} };
-- make.js --
const env = require('./env');
const augment = require('./augment');
function compile() {}
function make() {
  const hb = new env.Env();
  hb.compile = function () { compile(); return this.log(); };
  hb.arrow = () => this.log();
  return hb;
}
augment(env.Env);
const one = make();
one.compile(); one.log(); one.start(); one.toQuery();
env.later = function () { env.later2(); };
env.later2 = () => {};
-- augment.js --
module.exports = function (Target) {
  Target.prototype.toQuery = function () { return this.toText(); };
  var text = Target.prototype.toText = function () { text(); };
  Target.prototype.again = function () { text.call(this); };
};
-- wrap.js --
module.exports = (api) => { const old = api.close; api.close = function () { return this.close(); }; };
`, `
calls augment.js:exports.again -> augment.js:exports.toText @4:46
calls augment.js:exports.toQuery -> augment.js:exports.toText @2:55 (flow 700)
calls augment.js:exports.toText -> augment.js:exports.toText @3:53
calls env.js:Env.start -> env.js:Kind @3:59
calls env.js:Env.start -> env.js:Kind.run @3:66
calls make.js -> augment.js:exports @10:0
calls make.js -> augment.js:exports.toQuery @12:43 (flow 700)
calls make.js -> env.js:Env.start @12:30
calls make.js -> env.js:say @12:19
calls make.js -> make.js:make @11:12
calls make.js -> make.js:make.compile @12:4
calls make.js:later -> make.js:later2 @13:30
calls make.js:make -> env.js:Env @5:21
calls make.js:make.compile -> env.js:say @6:52
calls make.js:make.compile -> make.js:compile @6:29
calls make.js:make.arrow -> self.log @7:24 (unresolved)
calls wrap.js:exports.close -> self.close @1:89 (unresolved)
`, "calls", "may_call")
}

// TestLiteralMembers has objects that functions return, or keep in variables.
func TestLiteralMembers(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
function make(x) { return { get() { return this.put(); }, put: function () { helper(); }, also: (y) => make(y) }; }
function helper() {}
const one = make();
one.get(); one.put(); one.also().get();
function local() { const util = { go() { this.stop(); }, stop() { stop(); } }; util.go(); return util; }
local().go();
const arrow = () => ({ run() {} });
arrow().run();
class K { constructor() { this.api = make(); } use() { this.api.get(); } }
function stop() {}
function members() { const list = { pop() { return this.pop(); }, far() { this.pop(); } }; return list; }
-- http.js --
const http = require('http');
const own = require('./own');
exports.of = { 'plain:': http, 'own:': own };
exports.send = function (kind) {
  const from = kind ? exports.of['own:'].setProtocol(1) : exports.of[kind];
  const req = from.request();
  req.setHeader();
  req.own();
};
-- own.js --
exports.setProtocol = () => ({ request(o) { return new Request(o); } });
class Request { setHeader() {} own() {} }
`, `
calls a.js -> a.js:arrow @8:0
calls a.js -> a.js:arrow.run @8:8
calls a.js -> a.js:local @6:0
calls a.js -> a.js:local.go @6:8
calls a.js -> a.js:make @3:12
calls a.js -> a.js:make.also @4:26
calls a.js -> a.js:make.get @4:4,4:33
calls a.js -> a.js:make.put @4:15
calls a.js:K.constructor -> a.js:make @9:37
calls a.js:K.use -> a.js:make.get @9:64
calls a.js:local -> a.js:local.go @5:84
calls a.js:local.go -> a.js:local.stop @5:46
calls a.js:local.stop -> a.js:stop @5:66
calls a.js:make.also -> a.js:make @1:103
calls a.js:make.get -> a.js:make.put @1:48
calls a.js:make.put -> a.js:helper @1:77
calls a.js:members.far -> a.js:members.pop @11:79
may_call a.js:members.pop -> a.js:members.pop @11:56 (flow 700)
calls http.js:send -> own.js:Request.own @8:6 (flow 700)
may_call http.js:send -> own.js:Request.setHeader @7:6 (flow 700)
may_call http.js:send -> own.js:setProtocol @5:41 (flow 700)
may_call http.js:send -> own.js:setProtocol.request @6:19 (flow 700)
may_call http.js:send -> javascript http request @6:19 (flow 700) (external)
may_call http.js:send -> javascript http setProtocol @5:41 (flow 700) (external)
calls own.js:setProtocol.request -> own.js:Request @1:55
`, "calls", "may_call")
}

// TestMadeInPlace has functions that are called where they are made, whose results are values.
func TestMadeInPlace(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
var f = (function () { function help() {} if (1) return function (x) { help(); return new K(); }; return function () { help(); }; })();
f().run();
var K = (function () { function K() {} K.prototype.run = function () {}; return K; })();
new K().run();
var api = (function () { function own() { api.also(); } return { own: own, also: function () { own(); }, meth() { this.also(); } }; }).call(this);
api.own(); api.also(); api.meth();
module.exports = (function () { function inner() {} return { inner: inner }; })();
var Old = (function () { var Inner = function Inner() {}; Inner.prototype.go = function () {}; return Inner; }());
new Old().go();
var given = (function (x) { return function () {}; })(1);
given();
-- use.js --
require('./a').inner();
`, `
calls a.js -> a.js:Inner @9:4
calls a.js -> a.js:Inner.go @9:10
calls a.js -> a.js:K @4:4
calls a.js -> a.js:K.run @2:4,4:8
calls a.js -> a.js:api.also @6:15
calls a.js -> a.js:api.meth @6:27
calls a.js -> a.js:f @2:0
calls a.js -> a.js:given @11:0
calls a.js -> a.js:own @6:4
calls a.js:api.also -> a.js:own @5:95
calls a.js:api.meth -> a.js:api.also @5:119
calls a.js:f -> a.js:K @1:90
calls a.js:f -> a.js:f.help @1:71,1:119
calls a.js:own -> a.js:api.also @5:46
calls a.js -> ?.call @5:135 (unresolved)
calls use.js -> a.js:inner @1:15
`, "calls", "may_call")
}

// TestOwnExports has modules that read what they export.
func TestOwnExports(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- client.js --
module.exports = (method) => { return new exports.Request(method).end(); };
exports = module.exports;
const request = exports;
exports.Request = Request;
function Request() {}
Request.prototype.end = function () { return this.send(); };
Request.prototype.send = function () {};
request.get = (x) => { request(x); const q = new request.Request(); q.send(); };
-- main.js --
const main = exports;
main.create = require('./create');
exports.create();
['a'].forEach((name) => { exports[name] = () => {}; });
-- create.js --
module.exports = function create() {};
`, `
calls client.js:Request.end -> client.js:Request.send @6:50
calls client.js:exports -> client.js:Request @1:50
calls client.js:exports -> client.js:Request.end @1:66
calls client.js:get -> client.js:Request @8:57
calls client.js:get -> client.js:Request.send @8:70
calls client.js:get -> client.js:exports @8:23
calls main.js -> create.js:create @3:8
calls main.js -> ?.forEach @4:6 (unresolved)
`, "calls", "may_call")
}

// TestMadeOutside has calls of methods that only one function has by name, on what another package makes.
func TestMadeOutside(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- stub.js --
class Node { toStringWithMap() {} }
-- use.js --
import { Node, make } from 'source-map';
let output = new Node();
output.toStringWithMap();
make().toStringWithMap();
function f(any) { any.toStringWithMap(); }
`, `
calls use.js:f -> stub.js:Node.toStringWithMap @5:22 (name_matched 500)
calls use.js -> javascript source-map Node @2:17 (external)
calls use.js -> javascript source-map make @4:0 (external)
calls use.js -> make().toStringWithMap @4:7 (unresolved)
calls use.js -> output.toStringWithMap @3:7 (unresolved)
`, "calls", "may_call")
}

// TestClassesOfObjects has classes that only members of objects have.
func TestClassesOfObjects(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- ext.js --
const internals = {};
exports = module.exports = internals.Ext = class {
  constructor(core) { this.core = core; }
  static combine(route) { const ext = new internals.Ext(1); ext.merge(); return ext; }
  merge() { return new internals.Node(); }
};
internals.Node = class { constructor() {} };
-- route.js --
const Ext = require('./ext');
Ext.combine(1).merge();
exports.Route = class Route extends Ext { go() { this.merge(); return new Route(); } };
class Core { Response = class extends Ext { }; made() { return new this.Response(); } }
`, `
calls ext.js:Ext.combine -> ext.js:Ext.constructor @4:52
calls ext.js:Ext.combine -> ext.js:Ext.merge @4:64
calls ext.js:Ext.merge -> ext.js:Node.constructor @5:33
calls route.js -> ext.js:Ext.combine @2:4
calls route.js -> ext.js:Ext.merge @2:15
extends route.js:Core.Response -> ext.js:Ext @4:38
calls route.js:Core.made -> ext.js:Ext.constructor @4:72
extends route.js:Route -> ext.js:Ext @3:36
calls route.js:Route.go -> ext.js:Ext.constructor @3:74
calls route.js:Route.go -> ext.js:Ext.merge @3:54
`, "calls", "may_call", "extends")
}
