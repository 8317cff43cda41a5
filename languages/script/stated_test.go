package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestStatedTypes has calls that only a stated type explains: of parts of objects, of type parameters, of generic classes
// that are made, of entries of mappings, and of members of interfaces that hold functions.
func TestStatedTypes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- user.ts --
export class User { active() {} }
export class Admin extends User { grant() {} }
export namespace Geo {
  export class Point { dist() {} }
  export const origin = (): Point => new Point()
}
-- repo.ts --
import { User } from './user'
export class Repo { one(): Promise<User> { return null as any } all(): Promise<User[]> { return null as any } names(): string[] { return [] } }
-- a.ts --
import { User, Admin, Geo } from './user'
import { Repo } from './repo'
interface Options { user: User; done: (u: User) => void; make?: () => Admin }
export class Service<T extends User = User> {
  private cache = new Map<string, Admin>()
  constructor(private opts: { repo: Repo; user?: User }, protected readonly entity: T, public byId: { [id: string]: Admin }) {}
  parts({ repo, user }: { repo: Repo; user: User }) { repo.all(); user.active(); this.opts.repo.one(); this.opts.user?.active() }
  bound() { this.entity.active() }
  made() { this.cache.get('x')?.grant(); const set = new Set<User>(); set.forEach(u => u.active()) }
  entries() { for (const [id, a] of Object.entries(this.byId)) a.grant(); for (const [k, v] of this.cache) v.grant(); Object.values(this.byId).map(a => a.grant()) }
  picked(p: Pick<User, 'active'>, o: Omit<Admin, 'x'>) { p.active(); o.grant() }
  async both() { const repo = this.opts.repo; const [u, all] = await Promise.all([repo.one(), repo.all()]); u.active(); all.forEach(x => x.active()) }
  callables(o: Options) { o.done(new User()); o.make?.().grant(); Geo.origin().dist() }
}
export const inner = [({ user, make }: Options) => { user.active() }]
export function same<T extends User>(x: T): T { return x }
export function kept() { same(new Admin()).grant() }
`, `
calls a.ts -> user.ts:User.active @15:58
calls a.ts:Service.both -> repo.ts:Repo.all @12:99
calls a.ts:Service.both -> repo.ts:Repo.one @12:87
calls a.ts:Service.both -> user.ts:User.active @12:110,12:139
calls a.ts:Service.bound -> user.ts:User.active @8:24
calls a.ts:Service.callables -> a.ts:Options.done @13:28
calls a.ts:Service.callables -> a.ts:Options.make @13:48
calls a.ts:Service.callables -> user.ts:Admin.grant @13:57
calls a.ts:Service.callables -> user.ts:Geo.Point.dist @13:79
calls a.ts:Service.callables -> user.ts:Geo.origin @13:70
calls a.ts:Service.callables -> user.ts:User @13:37
calls a.ts:Service.entries -> user.ts:Admin.grant @10:65,10:109,10:154
calls a.ts:Service.made -> user.ts:Admin.grant @9:32
calls a.ts:Service.made -> user.ts:User.active @9:89
calls a.ts:Service.parts -> repo.ts:Repo.all @7:59
calls a.ts:Service.parts -> repo.ts:Repo.one @7:96
calls a.ts:Service.parts -> user.ts:User.active @7:71,7:119
calls a.ts:Service.picked -> user.ts:Admin.grant @11:71
calls a.ts:Service.picked -> user.ts:User.active @11:59
calls a.ts:kept -> a.ts:same @17:25
calls a.ts:kept -> user.ts:Admin @17:34
calls a.ts:kept -> user.ts:Admin.grant @17:43
calls a.ts:Service -> javascript globals Map @5:22 (external)
calls a.ts:Service.both -> javascript globals Promise.all @12:77 (external)
calls a.ts:Service.entries -> javascript globals Object.entries @10:43 (external)
calls a.ts:Service.made -> javascript globals Set @9:57 (external)
calls a.ts:Service.both -> all.forEach @12:124 (unresolved)
calls a.ts:Service.entries -> self.byId.map @10:143 (unresolved)
calls a.ts:Service.made -> set.forEach @9:74 (unresolved)
calls user.ts:Geo.origin -> user.ts:Geo.Point @5:41
`, "calls", "may_call")
}

// TestNarrowedTypes has names that are instances of a class below a condition.
func TestNarrowedTypes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.js --
export class Cat { purr() {} }
export class Dog { bark() {} is() {} }
export function all(x, y, z) {
  if (x instanceof Cat) { x.purr() } else x.run()
  if (y && y instanceof Dog && y.is()) y.bark()
  if (z instanceof Cat) { z = new Dog(); z.purr() }
  return x instanceof Dog ? x.bark() : x.purr()
}
`, `
calls a.js:all -> a.js:Cat.purr @4:28
calls a.js:all -> a.js:Dog @6:34
calls a.js:all -> a.js:Dog.bark @5:41,7:30
calls a.js:all -> a.js:Dog.is @5:33
calls a.js:all -> x.purr @7:41 (unresolved)
calls a.js:all -> x.run @4:44 (unresolved)
calls a.js:all -> z.purr @6:43 (unresolved)
`, "calls", "may_call")
}

