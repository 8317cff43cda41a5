package effects

import (
	"strings"
	"testing"
)

// TestSettings checks that changing a program's own settings is no look, and that its other calls read them.
func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"npm config set init-version=0.1.0":                 "~/.npmrc update",
		"npm set init-license MIT":                          "~/.npmrc update",
		"npm config set --location=project save-exact=true": "~/p/.npmrc update",
		"npm config get cache":                              "",
		"npm config ls -l":                                  "",
		"npm init -y":                                       "~/.npmrc read",
		"pip config set global.timeout 60":                  "~/.config/pip/pip.conf update",
		"pip config list":                                   "",
		"go env -w GOFLAGS=-mod=mod":                        "~/.config/go/env update",
		"go env GOFLAGS":                                    "",
		"bundle config set --local path vendor":             "~/p/.bundle/config update",
		"composer config repositories.x path ../x":          "~/p/composer.json update",
		"composer config vendor-dir":                        "~/.config/composer/config.json read",
	} {
		var got []string
		for _, th := range Of(Command{Text: text, Shell: "bash", Cwd: "/home/a/p", Home: "/home/a"}).Things {
			if name, ok := strings.CutPrefix(th.Name, "/home/a/"); ok && strings.HasPrefix(name, ".") || strings.HasPrefix(name, "p/") {
				got = append(got, "~/"+name+" "+map[Access]string{Read: "read", Write: "write", Update: "update"}[th.Access])
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
