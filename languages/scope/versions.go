package scope

import "strings"

// versionMark stands around a version in a text: Sanic puts the version of a route, of its blueprint or of the group
// around it before everything else, and the innermost one counts.
const versionMark = "\x05"

// Versioned returns a version as a part of a prefix that goes before all others.
func Versioned(version string) string { return versionMark + version + versionMark }

// hoisted returns a path with its innermost version before the rest.
func hoisted(text string) string {
	if !strings.Contains(text, versionMark) {
		return text
	}
	parts := strings.Split(text, versionMark)
	version, rest := "", ""
	for i, part := range parts {
		if i%2 == 1 {
			version = part
		} else {
			rest += part
		}
	}
	for strings.Contains(rest, "//") {
		rest = strings.ReplaceAll(rest, "//", "/")
	}
	return Slashed(version, rest)
}
