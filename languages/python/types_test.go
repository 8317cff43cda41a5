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
