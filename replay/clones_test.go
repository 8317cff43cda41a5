package replay

import "testing"

func TestClonesHere(t *testing.T) {
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
	} {
		p := Plan{Steps: []Step{{Command: "make", Shell: "bash"}, {Command: command, Shell: "/bin/bash"}}}
		if got := p.ClonesHere(); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}
