package python

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

func fresh() resolve.Resolver { return NewResolver() }

// factsOf makes the facts of files.
var factsOf = extract.Facts(slices.Concat(manifest.Language.Files, Language.Files)...)

func TestCalls(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"a function, a class without and with a constructor, a builtin, a name of nowhere", `
-- a.py --
class Plain: pass
class Made:
    def __init__(self): pass
def f(): pass
f()
Plain()
Made()
len([])
nowhere()
`, `
calls a.py -> a.py:Made.__init__ @7:0
calls a.py -> a.py:Plain @6:0
calls a.py -> a.py:f @5:0
calls a.py -> python builtins len @8:0 (external)
calls a.py -> nowhere @9:0 (unresolved)
`}, {"a module's variable that holds the builtin of its name", `
-- compat.py --
text = str
str = str
-- a.py --
from compat import str, text
str(1)
text(2)
`, `
calls a.py -> python builtins str @2:0,3:0 (external)
`}, {"inner functions hide outer ones, and class bodies do not reach into methods", `
-- a.py --
def f(): pass
def g():
    def f(): pass
    f()
class C:
    def f(self): pass
    def m(self): f()
`, `
calls a.py:C.m -> a.py:f @7:17
calls a.py:g -> a.py:g.f @4:4
`}, {"names declared global and nonlocal are those outside", `
-- a.py --
def one(): pass
def two(): pass
hook = one
def set():
    global hook
    hook = one
def outer():
    inner = two
    def change():
        nonlocal inner
        inner = two
    inner()
hook()
`, `
calls a.py -> a.py:one @13:0
calls a.py:outer -> a.py:two @12:4
`}, {"methods are found in the order of bases, and through super", `
-- a.py --
class A:
    def __init__(self): pass
    def f(self): pass
class B(A): pass
class C(A):
    def __init__(self): super().__init__()
    def f(self): super().f()
class D(B, C): pass
d = D()
d.f()
`, `
calls a.py -> a.py:C.__init__ @9:4
calls a.py -> a.py:C.f @10:2
calls a.py:C.__init__ -> a.py:A.__init__ @6:32
calls a.py:C.f -> a.py:A.f @7:25
`}, {"what overrides a method of self may be called", `
-- a.py --
class A:
    def run(self): self.step()
    def step(self): pass
class B(A):
    def step(self): pass
`, `
calls a.py:A.run -> a.py:A.step @2:24
may_call a.py:A.run -> a.py:B.step @2:24 (flow 700)
`}, {"functions that are passed in may be called", `
-- a.py --
def f(): pass
def g(): pass
def run(do, *more, last=None):
    do()
    last()
run(f, last=g)
`, `
calls a.py -> a.py:run @6:0
may_call a.py:run -> a.py:f @4:4 (flow 700)
may_call a.py:run -> a.py:g @5:4 (flow 700)
`}, {"alternatives may be called, one result is", `
-- a.py --
def f(): pass
def g(): pass
def make(): return f
def pick(x): return f if x else g
make()()
pick(1)()
`, `
calls a.py -> a.py:f @5:0
calls a.py -> a.py:make @5:0
calls a.py -> a.py:pick @6:0
may_call a.py -> a.py:f @6:0 (flow 700)
may_call a.py -> a.py:g @6:0 (flow 700)
`}, {"what a function returns as it came is each caller's own", `
-- a.py --
def same(f): return f
def one(): pass
def two(): pass
def three():
    same(one)()
def four():
    a = same(two)
    a()
class B:
    def chain(self): return self
    def end(self): pass
B().chain().chain().end()
`, `
calls a.py -> a.py:B @12:0
calls a.py -> a.py:B.chain @12:4,12:12
calls a.py -> a.py:B.end @12:20
calls a.py:four -> a.py:same @7:8
calls a.py:four -> a.py:two @8:4
calls a.py:three -> a.py:one @5:4
calls a.py:three -> a.py:same @5:4
`}, {"attributes of instances, properties, static and class methods", `
-- a.py --
class Part:
    def go(self): pass
class C:
    def __init__(self): self.part = Part()
    @property
    def other(self): return self.part
    @staticmethod
    def make(): pass
    @classmethod
    def new(cls): return cls()
    def run(self):
        self.part.go()
        self.other.go()
        self.make()
C.new().run()
`, `
calls a.py -> a.py:C.new @15:2
calls a.py -> a.py:C.run @15:8
calls a.py:C.__init__ -> a.py:Part @4:36
calls a.py:C.new -> a.py:C.__init__ @10:25
calls a.py:C.run -> a.py:C.make @14:13
calls a.py:C.run -> a.py:Part.go @12:18,13:19
`}, {"declared types say the class", `
-- a.py --
from __future__ import annotations
class T:
    def go(self): pass
def find() -> T | None: ...
def run(t: T, s: "T"):
    t.go()
    s.go()
    find().go()
    x: T = unknown()
    x.go()
`, `
calls a.py:run -> a.py:T.go @6:6,7:6,8:11,10:6
calls a.py:run -> a.py:find @8:4
calls a.py:run -> unknown @9:11 (unresolved)
`}, {"elements of containers, by literal index or any", `
-- a.py --
def f(): pass
def g(): pass
table = {"f": f, "g": g}
table["f"]()
fs = [f]
for each in fs: each()
more = []
more.append(g)
more[0]()
`, `
calls a.py -> a.py:f @4:0,6:16
calls a.py -> a.py:g @9:0
calls a.py -> more.append @8:5 (unresolved)
`}, {"a decorator's wrapper is called, the function it wraps through it", `
-- a.py --
import functools
def wrap(f):
    @functools.wraps(f)
    def inner(): f()
    return inner
@wrap
def one(): pass
@functools.cache
def two(): pass
one()
two()
`, `
calls a.py -> a.py:two @11:0
calls a.py -> a.py:wrap.inner @10:0
may_call a.py:wrap.inner -> a.py:one @4:17 (flow 700)
calls a.py:wrap -> python functools wraps @3:15 (external)
`}, {"imports: packages, relative ones, names handed on, stars, src, elsewhere", `
-- src/shop/__init__.py --
from .cart import Cart
from . import util
from .names import *
-- src/shop/cart.py --
from .util import helper as h
from ..outside import nothing
class Cart:
    def add(self): h(); nothing()
-- src/shop/util.py --
def helper(): pass
-- src/shop/names.py --
def public(): pass
def _private(): pass
-- tests/test_shop.py --
import shop
import shop.util as u
import requests, os.path
from shop import Cart
def test_it():
    shop.Cart().add()
    shop.util.helper()
    u.helper()
    shop.public()
    shop._private()
    Cart()
    requests.get()
    os.path.join()
`, `
calls src/shop/cart.py:Cart.add -> src/shop/util.py:helper @4:19
calls src/shop/cart.py:Cart.add -> nothing @4:24 (unresolved)
calls tests/test_shop.py:test_it -> src/shop/cart.py:Cart @6:9,11:4
calls tests/test_shop.py:test_it -> src/shop/cart.py:Cart.add @6:16
calls tests/test_shop.py:test_it -> src/shop/names.py:public @9:9
calls tests/test_shop.py:test_it -> src/shop/util.py:helper @7:14,8:6
calls tests/test_shop.py:test_it -> python os.path join @13:12 (external)
calls tests/test_shop.py:test_it -> python requests get @12:13 (external)
calls tests/test_shop.py:test_it -> shop._private @10:9 (unresolved)
`}, {"a method that only a base of elsewhere can have is external", `
-- a.py --
from lib import Base
class C(Base):
    def run(self):
        self.start()
        super().run()
`, `
calls a.py:C.run -> python lib Base.run @5:16 (external)
calls a.py:C.run -> python lib Base.start @4:13 (external)
`}, {"modules beside a package's own, and directories that are none, are not what an import means", `
-- celery/run.py --
from celery import task
task()
-- pkg/__init__.py --
-- pkg/typing.py --
def cast(): pass
-- pkg/deep/user.py --
import typing
from ..typing import cast
from names import sub
typing.cast()
cast()
sub.f()
-- names/sub.py --
def f(): pass
`, `
calls celery/run.py -> python celery task @2:0 (external)
calls pkg/deep/user.py -> names/sub.py:f @6:4
calls pkg/deep/user.py -> pkg/typing.py:cast @5:0
calls pkg/deep/user.py -> python typing cast @4:7 (external)
`}, {"what tests pass in is called by tests alone", `
-- a.py --
def run(f): f()
def real(): pass
run(real)
-- test_a.py --
from a import run
def fake(): pass
def again(g): g()
run(fake)
again(fake)
`, `
calls a.py -> a.py:run @3:0
may_call a.py:run -> a.py:real @1:12 (flow 700)
calls test_a.py -> a.py:run @4:0
calls test_a.py -> test_a.py:again @5:0
may_call test_a.py:again -> test_a.py:fake @3:14 (flow 700)
`}, {"loops, indexes and with call methods", `
-- a.py --
class Rows:
    def __iter__(self): return self
    def __next__(self): return One()
class One:
    def __getitem__(self, i): return self
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def go(self): pass
def run(i):
    rows = Rows()
    for row in rows: row.go()
    with One() as one:
        x = one[i]
        x.go()
`, `
calls a.py:Rows.__next__ -> a.py:One @3:31
calls a.py:run -> a.py:One @12:9
calls a.py:run -> a.py:One.__enter__ @12:18
calls a.py:run -> a.py:One.__exit__ @12:18
calls a.py:run -> a.py:One.__getitem__ @13:8
calls a.py:run -> a.py:One.go @11:25,14:10
calls a.py:run -> a.py:Rows @10:11
calls a.py:run -> a.py:Rows.__iter__ @11:8
calls a.py:run -> a.py:Rows.__next__ @11:8
`}, {"circles of imports and of bases end", `
-- a.py --
from b import *
from b import B
class A(B):
    def f(self): self.g(); self.f()
def x(): y()
-- b.py --
from a import *
from a import A
class B(A):
    def g(self): self.f()
def y(): x()
`, `
calls a.py:A.f -> a.py:A.f @4:32
calls a.py:A.f -> b.py:B.g @4:22
calls a.py:x -> b.py:y @5:9
calls b.py:B.g -> a.py:A.f @4:22
calls b.py:y -> a.py:x @5:9
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, fresh(), resolvetest.Archive(t, c.archive, factsOf)).Text("calls", "may_call")
			want := strings.Split(strings.TrimSpace(c.want), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}
