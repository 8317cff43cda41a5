package script

import (
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

// TestDocumentTags has calls that only types in documentation comments explain: of variables, fields and expressions,
// of properties and parameters of types that comments declare or import, in the ways of TypeScript, Closure and JSDoc.
func TestDocumentTags(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- shape.d.ts --
export interface Shape { area(): number; user: User }
import { User } from './user.js'
export class Holder { run(): void }
-- typed.js --
/** @param {import("./shape").Shape} shape
 * @param {import("./shape").Holder} holder */
export function typed(shape, holder) { shape.area(); shape.user.active(); holder.run() }
-- user.js --
export class User { active() {} }
export class Group { /** @type {User[]} */ members = read(); first() { this.members[0].active() } }
/** @typedef {{owner: User, groups?: Map<string, Group>}} Options */
-- types.js --
/**
 * @typedef {Object} Task
 * @property {import("./user.js").User} user who does it
 * @property {Task} [next]
 */
/** @callback Visit
 * @param {import("./user.js").Group} group
 * @returns {import("./user.js").User}
 */
export const none = 1
-- stated.js --
/** @import { User, Options as Given } from "./user.js" */
/** @typedef {import("./types.js").Task} Task */
/** @type {User} */
let current = null
export class Holder {
  constructor(raw) {
    /** @type {?User} */
    this.user = raw
    /** @type {Object.<string, User>} */
    this.byName = raw.names
    /** @type {User | null} */
    this.last
  }
  run(raw) {
    this.user.active()
    this.byName.x.active()
    this.last.active()
    current.active()
    const one = /** @type {User} */ (raw.one)
    one.active()
    ;(/** @type {User} */ (raw.two)).active()
  }
}
/**
 * @param {Given} given
 * @param {Task} task
 * @param {Object} more
 * @param {User} more.user
 * @param {User[]} more.all
 */
export function props(given, task, more) {
  given.owner.active()
  given.groups.get("x").first()
  task.next.next.user.active()
  more.user.active()
  more.all.forEach(u => u.active())
}
/** @type {import("./types.js").Visit} */
export const visit = (group) => { group.first() }
/** @param {import("./types.js").Visit} visit */
export function visiting(visit) { visit(null).active() }
/** @param {function(User): Group} make
 * @param {(user: User) => Promise<User>} later */
export async function functions(make, later) { make().first(); (await later()).active() }
/** @template T @param {T} it @returns {T} */
export function same(it) { return JSON.parse(it) }
export function returned() { same(new Holder()).run() }
/** @param {{deep: {user: User}}} o @returns {o is Holder} */
export function isHolder(o) { o.deep.user.active() }
/** @typedef {object} Reader
 * @property {() => string} read
 * @property {Reader} rest */
export function reader() {
  /** @type {Reader} */
  const made = { read() { return "" } }
  return made
}
/** @param {Reader} from */
export function reads(from) { from.rest.read() }
export const list = {
  /** @type {User} */
  chosen: null,
}
export function listed(x) { list.chosen.active(); if (isHolder(x)) x.run() }
-- plain/widget.js --
function Widget() {}
Widget.prototype.draw = function () {}
module.exports = Widget
-- plain/screen.js --
/**
 * @param {Widget} widget
 * @param {module:plain/widget~Widget} other
 * @param {Missing} missing
 * @param {Event} event is one of the browser
 */
function show(widget, other, missing, event) { widget.draw(); other.draw(); missing.draw(); event.stop() }
-- plain/event.js --
function Event() {}
Event.prototype.stop = function () {}
module.exports = Event
`, `
calls plain/screen.js:show -> plain/widget.js:Widget.draw @7:54,7:68 (flow 700)
calls plain/screen.js:show -> event.stop @7:98 (unresolved)
calls plain/screen.js:show -> missing.draw @7:84 (unresolved)
calls stated.js:Holder.run -> user.js:User.active @15:14,17:14,18:12,20:8,21:37
calls stated.js:functions -> user.js:Group.first @44:54
calls stated.js:functions -> user.js:User.active @44:79
calls stated.js:isHolder -> user.js:User.active @49:42
calls stated.js:listed -> stated.js:Holder.run @64:69
calls stated.js:listed -> stated.js:isHolder @64:54
calls stated.js:listed -> user.js:User.active @64:40
calls stated.js:props -> user.js:Group.first @33:24
calls stated.js:props -> user.js:User.active @32:14,34:22,35:12,36:26
calls stated.js:reads -> stated.js:reader.read @59:40 (flow 700)
calls stated.js:returned -> stated.js:Holder.constructor @47:38
calls stated.js:returned -> stated.js:Holder.run @47:48
calls stated.js:returned -> stated.js:same @47:29
calls stated.js:visit -> user.js:Group.first @39:40
calls stated.js:visiting -> user.js:User.active @41:46
calls stated.js:same -> javascript globals JSON.parse @46:39 (external)
calls stated.js:Holder.run -> self.byName.x.active @16:18 (unresolved)
calls stated.js:functions -> later @44:70 (unresolved)
calls stated.js:functions -> make @44:47 (unresolved)
calls stated.js:props -> more.all.forEach @36:11 (unresolved)
calls stated.js:visiting -> visit @41:34 (unresolved)
calls typed.js:typed -> stated.js:Holder.run @3:81
calls typed.js:typed -> user.js:User.active @3:64
calls typed.js:typed -> shape.area @3:45 (unresolved)
calls user.js:Group.first -> user.js:User.active @2:87
calls user.js:Group -> read @2:53 (unresolved)
`, "calls", "may_call")
}

// TestPutByTests has a field into which a test puts something else: that is not what the program calls for sure.
func TestPutByTests(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- src/bus.js --
export class Bus { paintAll() {} }
export class View {
  constructor(made) { this.part = made }
  run() { this.part.paintAll() }
}
-- test/view.test.js --
import { Bus, View } from '../src/bus.js'
const view = new View()
view.part = new Bus()
`, `
calls src/bus.js:View.run -> src/bus.js:Bus.paintAll @4:20 (flow 700)
calls test/view.test.js -> src/bus.js:Bus @3:16
calls test/view.test.js -> src/bus.js:View.constructor @2:17
`, "calls", "may_call")
}
