package golang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

func fresh() resolve.Resolver { return New() }

// edgesOf resolves an archive and returns its edges of some kinds as lines.
func edgesOf(t *testing.T, archive string, kinds ...string) []string {
	t.Helper()
	return resolvetest.Full(t, fresh(), resolvetest.Archive(t, archive, readFacts)).Text(kinds...)
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"a method of one name on two types is two nodes", `
-- go.mod --
module m
-- a.go --
package a

type A struct{}
type B struct{}

func (A) Do() {}
func (*B) Do() {}
func run(a A, b *B) { a.Do(); b.Do() }
`, `
calls a.go:run -> a.go:A.Do @8:24
calls a.go:run -> a.go:B.Do @8:32
`}, {"calls across packages and into what is elsewhere", `
-- go.mod --
module example.com/m
-- a/a.go --
package a

import (
	"fmt"

	"example.com/m/b"
	"example.com/go-other/v2"
)

func Run() {
	fmt.Println(b.New().Name())
	other.Do()
	other.New().Do()
	missing()
}
-- b/b.go --
package b

type T struct{}

func New() *T           { return nil }
func (t *T) Name() string { return "" }
`, `
calls a/a.go:Run -> b/b.go:New @11:15
calls a/a.go:Run -> b/b.go:T.Name @11:21
calls a/a.go:Run -> go example.com/go-other/v2 Do @12:7 (external)
calls a/a.go:Run -> go example.com/go-other/v2 New @13:7 (external)
calls a/a.go:Run -> go fmt Println @11:5 (external)
calls a/a.go:Run -> missing @14:1 (unresolved)
calls a/a.go:Run -> other.New().Do @13:13 (unresolved)
`}, {"an interface's method, a promoted one, a method expression, a generic one", `
-- go.mod --
module m
-- a.go --
package a

type I interface{ M() }
type base struct{}
type T struct{ base }
type List[E any] struct{}

func (*base) Up()          {}
func (l *List[E]) Add(e E) {}
func Map[E any](e E)       {}

func run(i I, t T) {
	i.M()
	t.Up()
	(*base).Up(&t.base)
	new(List[int]).Add(1)
	Map[string]("")
	func() { Map(1) }()
	defer run(i, t)
}
`, `
calls a.go:run -> a.go:I.M @13:3
calls a.go:run -> a.go:List.Add @16:16
calls a.go:run -> a.go:Map @17:1,18:10
calls a.go:run -> a.go:base.Up @14:3,15:9
calls a.go:run -> a.go:run @19:7
`}, {"initialisers call as their variables, inits as themselves", `
-- go.mod --
module m
-- a.go --
package a

var x = f()
var _ = f()

func f() int { return 0 }
func init()  { f() }
func init()  { x = f() }
-- b.go --
package a

func init() { f() }
`, `
calls a.go:_a.go -> a.go:f @4:8
calls a.go:inita.go -> a.go:f @7:15
calls a.go:inita.go#2 -> a.go:f @8:19
calls a.go:x -> a.go:f @3:8
calls b.go:initb.go -> a.go:f @3:14
`}, {"tests see their package, external tests what its tests export", `
-- go.mod --
module m
-- a.go --
package a

func f() {}
-- export_test.go --
package a

func F() { f() }
-- a_test.go --
package a_test

import (
	"testing"

	"m"
)

func TestF(t *testing.T) { a.F() }
`, `
calls a_test.go:TestF -> export_test.go:F @9:29
calls export_test.go:F -> a.go:f @3:11
`}, {"modules of one repository see each other, in a workspace or not", `
-- go.mod --
module example.com/m
-- a.go --
package m

func F() {}
-- tool/go.mod --
module example.com/tool
require example.com/m v1.2.3
-- tool/main.go --
package main

import "example.com/m"
import "example.com/replaced/x"

func main() { m.F(); x.G() }
-- tool/x/x.go --
package x

func G() {}
`, `
calls tool/main.go:main -> a.go:F @6:16
calls tool/main.go:main -> go example.com/replaced/x G @6:23 (external)
`}, {"a replacement in go.mod is followed", `
-- tool/go.mod --
module example.com/tool
require example.com/replaced v1.2.3
replace example.com/replaced => ../lib
-- tool/main.go --
package main

import "example.com/replaced/x"

func main() { x.G() }
-- lib/x/x.go --
package x

func G() {}
`, `
calls tool/main.go:main -> lib/x/x.go:G @5:16
`}, {"what the build leaves out has nodes and no edges", `
-- go.mod --
module m
-- a.go --
package a

func run() { open() }
-- open_linux.go --
package a

func open() { run() }
-- open_windows.go --
package a

func open() { run() }
-- testdata/x.go --
package x

func f() { f() }
`, `
calls a.go:run -> open_linux.go:open @3:13
calls open_linux.go:open -> a.go:run @3:14
`}, {"packages that import each other do not see each other", `
-- go.mod --
module m
-- a/a.go --
package a

import "m/b"

func F() { b.F() }
-- b/b.go --
package b

import "m/a"

func F() { a.F(); f() }
func f() {}
`, `
calls a/a.go:F -> go m/b F @5:13 (external)
calls b/b.go:F -> b/b.go:f @5:18
calls b/b.go:F -> go m/a F @5:13 (external)
`}, {"a file with a syntax error gives what can be read", `
-- go.mod --
module m
-- a.go --
package a

func f() { g() }
func g() { x := }
func h() { f() }
`, `
calls a.go:f -> a.go:g @3:11
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Split(strings.TrimSpace(c.want), "\n")
			if diff := cmp.Diff(want, edgesOf(t, c.archive, "calls")); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEverythingElse(t *testing.T) {
	const archive = `
-- go.mod --
module m
-- a.go --
// Package a is an example.
package a

import (
	"io"
	"os"
	"os/exec"
)

// Doer does.
type Doer interface {
	io.Closer
	// Do does it.
	Do(what string) error
}

type base struct{}

func (base) Close() error { return nil }

// T is a Doer.
type T struct {
	base
	opts struct{ Deep int }
}

const max = 3

var hook = helper

func (t *T) Do(thing string) error { return nil }
func (t *T) Close() error          { return t.base.Close() }

func helper() {
	type local struct{ T }
	var _ Doer = &T{}
	_ = max
	_ = os.Getenv("HOME")
	exec.Command("git", "log")
}
`
	want := strings.Split(strings.TrimSpace(`
node / PACKAGE "package a" 0:0-0:0
contains / -> a.go
node a.go FILE "" 0:0-0:0
node a.go:Doer INTERFACE "type Doer interface" 11:5-15:1 exported
node a.go:Doer.Do METHOD "Do(what string) error" 14:1-14:22 exported
node a.go:T STRUCT "type T struct" 22:5-25:1 exported
node a.go:T.Close METHOD "func (t *T) Close() error" 32:0-32:60 exported
node a.go:T.Do METHOD "func (t *T) Do(thing string) error" 31:0-31:49 exported
node a.go:T.base FIELD "base" 23:1-23:5
node a.go:T.opts FIELD "opts struct{ Deep int }" 24:1-24:24
node a.go:T.opts.Deep FIELD "Deep int" 24:14-24:22
node a.go:base STRUCT "type base struct" 17:5-17:18
node a.go:base.Close METHOD "func (base) Close() error" 19:0-19:40
node a.go:helper FUNCTION "func helper()" 34:0-40:1
node a.go:helper.local STRUCT "type local struct" 35:6-35:23
node a.go:helper.local.T FIELD "T" 35:20-35:21
node a.go:hook VARIABLE "var hook" 29:4-29:17
node a.go:max CONSTANT "const max = 3" 27:6-27:13
calls a.go:T.Close -> a.go:base.Close @32:51
implements a.go:T -> a.go:Doer
implements a.go:T.Do -> a.go:Doer.Do
implements a.go:helper.local -> a.go:Doer
extends a.go:T -> a.go:base @23:1
extends a.go:helper.local -> a.go:T @35:20
overrides a.go:T.Close -> a.go:base.Close @32:12
references a.go:T -> a.go:base @23:1
references a.go:helper -> a.go:Doer @36:7
references a.go:helper -> a.go:T @36:15
references a.go:helper -> a.go:max @37:5
references a.go:helper.local -> a.go:T @35:20
references a.go:hook -> a.go:helper @29:11
calls a.go:helper -> go os Getenv @38:8 (external)
calls a.go:helper -> go os/exec Command @39:6 (external)
executes_process a.go:helper -> process git @39:14 (external)
extends a.go:Doer -> go io Closer @12:4 (external)
imports a.go -> go io @5:1 (external)
imports a.go -> go os @6:1 (external)
imports a.go -> go os/exec @7:1 (external)
reads_env a.go:helper -> env HOME @38:15 (external)
references a.go:Doer -> go io Closer @12:4 (external)
`), "\n")
	got := edgesOf(t, archive)
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "contains a.go") })
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("graph (-want +got):\n%s", diff)
	}
}

func TestGuessedName(t *testing.T) {
	for path, want := range map[string]string{
		"github.com/gorilla/mux": "mux", "github.com/go-chi/chi/v5": "chi", "gopkg.in/yaml.v3": "yaml",
		"github.com/hashicorp/go-multierror": "multierror", "github.com/segmentio/kafka-go": "kafka",
		"github.com/nats-io/nats.go": "nats", "v2": "v2", "example.com/two-words": "two_words",
	} {
		if got := guessedName(path); got != want {
			t.Errorf("guessedName(%q) = %q, want %q", path, got, want)
		}
	}
}