// TestMergedInterfaces has classes with interfaces of their names, methods that return this, and an interface in two
// parts.
func TestMergedInterfaces(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- base.ts --
export default abstract class Schema<T = any> {
  clone(): this { const next: Schema = Object.create(this); return next as this }
  test(name: string): this
  test(options: object): this
  test(...args: any[]) { const next = this.clone(); next.label(); return next }
  label() {}
  optional(): any {}
  concat(other: this) { other.label(); return this.withMutation((s: this) => s.test('x')) }
  withMutation<R>(fn: (s: this) => R): R { return fn(this) }
  oneOf(x: string): this
  oneOf(x: string): any { let next = this.clone(); return next }
}
-- text.ts --
import Schema from './base'
export function create() { return new Text() }
export default class Text<T = any> extends Schema<T> {
  length() { return this.test({}).trim() }
  trim() { return this.clone().test('x') }
}
export default interface Text<T = any> extends Schema<T> { optional(): Text<T>; extra(): Text<T> }
interface Options { a(): Text }
interface Options { b(): Text }
export function use(t: Text, o: Options) { t.length().trim().label(); t.optional(); t.extra().trim(); o.a().trim(); o.b().length(); create().trim(); t.oneOf('x').trim() }
`, `
calls base.ts:Schema.concat -> base.ts:Schema.label @8:30
calls base.ts:Schema.concat -> base.ts:Schema.test#3 @8:79
calls base.ts:Schema.concat -> base.ts:Schema.withMutation @8:51
calls base.ts:Schema.oneOf#2 -> base.ts:Schema.clone @11:42
calls base.ts:Schema.test#3 -> base.ts:Schema.clone @5:43
calls base.ts:Schema.test#3 -> base.ts:Schema.label @5:57
calls base.ts:Schema.clone -> javascript globals Object.create @2:46 (external)
calls base.ts:Schema.withMutation -> fn @9:50 (unresolved)
calls text.ts:Text.length -> base.ts:Schema.test#3 @4:25
calls text.ts:Text.length -> text.ts:Text.trim @4:34
calls text.ts:Text.trim -> base.ts:Schema.clone @5:23
calls text.ts:Text.trim -> base.ts:Schema.test#3 @5:31
calls text.ts:create -> text.ts:Text @2:38
calls text.ts:use -> base.ts:Schema.label @10:61
calls text.ts:use -> base.ts:Schema.oneOf#2 @10:151
calls text.ts:use -> base.ts:Schema.optional @10:72
calls text.ts:use -> text.ts:Options.a @10:104
calls text.ts:use -> text.ts:Options.b @10:118
calls text.ts:use -> text.ts:Text.extra @10:86
calls text.ts:use -> text.ts:Text.length @10:45,10:122
calls text.ts:use -> text.ts:Text.trim @10:54,10:94,10:108,10:141,10:162
calls text.ts:use -> text.ts:create @10:132
`, "calls", "may_call")
}
