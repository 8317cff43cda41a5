package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestSignatures has functions that take functions: what those are given is known by declared types, or by what the
// functions pass on.
func TestSignatures(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- typed.ts --
export class User { greet() {} rename() {} }
class Admin extends User { greet() {} ban() {} }
type Visit = (key: string, user: User) => void
interface Hooks { opened(user: User): void; closed: (user: User, by?: Admin) => Admin; each: Visit }
interface UserConstructor { new (name: string): User; prototype: User }
class Store {
  User: UserConstructor
  each(fn: (user: User) => void) {}
  all(visit: Visit, hooks?: Hooks) {}
  made() { new this.User("a").rename() }
  run(make: () => User, find: (x: any) => User | undefined) {
    make().greet()
    find(1).rename()
    this.each(u => u.rename())
    this.all((key, u) => { u.rename(); key.rename() }, { opened: u => u.rename(), closed(u, by) { by.ban(); return by } })
  }
}
export const hooks: Hooks = { opened(user) { user.rename() }, closed: (user, by) => { by.ban(); return by }, each: (k, u) => u.rename() }
function local() {
  const mine: Hooks = { opened: (user) => user.rename() } as any
  hooks.closed(null).ban()
}
function wide<T>(fn: (x: T) => void) { fn(null) }
wide(x => x.rename())
-- plain.js --
import { User } from './typed'
function withUser(fn) { const user = new User(); return fn(user); }
function later(done, fail) { fail.call(null, 1, new User()); setTimeout(() => done(new User())); }
withUser(u => u.greet());
withUser(function (u) { u.greet(); });
later(u => { u[0] = 1; u.greet(); }, (n, u) => u.rename());
`, `
calls plain.js -> plain.js:later @6:0
calls plain.js -> plain.js:withUser @4:0,5:0
calls plain.js -> typed.ts:User.greet @4:16,5:26,6:25
calls plain.js -> typed.ts:User.rename @6:49
calls plain.js:later -> typed.ts:User @3:52,3:87
calls plain.js:withUser -> typed.ts:User @2:41
calls plain.js:later -> javascript globals setTimeout @3:61 (external)
calls plain.js:later -> done @3:78 (unresolved)
calls plain.js:later -> fail.call @3:34 (unresolved)
calls plain.js:withUser -> fn @2:56 (unresolved)
calls typed.ts -> typed.ts:wide @24:0
calls typed.ts:Store.made -> typed.ts:User.rename @10:30
calls typed.ts:Store.run -> typed.ts:Admin.ban @15:101
calls typed.ts:Store.run -> typed.ts:Store.all @15:9
calls typed.ts:Store.run -> typed.ts:Store.each @14:9
calls typed.ts:Store.run -> typed.ts:User.greet @12:11
calls typed.ts:Store.run -> typed.ts:User.rename @13:12,14:21,15:29,15:72
may_call typed.ts:Store.run -> typed.ts:Admin.greet @12:11 (flow 700)
calls typed.ts:hooks.closed -> typed.ts:Admin.ban @18:89
calls typed.ts:hooks.each -> typed.ts:User.rename @18:127
calls typed.ts:hooks.opened -> typed.ts:User.rename @18:50
calls typed.ts:local -> typed.ts:Admin.ban @21:21
may_call typed.ts:local -> typed.ts:Hooks.closed @21:8 (flow 700)
may_call typed.ts:local -> typed.ts:hooks.closed @21:8 (flow 700)
calls typed.ts:local.opened -> typed.ts:User.rename @20:47
calls typed.ts -> wide[<0>][<0>].rename @24:12 (unresolved)
calls typed.ts:Store.made -> self.User @10:20 (unresolved)
calls typed.ts:Store.run -> find @13:4 (unresolved)
calls typed.ts:Store.run -> make @12:4 (unresolved)
calls typed.ts:Store.run -> self.all[<0>][<0>].rename @15:43 (unresolved)
calls typed.ts:wide -> fn @23:39 (unresolved)
`, "calls", "may_call")
}
