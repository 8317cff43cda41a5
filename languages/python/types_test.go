package python

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/languages/resolvetest"
)

func TestTypeOf(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a name", "a.B", "a.B"},
		{"None is left out", "None | B", "B"},
		{"alternatives", "Union[A, 'b.B', None]", "A|b.B"},
		{"quoted as a whole", `"Optional[A | B]"`, "A|B"},
		{"elements", "Sequence[A | B]", "A[]|B[]"},
		{"values of a mapping", "typing.Dict[str, list[A]]", "A[][]"},
		{"a tuple", "tuple[A, int]", "A[0]|int[1]"},
		{"a tuple of any length", "tuple[A, ...]", "A[]"},
		{"a class", "type[A]", "A.__class__"},
		{"what is awaited", "Awaitable[A]", "A"},
		{"a generic type of the program", "Box[A]", "Box"},
		{"a function", "Callable[[A], B]", ""},
		{"several lines", "Union[\n  A,  # the first\n  B,\n]", "A"},
		{"no type", "a + b(", "a"},
		{"too deep", strings.Repeat("list[", 20) + "A" + strings.Repeat("]", 20), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typeOf(c.text); got != c.want {
				t.Errorf("typeOf(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// TestDeclaredTypes resolves calls on values by what annotations say: of alternatives, of elements, and of
// attributes that something else is assigned to.
func TestDeclaredTypes(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.py --
from typing import Protocol
class Runs(Protocol):
    def run(self): pass
class A:
    def run(self): pass
    def only(self): pass
    def encode(self): pass
class B:
    def run(self): pass
def either(x: A | B | None): x.only(); x.run()
def elements(all: "list[A]", by: dict[str, A]):
    for x in all: x.run()
    by["k"].run()
    for y in by.values(): y.run()
def made(of: type[A], *more: A): of().only(); more[0].run()
class Holds:
    def __init__(self, given=None):
        self.runs: Runs = given or A()
        self.rest: list[B] = []
    def go(self):
        self.runs.run()
        self.rest[0].run()
`, `
calls a.py:Holds.__init__ -> a.py:A @18:35
calls a.py:Holds.go -> a.py:B.run @22:21
calls a.py:Holds.go -> a.py:Runs.run @21:18
calls a.py:either -> a.py:A.only @10:31
calls a.py:elements -> a.py:A.run @12:20,13:12,14:28
calls a.py:made -> a.py:A @15:33
calls a.py:made -> a.py:A.only @15:38
calls a.py:made -> a.py:A.run @15:54
`, "calls")
}

// TestManyValues resolves a call on a parameter in which more classes arrive than a variable has values: what its
// declared type says stays.
func TestManyValues(t *testing.T) {
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "class C%d:\n    def run(self): pass\nuse(C%d())\n", i, i)
	}
	archive := "\n-- a.py --\nclass A:\n    def run(self): pass\ndef use(x: A): x.run()\n" + many.String()
	got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, archive, factsOf)).Text("calls", "may_call")
	if want := "calls a.py:use -> a.py:A.run @3:17"; !slices.Contains(got, want) {
		t.Errorf("edges %q, want %q among them", got, want)
	}
}

// TestArrived resolves calls of methods of the only class that is known to arrive: not of a name that other objects
// commonly have, on an attribute, nor on what is declared to be something else, nor of a function that was put there.
func TestArrived(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.py --
import lib
class Motor:
    def spin_up(self): pass
    def close(self): pass
class Other(lib.Thing): pass
class Car:
    def __init__(self, motor, hook):
        self.motor = motor
        self.on_stop = hook
    def go(self):
        self.motor.spin_up()
        self.motor.close()
        self.on_stop()
def one(m): m.spin_up(); m.close()
def stated(m: lib.Motor): m.spin_up()
def two(m): m.spin_up()
def start():
    m = Motor()
    Car(m, m.spin_up)
    one(m)
    stated(m)
    two(m)
    two(Other())
`, `
calls a.py:Car.go -> a.py:Motor.spin_up @11:19 (flow 700)
may_call a.py:Car.go -> a.py:Motor.close @12:19 (flow 700)
may_call a.py:Car.go -> a.py:Motor.spin_up @13:13 (flow 700)
calls a.py:one -> a.py:Motor.close @14:27 (flow 700)
calls a.py:one -> a.py:Motor.spin_up @14:14 (flow 700)
calls a.py:start -> a.py:Car.__init__ @19:4
calls a.py:start -> a.py:Motor @18:8
calls a.py:start -> a.py:Other @23:8
calls a.py:start -> a.py:one @20:4
calls a.py:start -> a.py:stated @21:4
calls a.py:start -> a.py:two @22:4,23:4
may_call a.py:stated -> a.py:Motor.spin_up @15:28 (flow 700)
may_call a.py:two -> a.py:Motor.spin_up @16:14 (flow 700)
`, "may_call", "calls")
}

// TestArrivedForTests resolves a call on a parameter to which tests alone give something: it is possible only, outside
// of tests.
func TestArrivedForTests(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.py --
class Motor:
    def spin_up(self): pass
def given(m): m.spin_up()
def tried(m): m.spin_up()
def usual(m=Motor): m().spin_up()
given(Motor())
-- tests/test_a.py --
import a
def test():
    a.given(a.Motor())
    a.tried(a.Motor())
    a.usual(a.Motor)
def turn(m): m.spin_up()
turn(a.Motor())
`, `
calls a.py -> a.py:Motor @6:6
calls a.py -> a.py:given @6:0
calls a.py:given -> a.py:Motor.spin_up @3:16 (flow 700)
may_call a.py:tried -> a.py:Motor.spin_up @4:16 (flow 700)
calls a.py:usual -> a.py:Motor.spin_up @5:24 (flow 700)
may_call a.py:usual -> a.py:Motor @5:20 (flow 700)
calls tests/test_a.py -> a.py:Motor @7:7
calls tests/test_a.py -> tests/test_a.py:turn @7:0
calls tests/test_a.py:test -> a.py:Motor @3:14,4:14
calls tests/test_a.py:test -> a.py:given @3:6
calls tests/test_a.py:test -> a.py:tried @4:6
calls tests/test_a.py:test -> a.py:usual @5:6
calls tests/test_a.py:turn -> a.py:Motor.spin_up @6:15 (flow 700)
`, "may_call", "calls")
}

// TestArrivedOverridden resolves calls on what methods return that subclasses override, and of a class's method that
// subclasses override: others than the known one may arrive.
func TestArrivedOverridden(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, `
-- a.py --
class Local:
    def run_job(self, job): pass
class Job:
    def runner(self): pass
    def near(self): return self.runner()
    def go(self):
        self.runner().run_job(self)
        r = self.runner()
        r.run_job(self)
class LocalJob(Job):
    def runner(self): return Local()
LocalJob().go()
class Format:
    @classmethod
    def pipe_reader(cls): pass
    def __rshift__(self, other): return Chain(self)
class Chain:
    def __init__(self, one): self.one = one
    def read(self): self.one.pipe_reader()
class Text(Format):
    def pipe_reader(self): pass
`, `
calls a.py -> a.py:Job.go @12:11
calls a.py -> a.py:LocalJob @12:0
may_call a.py:Chain.read -> a.py:Format.pipe_reader @19:29 (flow 700)
calls a.py:Format.__rshift__ -> a.py:Chain.__init__ @16:40
calls a.py:Job.go -> a.py:Job.runner @7:13,8:17
may_call a.py:Job.go -> a.py:Local.run_job @7:22,9:10 (flow 700)
may_call a.py:Job.go -> a.py:LocalJob.runner @7:13,8:17 (flow 700)
calls a.py:Job.near -> a.py:Job.runner @5:32
may_call a.py:Job.near -> a.py:LocalJob.runner @5:32 (flow 700)
calls a.py:LocalJob.runner -> a.py:Local @11:29
`, "may_call", "calls")
}
