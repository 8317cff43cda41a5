package replay

import "testing"

// TestNeedsCopy has commands that overlayfs would make fail, and others.
func TestNeedsCopy(t *testing.T) {
	for command, want := range map[string]bool{
		"git clone ../lib":                                           true,
		"git -C work clone -q -b main /srv/lib.git":                  true,
		"git clone \"$SOURCE\" copy":                                 true,
		"cd x && git submodule add ../a sub/a":                       true,
		"git submodule update --init":                                true,
		"git clone --recurse-submodules https://git.example/app.git": true,
		"git clone https://git.example/app.git":                      false,
		"git clone ann@git.example:app.git":                          false,
		"git clone --no-hardlinks ../lib":                            false,
		"git submodule status":                                       false,
		"git pull ../lib":                                            false,
		"echo git clone ../lib":                                      false,
		"'":                                                          false,
		"ln conf/base hl":                                            true,
		"ln -f conf/base hl":                                         true,
		"cp -al a b":                                                 true,
		"ln -s a b; cp -a a c":                                       false,
		"ln -sfn a b":                                                false,
	} {
		p := Plan{Steps: []Step{{Command: "make", Shell: "bash"}, {Command: command, Shell: "/bin/bash"}}}
		if got := p.NeedsCopy() != ""; got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
	for kind, want := range map[string]bool{PostFile: false, PostDirectory: true} {
		p := Plan{Steps: []Step{{Command: "cd app && git mv old new", Shell: "bash", Post: []Postcondition{{Kind: kind, Target: "/src/app/new"}}}}}
		if got := p.NeedsCopy() != ""; got != want {
			t.Errorf("git mv of a %s: %v, want %v", kind, got, want)
		}
	}
}
