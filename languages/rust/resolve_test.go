package rust

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/manifest"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(slices.Concat(manifest.Language.Files, Language.Files)...)

func freshRust() resolve.Resolver { return NewResolver() }

func TestRust(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"modules: files, mod.rs, inside of files, use with groups, stars and other names, crate, super", `
-- Cargo.toml --
[package]
name = "app"
-- src/main.rs --
mod util;
mod deep;
mod inner {
    pub fn own() { super::top(); crate::util::help(); }
}
use deep::{lower::{self, down}, up as above};
use util::*;
fn top() { inner::own(); down(); above(); lower::down(); help(); std::process::exit(1); Shape::Round(1); }
fn main() { top() }
-- src/util.rs --
pub fn help() {}
pub enum Shape { Round(u8), Flat }
-- src/deep/mod.rs --
pub mod lower;
pub use self::lower::up;
-- src/deep/lower.rs --
pub fn down() { super::up() }
pub fn up() { deep() }
fn deep() {}
`, `
calls src/deep/lower.rs:down -> src/deep/lower.rs:up @1:23
calls src/deep/lower.rs:up -> src/deep/lower.rs:deep @2:14
calls src/main.rs:inner.own -> src/main.rs:top @4:26
calls src/main.rs:inner.own -> src/util.rs:help @4:46
calls src/main.rs:main -> src/main.rs:top @9:12
calls src/main.rs:top -> src/deep/lower.rs:down @8:25,8:49
calls src/main.rs:top -> src/deep/lower.rs:up @8:33
calls src/main.rs:top -> src/main.rs:inner.own @8:18
calls src/main.rs:top -> src/util.rs:Shape.Round @8:95
calls src/main.rs:top -> src/util.rs:help @8:57
calls src/main.rs:top -> rust std process.exit @8:79 (external)
`},
		{"a workspace: crates by their names and other names for them", `
-- a/Cargo.toml --
[package]
name = "first-crate"
[dependencies]
other = { path = "../b", package = "second" }
-- a/src/lib.rs --
pub fn one() { other::two(); other::inner::three() }
-- a/src/bin/tool.rs --
fn main() { first_crate::one() }
-- b/Cargo.toml --
[package]
name = "second"
-- b/src/lib.rs --
pub fn two() {}
pub mod inner { pub fn three() { self::four() } fn four() {} }
`, `
calls a/src/bin/tool.rs:main -> a/src/lib.rs:one @1:25
calls a/src/lib.rs:one -> b/src/lib.rs:inner.three @1:43
calls a/src/lib.rs:one -> b/src/lib.rs:two @1:22
calls b/src/lib.rs:inner.three -> b/src/lib.rs:inner.four @2:39
`},
		{"receivers: self, parameters, fields, results, what hides a name, ? and patterns", `
-- src/lib.rs --
struct Store { check: u8, first: Option<Box<Item>>, all: Vec<Item> }
struct Item;
enum Kind { One(Item), Two { item: Item } }
impl Store {
    fn new() -> Self { Store { first: None, all: vec![] } }
    fn get(&self) -> Result<&Item, Fault> { self.check()?; Ok(&self.all[0]) }
    fn check(&self) -> Result<(), Fault> { Err(Fault) }
    fn all(self: Box<Self>, kind: Kind) -> Option<()> {
        if let Some(item) = &self.first { item.run(); }
        for item in self.all.iter().filter(|i| i.good()) { item.run(); }
        let item = self.get();
        let item = item.unwrap();
        item.run();
        match kind { Kind::One(i) | Kind::Two { item: i } => i.run() }
        let store = Store::new();
        let again = if true { store.get().ok()? } else { &store.all[1] };
        again.good();
        println!("{}", again.good());
        self.get().unwrap_err().show();
        let (make, other) = (Store::new, again);
        make().bad(); other.bad();
        let good = |x| unknown.good(x);
        None
    }
}
struct Fault;
impl Fault { fn show(&self) {} }
impl Store { fn bad(&self) {} }
impl Item { fn bad(&self) {} fn run(&self) {} fn good(&self) -> bool { true } }
`, `
calls src/lib.rs:Store.all -> src/lib.rs:Fault.show @19:32
calls src/lib.rs:Store.all -> src/lib.rs:Item.bad @21:28
calls src/lib.rs:Store.all -> src/lib.rs:Item.good @10:49,17:14,18:29
calls src/lib.rs:Store.all -> src/lib.rs:Item.run @9:47,10:64,13:13,14:63
calls src/lib.rs:Store.all -> src/lib.rs:Store.bad @21:15
calls src/lib.rs:Store.all -> src/lib.rs:Store.get @11:24,16:36,19:13
calls src/lib.rs:Store.all -> src/lib.rs:Store.new @15:27,21:8
calls src/lib.rs:Store.get -> src/lib.rs:Store.check @6:49
calls src/lib.rs:Store.all -> unknown.good @22:31 (unresolved)
`},
		{"traits: methods that are declared, given and replaced, bounds, dyn, arguments of types, Deref", `
-- src/lib.rs --
trait Shape { fn area(&self) -> u32; fn twice(&self) -> u32 { self.area() * 2 } fn unit() -> Self; }
struct Square;
struct Circle(Square);
impl Shape for Square { fn area(&self) -> u32 { 1 } fn unit() -> Self { Square } }
impl Shape for Circle { fn area(&self) -> u32 { self.0.area() } fn unit() -> Self { Circle(Square) } }
impl Square { fn area(&self) -> u32 { 3 } }
fn any<S: Shape>(s: &S, d: &dyn Shape) { s.area(); d.twice(); S::unit(); }
struct Holder<S> { held: S }
impl<S> Holder<S> where S: Shape { fn go(&self) { self.held.area(); self.held.twice(); } }
fn known(h: Holder<Circle>) { h.held.twice(); Circle::unit().area(); Square.area(); }
struct Wrap { inner: Square }
impl std::ops::Deref for Wrap { type Target = Square; fn deref(&self) -> &Square { &self.inner } }
fn through(w: Wrap) { w.twice(); }
impl Iterator for Holder<Square> { type Item = Square; fn next(&mut self) -> Option<Self::Item> { None } }
fn each(h: Holder<Square>) { for s in h { s.twice(); } }
impl From<u8> for Square { fn from(_: u8) -> Self { Square } }
impl From<u16> for Square { fn from(_: u16) -> Self { Square } }
fn from() { Square::from(1); }
`, `
implements src/lib.rs:Circle -> src/lib.rs:Shape @5:5
calls src/lib.rs:Circle.area -> src/lib.rs:Square.area#2 @5:55
overrides src/lib.rs:Circle.area -> src/lib.rs:Shape.area @5:24
calls src/lib.rs:Circle.unit -> src/lib.rs:Circle @5:84
overrides src/lib.rs:Circle.unit -> src/lib.rs:Shape.unit @5:64
calls src/lib.rs:Holder.go -> src/lib.rs:Shape.area @9:60
calls src/lib.rs:Holder.go -> src/lib.rs:Shape.twice @9:78
may_call src/lib.rs:Holder.go -> src/lib.rs:Circle.area @9:60 (flow 700)
may_call src/lib.rs:Holder.go -> src/lib.rs:Square.area @9:60 (flow 700)
calls src/lib.rs:Shape.twice -> src/lib.rs:Shape.area @1:67
may_call src/lib.rs:Shape.twice -> src/lib.rs:Circle.area @1:67 (flow 700)
may_call src/lib.rs:Shape.twice -> src/lib.rs:Square.area @1:67 (flow 700)
implements src/lib.rs:Square -> src/lib.rs:Shape @4:5
overrides src/lib.rs:Square.area -> src/lib.rs:Shape.area @4:24
overrides src/lib.rs:Square.unit -> src/lib.rs:Shape.unit @4:52
calls src/lib.rs:any -> src/lib.rs:Shape.area @7:43
calls src/lib.rs:any -> src/lib.rs:Shape.twice @7:53
calls src/lib.rs:any -> src/lib.rs:Shape.unit @7:65
may_call src/lib.rs:any -> src/lib.rs:Circle.area @7:43 (flow 700)
may_call src/lib.rs:any -> src/lib.rs:Square.area @7:43 (flow 700)
calls src/lib.rs:each -> src/lib.rs:Shape.twice @15:44
may_call src/lib.rs:from -> src/lib.rs:Square.from @18:20 (flow 700)
may_call src/lib.rs:from -> src/lib.rs:Square.from#2 @18:20 (flow 700)
calls src/lib.rs:known -> src/lib.rs:Circle.area @10:61
calls src/lib.rs:known -> src/lib.rs:Circle.unit @10:54
calls src/lib.rs:known -> src/lib.rs:Shape.twice @10:37
calls src/lib.rs:known -> src/lib.rs:Square.area#2 @10:76
calls src/lib.rs:through -> src/lib.rs:Shape.twice @13:24
`},
		{"platforms, macros, names that only one thing has, and what is not guessed", `
-- src/lib.rs --
#[cfg(unix)]
mod imp { pub fn open() {} }
#[cfg(windows)]
mod imp { pub fn open() {} }
#[cfg(not(unix))]
fn wait() {}
#[cfg(unix)]
fn wait() {}
macro_rules! twice { ($e:expr) => { $e; $e } }
struct A;
impl A { fn only_of_this(&self) {} fn same(&self) {} }
struct B;
impl B { fn same(&self) {} }
fn run(f: impl Fn(), x: unknown::Thing) {
    imp::open();
    wait();
    twice!(wait());
    x.lost().only_of_this();
    x.lost().same();
    f();
}
`, `
calls src/lib.rs:run -> src/lib.rs:imp.open @15:9
calls src/lib.rs:run -> src/lib.rs:wait#2 @16:4
may_call src/lib.rs:run -> src/lib.rs:A.only_of_this @18:13 (name_matched 500)
calls src/lib.rs:run -> f @20:4 (unresolved)
calls src/lib.rs:run -> x.lost @18:6 (unresolved)
calls src/lib.rs:run -> x.lost @19:6 (unresolved)
calls src/lib.rs:run -> x.lost().same @19:13 (unresolved)
references src/lib.rs:run -> src/lib.rs:twice @17:4
`},
		{"raw identifiers, variants by Self, bounds that name each other and those of associated types", `
-- src/lib.rs --
mod r#match;
use crate::r#match::r#type;
struct Buf;
impl Buf { fn flush(&self) {} }
enum State { New, Held { buf: Buf } }
impl State {
    fn go(&self) { match self { Self::Held { buf, .. } => buf.flush(), _ => r#type() } }
    fn r#loop(&self) { self.r#loop() }
}
trait Bound { fn grow(&self) -> Self; }
trait Interval { type Bound: Bound; fn upper(&self) -> Self::Bound; }
struct Set<I> { ranges: Vec<I> }
impl<I: Interval> Set<I> { fn negate(&self) { self.ranges[0].upper().grow(); } }
struct Props;
impl Props { fn len(&self) {} }
fn union<I, P>(props: I) where I: IntoIterator<Item = P>, P: std::borrow::Borrow<Props> {
    for p in props.into_iter().peekable() { p.borrow().len(); }
}
-- src/match.rs --
pub fn r#type() {}
`, `
calls src/lib.rs:Set.negate -> src/lib.rs:Bound.grow @13:69
calls src/lib.rs:Set.negate -> src/lib.rs:Interval.upper @13:61
calls src/lib.rs:State.go -> src/lib.rs:Buf.flush @7:62
calls src/lib.rs:State.go -> src/match.rs:type @7:76
calls src/lib.rs:State.loop -> src/lib.rs:State.loop @8:28
calls src/lib.rs:union -> src/lib.rs:Props.len @17:55
`},
		{"methods under conditions, of a type and of references to it, and foreign traits by their names", `
-- Cargo.toml --
[package]
name = "app"
[dependencies]
serde = "1"
-- src/lib.rs --
use serde::de;
struct Value;
impl Value {
    #[cfg(feature = "fast")]
    fn parts(&self) {}
    #[cfg(not(feature = "fast"))]
    fn parts(&self) {}
    fn go(&self) { self.parts(); }
}
impl de::Reader for Value {
    fn seq(&self) {}
    fn any(&self) { self.seq(); }
}
impl de::Reader for &Value {
    fn seq(&self) {}
    fn any(&self) { self.seq(); }
}
struct Text;
impl de::Reader for Text { fn seq(&self) {} }
impl Text { fn own(&self) {} }
fn named(t: Text) { de::Reader::seq(&t); de::Reader::own(&t); }
fn unknown<R: de::Reader>(r: R) { de::Reader::seq(&r); }
`, `
calls src/lib.rs:Value.any -> src/lib.rs:Value.seq @12:25
calls src/lib.rs:Value.any#2 -> src/lib.rs:Value.seq#2 @16:25
calls src/lib.rs:Value.go -> src/lib.rs:Value.parts @8:24
calls src/lib.rs:Value.go -> src/lib.rs:Value.parts#2 @8:24
calls src/lib.rs:named -> src/lib.rs:Text.seq @21:32
calls src/lib.rs:named -> rust serde de.Reader.own @21:53 (external)
calls src/lib.rs:unknown -> rust serde de.Reader.seq @22:46 (external)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := resolvetest.Full(t, freshRust(), resolvetest.Archive(t, c.archive, factsOf))
			var got []string
			for _, line := range g.Text("calls", "may_call", "implements", "overrides") {
				if !strings.HasSuffix(line, "(external)") || strings.Contains(c.want, "(external)") {
					got = append(got, line)
				}
			}
			if strings.Contains(c.want, "references") {
				for _, line := range g.Text("references") {
					if strings.HasSuffix(line, "twice @17:4") {
						got = append(got, line)
					}
				}
			}
			want := strings.Split(strings.Trim(c.want, "\n"), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRustRoutes(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"Actix: attributes, scopes and where a handler is put", `
-- src/main.rs --
use actix_web::{get, web, App};
mod users;
#[get("/health")]
async fn health() {}
fn main() {
    App::new()
        .service(health)
        .service(web::scope("/api").service(users::show).route("/all", web::get().to(users::all)));
}
-- src/users.rs --
use actix_web::get;
#[get("/users/{id}")]
pub async fn show() {}
pub async fn all() {}
`, `
handles_route src/main.rs:health -> src/main.rs:GET /health @3:0
handles_route src/users.rs:all -> src/main.rs:GET /api/all
handles_route src/users.rs:show -> src/users.rs:GET /api/users/{id} @2:0
`},
		{"Axum: routers in functions, nested and merged", `
-- src/main.rs --
use axum::{routing::get, Router};
mod users;
fn app() -> Router {
    Router::new().route("/", get(root)).nest("/users", users::router()).merge(more())
}
fn more() -> Router { Router::new().route("/more", get(root)) }
async fn root() {}
-- src/users.rs --
use axum::{routing::get, Router};
pub fn router() -> Router { Router::new().route("/{id}", get(show).post(add)) }
async fn show() {}
async fn add() {}
`, `
handles_route src/main.rs:root -> src/main.rs:GET / @4:29
handles_route src/main.rs:root -> src/main.rs:GET /more @6:51
handles_route src/users.rs:add -> src/users.rs:POST /users/{id} @2:57
handles_route src/users.rs:show -> src/users.rs:GET /users/{id} @2:57
`},
		{"Rocket: where routes are mounted", `
-- src/main.rs --
#[macro_use] extern crate rocket;
#[get("/<id>")]
fn show(id: u32) {}
#[launch]
fn rocket() -> _ { rocket::build().mount("/users", routes![show]) }
`, `
handles_route src/main.rs:show -> src/main.rs:GET /users/<id> @2:0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := resolvetest.Full(t, freshRust(), resolvetest.Archive(t, c.archive, factsOf))
			want := strings.Split(strings.Trim(c.want, "\n"), "\n")
			if diff := cmp.Diff(want, g.Text("handles_route")); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRustCircles: what leads back to itself ends.
func TestRustCircles(t *testing.T) {
	resolvetest.Full(t, freshRust(), resolvetest.Archive(t, `
-- src/lib.rs --
mod lib;
mod a;
use a::*;
use b as c;
use c as b;
type One = Two<One>;
type Two<T> = One;
struct S<T> { next: S<S<T>>, own: T }
trait A: B { fn a(&self) -> Self; }
trait B: A { fn b(&self) { self.a().b().a(); } }
impl<T> std::ops::Deref for S<T> { type Target = S<T>; }
impl Iterator for One { type Item = One; fn next(&mut self) -> One { self.next() } }
fn f(x: One, y: S<One>, z: b::B) {
    let q = y.next.next.next.own;
    for i in x { for j in i { j.f(); } }
    y.missing(); z.a(); c::d();
    let (a, b) = (b, a);
}
-- src/a.rs --
use super::*;
use self::a::*;
pub use super::a;
`, factsOf))
}

// TestRustCommitByCommit: a manifest that changes is as much a change as a file is.
func TestRustCommitByCommit(t *testing.T) {
	trees := []*resolvetest.Tree{resolvetest.Archive(t, `
-- Cargo.toml --
[package]
name = "app"
-- src/lib.rs --
mod a;
pub fn top() { a::one(); app2::two() }
-- src/a.rs --
pub fn one() { crate::top() }
-- b/Cargo.toml --
[package]
name = "other"
-- b/src/lib.rs --
pub fn two() {}
`, factsOf)}
	for _, c := range []map[string]string{
		{"README.md": "An app.\n"},
		{"Cargo.toml": "[package]\nname = \"app\"\n[dependencies]\napp2 = { package = \"other\", path = \"b\" }\n"},
		{"src/a.rs": "pub struct One;\nimpl One { pub fn one(&self) { self.one() } }\npub fn one() { One.one( }\n"},
		{"src/a/mod.rs": "pub fn one() {}\n"},
	} {
		trees = append(trees, trees[len(trees)-1].With(c))
	}
	trees = append(trees, trees[len(trees)-1].With(nil, "src/a.rs", "Cargo.toml"))
	resolvetest.Series(t, freshRust, trees...)
}
