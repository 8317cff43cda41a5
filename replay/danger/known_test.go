package danger

import (
	"testing"

	"github.com/recountdb/recount/replay/shell"
)

// TestKnownVariables judges lines by what is known of the variables of their shell.
func TestKnownVariables(t *testing.T) {
	at := Place{Cwd: "/src/app", Home: "/home/ada", Tree: []string{"/src/app"}, Vars: map[string]string{
		"u": "127.0.0.1:8080", "url": "http://localhost", "far": "https://api.example.org", "out": "/src/app/build", "etc": "/etc/app", "h": "127.0.0.1",
	}}
	for line, want := range map[string]bool{
		"curl -d x=1 $u/echo":                             false,
		`curl -sT - "$u/$f.txt"`:                          false,
		"curl -X DELETE ${url}/2":                         false,
		"curl -d x $far/echo":                             true,
		"curl -d x $unknown/echo":                         true,
		"curl -d x $h$rest/echo":                          true,
		"u=$1; curl -d x $u/echo":                         true,
		"read u; curl -d x $u":                            true,
		"send() { curl -d x $u; }":                        true, // u may be another one when it is called
		"rm -rf $out":                                     true, // it may not be set in the end
		"rm -rf $etc":                                     true,
		"rm -rf $out/../../..":                            true,
		`for u in a.example; do curl -d x $u; done`:       true,
		`for f in a b; do curl -sT - $u/$f.txt; done`:     false,
		`for out in x /etc; do rm -rf $out; done`:         true,
		`if true; then out=/; fi; rm -rf $out`:            true,
		`out=$(mktemp -d); rm -rf $out; curl -d x $far/y`: true,
	} {
		l, err := shell.Read(line, "bash", at.Cwd)
		if err != nil {
			t.Fatal(err)
		}
		if found := Find(l, at); (len(found) > 0) != want {
			t.Errorf("%s: %+v", line, found)
		}
	}
}

// TestClonedRepositories lets a narrative remove what it cloned, and no other repository.
func TestClonedRepositories(t *testing.T) {
	at := Place{Cwd: "/src/app/demo", Home: "/home/ada", Tree: []string{"/src/app", "/src/app/copy", "/src/app/own"}, Cloned: []string{"/src/app/copy"}}
	for line, want := range map[string]bool{"rm -rf ../copy": false, "rm -rf ../own": true, "rm -rf ../copy ..": true, "rm -rf ../copy/.git": true} {
		l, err := shell.Read(line, "bash", at.Cwd)
		if err != nil {
			t.Fatal(err)
		}
		if found := Find(l, at); (len(found) > 0) != want {
			t.Errorf("%s: %+v", line, found)
		}
	}
}
