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

// TestOwnHistory lets a narrative rewrite the history of what it began or cloned, and remove the branches that it made.
func TestOwnHistory(t *testing.T) {
	at := Place{
		Cwd: "/src/app", Home: "/home/ada", Tree: []string{"/src/app", "/src/own/vendor/lib", "/src/there"},
		Begun: []string{"/src/own", "/src/copy"}, Cloned: []string{"/src/copy"}, Branches: []string{"try"},
	}
	for line, want := range map[string]bool{
		"git -C ../own reset --hard HEAD~1":               false,
		"cd ../own/src && git checkout -- .":              false,
		"git -C ../own branch -D main":                    false,
		"git -C ../own update-ref -d refs/heads/x":        false,
		"git -C ../own clean -fd":                         true, // there may have been files before
		"git -C ../copy clean -fd":                        false,
		"git -C ../own/vendor/lib reset --hard":           true,
		"git -C ../there reset --hard":                    true,
		"git reset --hard":                                true,
		"git -C ../own push --force origin main":          true,
		"git -C $x reset --hard":                          true,
		"git branch -D try":                               false,
		"git branch -D try main":                          true,
		"git branch -M try":                               true,
		"git branch -D $b":                                true,
		"git branch -rd try":                              true,
		"ssh web.example 'cd /src/own; git reset --hard'": true,
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

// TestScriptsOfTheTree lets a script below the tree take away what it installed; what its name says of others counts.
func TestScriptsOfTheTree(t *testing.T) {
	dangerIs(t, map[string]bool{
		"./uninstall.sh ~/.local":                    false,
		"sub/uninstall":                              false,
		"/opt/x/uninstall.sh":                        true,
		"../uninstall.sh":                            true,
		"uninstall.sh":                               true,
		"./undeploy.sh":                              true,
		"./destroy.sh":                               true,
		"./ctl uninstall x":                          true,
		"mkdir /tmp/try.$$; rm -r /tmp/try.$$":       false,
		"rm -r /tmp/try.$$$x":                        true,
		"rm -r /srv/try.$$":                          true,
		"crudini --set a.conf paste_deploy flavor x": false,
	})
}
