package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestOnlyGiven has parameters with the name of the only class that is called so: they are bases, and instances are made of them,
// unless a class extends it. A parameter with the name of a method is not the method.
func TestOnlyGiven(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/reader.js --
module.exports = function () {
  function Reader() {}
  Reader.prototype.open = function () {}
  Reader.prototype.close = function () {}
  return Reader
}
-- lib/lines.js --
const util = require('util')
module.exports = function (Reader, Unknown) {
  function Lines() {}
  util.inherits(Lines, Reader)
  Lines.prototype.readAll = function () { this.open(); this.close() }
  const first = new Reader()
  first.open()
  new Unknown()
  return Lines
}
-- lib/made.js --
module.exports = function (Timer) {
  this.timer = new Timer()
}
class Writer {}
class FileWriter extends Writer {}
exports.make = (Writer) => new Writer()
-- lib/timer.js --
module.exports = class Timer {}
-- lib/packet.js --
function Packet(data, close) { this._data = data; this.close = close }
Packet.prototype.data = function () { return this._data }
Packet.prototype.read = function () { return this._data() }
`, `
may_call lib/lines.js:exports -> lib/reader.js:exports.Reader @6:20 (flow 700)
may_call lib/lines.js:exports -> lib/reader.js:exports.Reader.open @7:8 (flow 700)
calls lib/lines.js:exports.Lines.readAll -> lib/reader.js:exports.Reader.close @5:60
calls lib/lines.js:exports.Lines.readAll -> lib/reader.js:exports.Reader.open @5:47
calls lib/lines.js:exports -> javascript util inherits @4:7 (external)
calls lib/lines.js:exports -> Unknown @8:6 (unresolved)
calls lib/made.js:exports -> lib/timer.js:Timer @2:19
may_call lib/made.js:make -> lib/made.js:Writer @6:31 (flow 700)
calls lib/packet.js:Packet.read -> self._data @3:50 (unresolved)
`, "calls", "may_call")
}
