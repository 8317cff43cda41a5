package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestConstants has calls of constants of whose values no declaration tells: by a member of the object that exports them, and by what
// a call returns that only a type tells. Members whose type is another name of a function's type can be called.
func TestConstants(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- utils.js --
const kindOf = (type) => (it) => typeof it === type
const isDate = kindOf('date')
const isText = kindOf('string')
export default { isDate, text: isText }
-- use.js --
import utils from './utils'
export function use() { utils.isDate(1); utils.text('') }
-- machine.ts --
export interface Step { (to: string): boolean }
export type Named = (to: string) => boolean
export function own(table: object): Step { return function step(to) { return true } }
const next = own({})
interface Steps { first: Named }
export function go(s: Steps) { next('a'); s.first('b') }
`, `calls machine.ts -> machine.ts:own @4:13
calls machine.ts:go -> machine.ts:Steps.first @6:44
calls machine.ts:go -> machine.ts:next @6:31
may_call machine.ts:go -> machine.ts:own.step @6:31 (flow 700)
calls use.js:use -> utils.js:isDate @2:30
calls use.js:use -> utils.js:isText @2:47
calls utils.js -> utils.js:kindOf @2:15,3:15
`, "calls", "may_call")
}
