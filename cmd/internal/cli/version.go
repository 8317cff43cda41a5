package cli

import (
	"runtime"
	"runtime/debug"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// devVersion is the version of a build that names none.
const devVersion = "0.1.0-dev"

// Version returns the version of the program: the one set by the build (-ldflags "-X
// main.version=1.2.3"), else the tag given to `go install`, if any.
func Version(set string) string {
	if info, ok := debug.ReadBuildInfo(); ok && set == "" {
		return installed(info.Main.Version)
	}
	if set == "" {
		return devVersion
	}
	return set
}

// installed returns the version of a module that was built by its tag, and devVersion for any other
// build.
func installed(tag string) string {
	if !semver.IsValid(tag) || module.IsPseudoVersion(tag) || semver.Build(tag) != "" {
		return devVersion
	}
	return tag[1:]
}

// Platform returns the operating system and the architecture, as linux/amd64.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
