package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestTypesSaidAround has values of which code around a call, or the call itself, says of what type they are: casts, functions
// that tell types, conditions below which a block is left, type arguments, and containers that are made inside of others.
func TestTypesSaidAround(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- kinds.ts --
export class Node { walk() {} }
export class Leaf extends Node { bend() {} }
export function isLeaf(x: unknown): x is Leaf { return x instanceof Leaf }
export function isEmpty(x: unknown): boolean { return !x }
export function load<T>(): T { return null as any }
export const known = { leaves: [] as Leaf[], byName: new Map<string, Leaf>() }
-- use.ts --
import { Node, Leaf, isLeaf, isEmpty, load, known } from './kinds'
export function cast(x: any) { (x as Leaf).bend(); (x as any).bend() }
export function guarded(x: unknown, l: unknown[]) { if (isLeaf(x)) x.bend(); l.forEach(y => { if (isLeaf(y)) y.bend() }) }
export function unguarded(x: Node) { if (isEmpty(x)) x.walk() }
export function left(x: unknown) { if (!(x instanceof Leaf)) return; x.bend() }
export function thrown(x: unknown) { if (!x || !isLeaf(x)) { throw new Error() } x.bend() }
export function given(x: unknown) { if (!isLeaf(x)) { x = null } (x as Node).walk() }
export function argument() { load<Leaf>().bend() }
export function inside() { known.leaves[0].bend(); known.byName.get('x')!.bend() }
export function type(c: typeof Leaf, x: InstanceType<typeof Leaf>) { new c().bend(); x.bend() }
export class One { private static one?: One; static get() { return (One.one ??= new One()) } only() {} }
export function single() { One.get().only() }
`, `
calls kinds.ts:known -> javascript globals Map @6:57 (external)
calls use.ts:One.get -> use.ts:One @11:84
calls use.ts:argument -> kinds.ts:Leaf.bend @8:42
calls use.ts:argument -> kinds.ts:load @8:29
calls use.ts:cast -> kinds.ts:Leaf.bend @2:43
calls use.ts:given -> kinds.ts:Node.walk @7:77
calls use.ts:given -> kinds.ts:isLeaf @7:41
calls use.ts:guarded -> kinds.ts:Leaf.bend @3:69
calls use.ts:guarded -> kinds.ts:isLeaf @3:56,3:98
calls use.ts:inside -> kinds.ts:Leaf.bend @9:43,9:74
calls use.ts:left -> kinds.ts:Leaf.bend @5:71
calls use.ts:single -> use.ts:One.get @12:31
calls use.ts:single -> use.ts:One.only @12:37
calls use.ts:thrown -> kinds.ts:Leaf.bend @6:83
calls use.ts:thrown -> kinds.ts:isLeaf @6:48
calls use.ts:type -> kinds.ts:Leaf.bend @10:77,10:87
may_call use.ts:type -> kinds.ts:Leaf @10:73 (flow 700)
calls use.ts:unguarded -> kinds.ts:Node.walk @4:55
calls use.ts:unguarded -> kinds.ts:isEmpty @4:41
calls use.ts:thrown -> javascript globals Error @6:71 (external)
calls use.ts:cast -> x.bend @2:62 (unresolved)
calls use.ts:guarded -> l.forEach @3:79 (unresolved)
calls use.ts:guarded -> l[][is isLeaf].bend @3:111 (unresolved)
`, "calls", "may_call")
}
