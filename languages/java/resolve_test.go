package java

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/manifest"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(slices.Concat(manifest.Language.Files, Language.Files)...)

func TestJavaCalls(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"packages, imports of types, of members, of all; the language's own", `
-- src/a/Cart.java --
package a;
import static b.Checks.notNull;
import static b.Other.*;
import b.Money;
import c.*;
import java.util.List;
class Cart {
  void run(List<Money> all) {
    notNull(all);
    other();
    new Money(1);
    new Plain();
    Wide.of();
    b.Checks.notNull(1);
    java.util.Objects.hash(1); // Integer is more specific than Object
    String.valueOf(1).trim();
    all.size();
    Missing.go();
    helper();
  }
  void helper() {}
}
-- src/b/Checks.java --
package b;
public class Checks { public static void notNull(Object o) {} }
-- src/b/Other.java --
package b;
public class Other { public static void other() {} }
-- src/b/Money.java --
package b;
public class Money { public Money(int n) {} }
-- src/c/Wide.java --
package c;
public class Wide { public static void of() {} }
-- src/a/Plain.java --
package a;
class Plain {}
`, `
calls src/a/Cart.java:Cart.run -> src/a/Cart.java:Cart.helper @19:4
calls src/a/Cart.java:Cart.run -> src/a/Plain.java:Plain @12:8
calls src/a/Cart.java:Cart.run -> src/b/Checks.java:Checks.notNull @9:4,14:13
calls src/a/Cart.java:Cart.run -> src/b/Money.java:Money.<init> @11:8
calls src/a/Cart.java:Cart.run -> src/b/Other.java:Other.other @10:4
calls src/a/Cart.java:Cart.run -> src/c/Wide.java:Wide.of @13:9
calls src/a/Cart.java:Cart.run -> java java.lang String.trim @16:22 (external)
calls src/a/Cart.java:Cart.run -> java java.lang String.valueOf @16:11 (external)
calls src/a/Cart.java:Cart.run -> java java.util Collection.size @17:8 (external)
calls src/a/Cart.java:Cart.run -> java java.util Objects.hash @15:22 (external)
calls src/a/Cart.java:Cart.run -> Missing.go @18:12 (unresolved)
`},
		{"overloads by number and by types; what cannot be told apart is unresolved", `
-- A.java --
class Base {}
class Sub extends Base {}
class A {
  void f(int i) {}
  void f(String s) {}
  void f(String s, Object... more) {}
  void g(Base b) {}
  void g(Sub s) {}
  void h(Integer i) {}
  void h(Object o) {}
  void k(Runnable r) {}
  void k(java.util.function.Function<String, String> f) {}
  void v(Class<?> c) {}
  void v(Class<?>... all) {}
  void v(java.util.List<Class<?>> all) {}
  void run(Sub s, Base b, long l, Unknown u) {
    f(1);
    f("a");
    f("a" + 1, 2);
    f("a", 2, 3);
    g(s);
    g(b);
    g(new Sub());
    g(null);
    g((Base) s);
    g(u);
    h(1); // Integer is more specific than Object
    k(() -> {});
    k(x -> x);
    f(l);
    v(java.util.List.of(A.class));
    v(A.class, Sub.class);
    v(new Class<?>[0]);
  }
}
`, `
calls A.java:A.run -> A.java:A.f @17:4
calls A.java:A.run -> A.java:A.f#2 @18:4
calls A.java:A.run -> A.java:A.f#3 @19:4,20:4
calls A.java:A.run -> A.java:A.g @22:4,25:4
calls A.java:A.run -> A.java:A.g#2 @21:4,23:4,24:4
calls A.java:A.run -> A.java:A.h @27:4
calls A.java:A.run -> A.java:A.k @28:4
calls A.java:A.run -> A.java:A.k#2 @29:4
calls A.java:A.run -> A.java:A.v#2 @32:4,33:4
calls A.java:A.run -> A.java:A.v#3 @31:4
calls A.java:A.run -> A.java:Sub @23:10
calls A.java:A.run -> java java.util List.of @31:21 (external)
calls A.java:A.run -> f @30:4 (unresolved)
calls A.java:A.run -> g @26:4 (unresolved)
`},
		{"inheritance: super, interfaces, inner classes, what overrides may be called", `
-- p/A.java --
package p;
abstract class A implements I {
  A() { init(); }
  A(int i) { this(); }
  void init() {}
  abstract void step();
  void run() { step(); log(); hidden(); this.run(); toString(); }
  private void hidden() {}
  class Inner {
    void go() { step(); A.this.run(); inner(); }
    void inner() {}
  }
  static class Nested extends A {
    Nested() { super(1); }
    @Override void step() { super.run(); }
    @Override void init() { super.init(); }
  }
}
interface I { default void log() {} }
class B extends A { void step() {} }
class C extends java.util.ArrayList<String> {
  void run() { size(); new Thread() { public void run() { run2(); start(); } }; }
  void run2() {}
}
`, `
calls p/A.java:A.<init> -> p/A.java:A.init @3:8
may_call p/A.java:A.<init> -> p/A.java:A.Nested.init @3:8 (flow 700)
calls p/A.java:A.<init>#2 -> p/A.java:A.<init> @4:13
calls p/A.java:A.Inner.go -> p/A.java:A.Inner.inner @10:38
calls p/A.java:A.Inner.go -> p/A.java:A.run @10:31
calls p/A.java:A.Inner.go -> p/A.java:A.step @10:16
may_call p/A.java:A.Inner.go -> p/A.java:A.Nested.step @10:16 (flow 700)
may_call p/A.java:A.Inner.go -> p/A.java:B.step @10:16 (flow 700)
calls p/A.java:A.Nested.<init> -> p/A.java:A.<init>#2 @14:15
calls p/A.java:A.Nested.init -> p/A.java:A.init @16:34
calls p/A.java:A.Nested.step -> p/A.java:A.run @15:34
calls p/A.java:A.run -> p/A.java:A.hidden @7:30
calls p/A.java:A.run -> p/A.java:A.run @7:45
calls p/A.java:A.run -> p/A.java:A.step @7:15
calls p/A.java:A.run -> p/A.java:I.log @7:23
may_call p/A.java:A.run -> p/A.java:A.Nested.step @7:15 (flow 700)
may_call p/A.java:A.run -> p/A.java:B.step @7:15 (flow 700)
calls p/A.java:C.run.$1.run -> p/A.java:C.run2 @22:58 (name_matched 500)
calls p/A.java:A.run -> java java.lang Object.toString @7:52 (external)
calls p/A.java:C.run -> java java.lang Thread @22:27 (external)
calls p/A.java:C.run -> java java.util Collection.size @22:15 (external)
calls p/A.java:C.run.$1.run -> java java.lang Thread.start @22:66 (external)
`},
		{"fields, parameters, locals by their blocks, var, chains, patterns, records, enums", `
-- A.java --
import java.util.*;
class Item { Item next; Item next() { return next; } void go() {} static Item one() { return null; } }
class Other { void go() {} }
class A {
  Item item;
  Map<String, List<Item>> table;
  void run(Other o, Item[] items, Item... more) {
    item.go();
    this.item.next.next().go();
    { Other item = o; item.go(); }
    item.go();
    for (Item x : items) x.go();
    for (var x : table.get("a")) x.go();
    for (Map.Entry<String, List<Item>> e : table.entrySet()) e.getValue().get(0).go();
    var made = new Item().next();
    made.go();
    more[0].go();
    if (any() instanceof Other p) p.go();
    ((Item) any()).go();
    Item.one().go();
    new Rec(item, 1).item().go();
    State.OPEN.check();
    State.valueOf("OPEN").item.go();
    items.clone();
  }
  Object any() { return null; }
  record Rec(Item item, int n) {}
  enum State { OPEN; Item item; void check() {} }
}
`, `
calls A.java:A.State.OPEN -> A.java:A.State @28:15
calls A.java:A.run -> A.java:A.Rec @21:8
calls A.java:A.run -> A.java:A.Rec.item @21:21
calls A.java:A.run -> A.java:A.State.check @22:15
calls A.java:A.run -> A.java:A.any @18:8,19:12
calls A.java:A.run -> A.java:Item @15:19
calls A.java:A.run -> A.java:Item.go @8:9,9:26,11:9,12:27,13:35,14:81,16:9,17:12,19:19,20:15,21:28,23:31
calls A.java:A.run -> A.java:Item.next @9:19,15:26
calls A.java:A.run -> A.java:Item.one @20:9
calls A.java:A.run -> A.java:Other.go @10:27,18:36
calls A.java:A.run -> java java.lang Enum.valueOf @23:10 (external)
calls A.java:A.run -> java java.lang Object.clone @24:10 (external)
calls A.java:A.run -> java java.util List.get @14:74 (external)
calls A.java:A.run -> java java.util Map.Entry.getValue @14:63 (external)
calls A.java:A.run -> java java.util Map.entrySet @14:49 (external)
calls A.java:A.run -> java java.util Map.get @13:23 (external)
`},
		{"generics, lambdas and streams", `
-- A.java --
import java.util.*;
import java.util.function.*;
class Item { Part part() { return null; } void go() {} }
class Part { void go() {} }
class Box<T extends Item> {
  T value;
  T get() { return value; }
  <R> Box2<R> map(Function<T, R> f) { return null; }
  void own() { value.go(); get().part(); }
  void each(Visitor<T> v) {}
}
class Box2<T> { T get() { return null; } }
class Sub extends Box<Item> {}
interface Visitor<V> { void visit(V value, int depth); }
class A {
  void run(Box<Item> box, Sub sub, List<Item> all, Optional<Item> maybe) {
    box.get().go();
    sub.get().go();
    box.map(i -> i.part()).get().go();
    box.map(Item::part).get().go();
    box.each((v, depth) -> v.go());
    all.stream().filter(i -> true).map(i -> i.part()).forEach(p -> p.go());
    all.forEach(Item::go);
    maybe.map(Item::part).orElse(null).go();
    Function<Item, Part> f = i -> i.part();
    Comparator<Item> c = (a, b) -> { a.go(); return 0; };
    List.of(new Item()).get(0).go();
    first(all).go();
  }
  static <X> X first(List<X> of) { return of.get(0); }
}
`, `
calls A.java:A.run -> A.java:A.first @28:4
calls A.java:A.run -> A.java:Box.each @21:8
calls A.java:A.run -> A.java:Box.get @17:8,18:8
calls A.java:A.run -> A.java:Box.map @19:8,20:8
calls A.java:A.run -> A.java:Box2.get @19:27,20:24
calls A.java:A.run -> A.java:Item @27:16
calls A.java:A.run -> A.java:Item.go @17:14,18:14,21:29,26:39,27:31,28:15
calls A.java:A.run -> A.java:Item.part @19:19,22:46,25:36
calls A.java:A.run -> A.java:Part.go @19:33,20:30,22:69,24:39
may_call A.java:A.run -> A.java:Item.go @23:22 (flow 700)
may_call A.java:A.run -> A.java:Item.part @20:18,24:20 (flow 700)
calls A.java:Box.own -> A.java:Box.get @9:27
calls A.java:Box.own -> A.java:Item.go @9:21
calls A.java:Box.own -> A.java:Item.part @9:33
calls A.java:A.first -> java java.util List.get @30:45 (external)
calls A.java:A.run -> java java.lang Iterable.forEach @23:8 (external)
calls A.java:A.run -> java java.util Collection.stream @22:8 (external)
calls A.java:A.run -> java java.util List.get @27:24 (external)
calls A.java:A.run -> java java.util List.of @27:9 (external)
calls A.java:A.run -> java java.util Optional.map @24:10 (external)
calls A.java:A.run -> java java.util Optional.orElse @24:26 (external)
calls A.java:A.run -> java java.util.stream Stream.filter @22:17 (external)
calls A.java:A.run -> java java.util.stream Stream.forEach @22:54 (external)
calls A.java:A.run -> java java.util.stream Stream.map @22:35 (external)
`},
		{"what functions give, what makers outside the repository make, constants of one type", `
-- a/Build.java --
package a;
import com.google.common.collect.ImmutableList;
import java.util.function.Function;
enum Mode { NEAR, FAR }
class Build {
  static void all(String[] of) { all(ImmutableList.copyOf(of)); }
  static void all(Iterable<String> of) {}
  void in(boolean far) { in(far ? Mode.FAR : Mode.NEAR); }
  void in(Mode mode) {}
  void text(Function<Object, String> f) {}
  void text(Object of) { text(o -> o.toString()); }
}
`, `
calls a/Build.java:Build.all -> a/Build.java:Build.all#2 @6:33
calls a/Build.java:Build.in -> a/Build.java:Build.in#2 @8:25
calls a/Build.java:Build.text#2 -> a/Build.java:Build.text @11:25
calls a/Build.java:Mode.FAR -> a/Build.java:Mode @4:18
calls a/Build.java:Mode.NEAR -> a/Build.java:Mode @4:12
calls a/Build.java:Build.all -> java com.google.common.collect ImmutableList.copyOf @6:51 (external)
calls a/Build.java:Build.text#2 -> java java.lang Object.toString @11:37 (external)
`},
		{"of several methods that fit, none is the most specific", `
-- A.java --
class A {
  void run() {
    both("a", "b");
    one("a", "b");
  }
  void both(Object a, String b) {}
  void both(String a, Object b) {}
  void one(Object a, Object b) {}
  void one(String a, Object b) {}
}
`, `
calls A.java:A.run -> A.java:A.one#2 @4:4
calls A.java:A.run -> both @3:4 (unresolved)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("calls", "may_call")
			want := strings.Split(strings.TrimSpace(c.want), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJavaOtherEdges(t *testing.T) {
	const archive = `
-- a/Base.java --
package a;
public abstract class Base<T> implements Runnable {
  protected static final int LIMIT = 1;
  abstract T make() throws java.io.IOException;
}
-- a/App.java --
package a;
import b.Failure;
import java.util.List;
import java.util.Map.Entry;
import static b.Failure.of;
import gone.*;
@Marker
class App extends Base<String> implements Comparable<App> {
  private List<Failure> all;
  @Override String make() { throw new Failure(LIMIT + b.Failure.CODE); }
  @Override public void run() { App.this.all = null; Runnable r = this::run; System.getenv("HOME"); }
  public int compareTo(App o) { new ProcessBuilder("git", "log").start(); return o.all.size(); }
}
@interface Marker {}
-- b/Failure.java --
package b;
public class Failure extends RuntimeException {
  public static final int CODE = 2;
  public Failure(int n) {}
  public static Failure of() { return null; }
}
`
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, archive, factsOf)).Text(
		"imports", "extends", "implements", "overrides", "throws", "decorates", "references", "reads_env", "executes_process")
	want := strings.Split(strings.TrimSpace(`
imports a/App.java -> b/Failure.java @2:9,5:24
extends a/App.java:App -> a/Base.java:Base @8:18
decorates a/App.java:App -> a/App.java:Marker @7:1
references a/App.java:App.all -> b/Failure.java:Failure @9:15
references a/App.java:App.compareTo -> a/App.java:App @12:23
references a/App.java:App.make -> a/Base.java:Base.LIMIT @10:46
references a/App.java:App.make -> b/Failure.java:Failure @10:38
references a/App.java:App.make -> b/Failure.java:Failure.CODE @10:64
overrides a/App.java:App.make -> a/Base.java:Base.make @10:12
throws a/App.java:App.make -> b/Failure.java:Failure @10:38
references a/App.java:App.run -> a/App.java:App.all @11:41
references a/App.java:App.run -> a/App.java:App.run @11:72
imports a/App.java -> java gone @6:7 (external)
imports a/App.java -> java java.util List @3:17 (external)
imports a/App.java -> java java.util Map.Entry @4:21 (external)
implements a/App.java:App -> java java.lang Comparable @8:42 (external)
references a/App.java:App.all -> java java.util List @9:10 (external)
executes_process a/App.java:App.compareTo -> process git @12:36 (external)
references a/App.java:App.run -> java java.lang Runnable @11:53 (external)
reads_env a/App.java:App.run -> env HOME @11:84 (external)
implements a/Base.java:Base -> java java.lang Runnable @2:41 (external)
throws a/Base.java:Base.make -> java java.io IOException @4:35 (external)
references b/Failure.java:Failure.of -> b/Failure.java:Failure @5:16
extends b/Failure.java:Failure -> java java.lang RuntimeException @2:29 (external)
`), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func TestJavaRoutes(t *testing.T) {
	const archive = `
-- OrderController.java --
package web;
@RestController
@RequestMapping("/api/orders")
class OrderController {
  @GetMapping public String all() { return ""; }
  @PostMapping("{id}") public String one() { return ""; }
}
-- Users.java --
package web;
@Path("users")
class Users {
  @GET @Path("{id}") public String one() { return ""; }
}
`
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, archive, factsOf)).Text("handles_route")
	want := []string{
		"handles_route OrderController.java:OrderController.all -> OrderController.java:GET /api/orders @5:2",
		"handles_route OrderController.java:OrderController.one -> OrderController.java:POST /api/orders/{id} @6:2",
		"handles_route Users.java:Users.one -> Users.java:GET /users/{id} @4:2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// TestJavaIncrementalEqualsFull changes a class that others use, and takes it away.
func TestJavaIncrementalEqualsFull(t *testing.T) {
	const rest = `
-- App.java --
class App extends Base { void run(Base b) { b.go(1); step(); } }
-- Other.java --
class Other { Base make() { return new Base(); } }
`
	var trees []*resolvetest.Tree
	for _, base := range []string{
		"-- Base.java --\nclass Base { void go(int i) {} void step() {} }\n",
		"-- Base.java --\nclass Base { Base() {} void go(long i) {} void go(String s) {} }\n",
		"",
		"-- Base.java --\nclass Base { void step() {} }\n-- a/Base.java --\npackage a; class Base {}\n",
	} {
		trees = append(trees, resolvetest.Archive(t, rest+base, factsOf))
	}
	resolvetest.Series(t, NewResolver, trees...)
}
