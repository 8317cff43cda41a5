package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestGivenObjects has objects that are given to functions before they get a name, constants with the name of an
// interface, and calls through interfaces: fields, call signatures, overloads, and values beside a declared type.
func TestGivenObjects(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- u.ts --
export function freeze<T>(obj: T): Readonly<T> { return Object.freeze(obj) }
-- node.ts --
import { freeze } from './u.js'
export interface Node extends Source { readonly kind: string; toSource(): string }
type NodeFactory = Readonly<{ is(node: any): node is Node }>
export const Node: NodeFactory = freeze<NodeFactory>({
  is(node): node is Node { return node.kind === 'Node' },
  create: (kind) => freeze({ kind }),
})
export const plain = Object.freeze({ one() { return plain.two() }, two() {} } as const)
export const other = { go() { return this.stop() }, stop() {} } satisfies Source
export default Object.freeze({ open() {} })
-- run.ts --
import all, { Node, plain, other } from './node.js'
interface Executor { run(node: Node): void; run(node: Node, id: string): void; withId(): Executor }
class Base implements Executor { run(node: Node, id?: string) {} withId(): Executor { return this } }
interface Props { readonly executor: Executor }
interface Tag { (text: TemplateStringsArray): Executor; raw(): Executor }
export const sql: Tag = Object.assign((text: TemplateStringsArray): Executor => { return new Base() }, { raw() { return new Base() } })
export class Builder {
  readonly #props: Props
  kept: Executor = new Base()
  constructor(props: Props) { this.#props = Object.freeze(props) }
  go(node: Node) {
    Node.is(node); Node.create('x'); plain.one(); other.go(); all.open()
    this.#props.executor.withId().run(node)
    this.#props.executor.run(node, 'a')
    this.kept.withId()
    sql`+"`a`"+`.run(node)
    node.toSource()
  }
}
`, `
calls node.ts -> u.ts:freeze @4:33
calls node.ts:Node.create -> u.ts:freeze @6:20
calls node.ts:other.go -> node.ts:other.stop @9:42
calls node.ts:plain.one -> node.ts:plain.two @8:58
calls node.ts -> javascript globals Object.freeze @8:28 (external)
calls run.ts:Builder -> run.ts:Base @9:23
calls run.ts:Builder.go -> node.ts:Node.create @12:24
calls run.ts:Builder.go -> node.ts:Node.is @12:9
calls run.ts:Builder.go -> node.ts:Node.toSource @17:9
calls run.ts:Builder.go -> node.ts:default.open @12:66
calls run.ts:Builder.go -> node.ts:other.go @12:56
calls run.ts:Builder.go -> node.ts:plain.one @12:43
calls run.ts:Builder.go -> run.ts:Executor.run @13:34,16:11
calls run.ts:Builder.go -> run.ts:Executor.run#2 @14:25
calls run.ts:Builder.go -> run.ts:Executor.withId @13:25,15:14
calls run.ts:Builder.go -> run.ts:sql @16:4
may_call run.ts:Builder.go -> run.ts:Base.run @13:34,14:25,16:11 (flow 700)
may_call run.ts:Builder.go -> run.ts:Base.withId @13:25,15:14 (flow 700)
calls run.ts:sql -> run.ts:Base @6:93
calls run.ts:sql.raw -> run.ts:Base @6:124
calls run.ts:Builder.constructor -> javascript globals Object.freeze @10:51 (external)
calls run.ts:sql -> javascript globals Object.assign @6:31 (external)
calls u.ts:freeze -> javascript globals Object.freeze @1:63 (external)
`, "calls", "may_call")
}
