package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestShapes has calls on values of which nothing is known but what else is called on them: two members that one class
// alone has, one if the value is called like the class, and those of all that are called alike in a file.
func TestShapes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- lib/shapes.js --
class Shape { paint() {} outline() {} on() {} emit() {} }
class Circle extends Shape { outline() {} }
class Label { paint() {} describeIt() {} }
function newOutput() {
  function write() {}
  const made = { write: write, space() {}, newline() {} };
  return made;
}
module.exports = { Shape, Label, newOutput };
-- lib/draw.js --
exports.both = (shape) => { shape.paint(); shape.outline(); shape.on('x'); };
exports.one = (list) => { list.forEach((x) => { x.paint(); x.describeIt(); x.done(); }); };
exports.named = (label) => { label.paint(); };
exports.output = (output) => { output.space(); output.newline(); };
exports.alike = (output) => { output.space(); };
exports.only = (thing) => { thing.paint(); };
exports.length = (circle) => { circle.paint(); };
exports.paint = (a) => { a.paint(); a.describe(); };
`, `
calls lib/draw.js:alike -> lib/shapes.js:newOutput.space @5:37 (name_matched 500)
calls lib/draw.js:both -> lib/shapes.js:Shape.on @1:66 (name_matched 500)
calls lib/draw.js:both -> lib/shapes.js:Shape.outline @1:49 (name_matched 500)
calls lib/draw.js:both -> lib/shapes.js:Shape.paint @1:34 (name_matched 500)
calls lib/draw.js:length -> lib/shapes.js:Shape.paint @7:38 (name_matched 500)
calls lib/draw.js:named -> lib/shapes.js:Label.paint @3:35 (name_matched 500)
calls lib/draw.js:one -> lib/shapes.js:Label.describeIt @2:61 (name_matched 500)
calls lib/draw.js:output -> lib/shapes.js:newOutput.newline @4:54 (name_matched 500)
calls lib/draw.js:output -> lib/shapes.js:newOutput.space @4:38 (name_matched 500)
calls lib/draw.js:one -> list.forEach @2:31 (unresolved)
calls lib/draw.js:one -> list[].done @2:77 (unresolved)
calls lib/draw.js:one -> list[].paint @2:50 (unresolved)
calls lib/draw.js:only -> thing.paint @6:34 (unresolved)
calls lib/draw.js:paint -> a.describe @8:38 (unresolved)
calls lib/draw.js:paint -> a.paint @8:27 (unresolved)
`, "calls", "may_call")
}
