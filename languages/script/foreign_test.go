package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestForeign has calls of what is put into the prototype of another package on parameters of which nothing is known, a method
// that something may replace, and a function of the name of what it calls on something that is well known.
func TestForeign(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/request.js --
const http = require('http')
function patch(Request) {
  Request.prototype.href = function () {}
  Request.prototype.getPath = function () {}
  Request.prototype.path = Request.prototype.getPath
}
patch(http.IncomingMessage)
-- lib/static.js --
exports.serve = (req) => { req.path(); req.href() }
-- lib/broker.js --
module.exports = class Broker {
  constructor(wrap) { this.publish = wrap(this.publish, this.describe) }
  publish() {}
  describe() {}
  flushAll() {}
  wrapped() { this.publish = this.describe }
}
-- lib/plugin.js --
exports.start = (it) => { it.publish(); it.flushAll() }
-- lib/other.js --
class Head { type() {} marshal() {} header() {} payload() {} }
-- lib/headers.js --
exports.all = (response) => { response.marshal(); response.header(); response.payload() }
exports.type = (response) => { response.type() }
`, `
calls lib/broker.js:Broker.constructor -> wrap @2:37 (unresolved)
calls lib/headers.js:all -> lib/other.js:Head.header @1:59 (name_matched 500)
calls lib/headers.js:all -> lib/other.js:Head.marshal @1:39 (name_matched 500)
calls lib/headers.js:all -> lib/other.js:Head.payload @1:78 (name_matched 500)
calls lib/headers.js:type -> lib/other.js:Head.type @2:40 (name_matched 500)
calls lib/plugin.js:start -> lib/broker.js:Broker.flushAll @1:43 (name_matched 500)
calls lib/plugin.js:start -> lib/broker.js:Broker.publish @1:29 (name_matched 500)
calls lib/request.js -> lib/request.js:patch @7:0
calls lib/static.js:serve -> lib/request.js:patch.getPath @1:31 (name_matched 500)
calls lib/static.js:serve -> lib/request.js:patch.href @1:43 (name_matched 500)
`, "calls", "may_call")
}
