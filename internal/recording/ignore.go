package recording

import (
	"path"
	"strings"
)

// Ignored reports whether a command matches one of the patterns, which have the form of bash's
// HISTIGNORE: separated by colons, each for the whole command.
func Ignored(command, patterns string) bool {
	for p := range strings.SplitSeq(patterns, ":") {
		if p == "" {
			continue
		}
		// In path.Match, * stops at slashes, which are frequent in commands.
		flat := strings.NewReplacer("/", "\x00", "\n", "\x00")
		if ok, err := path.Match(flat.Replace(p), flat.Replace(command)); err == nil && ok {
			return true
		}
	}
	return false
}

// Hooked returns what a hook records of a command: the text without the arguments of Recount's own
// verbs. ok is false if nothing is recorded.
func Hooked(text, ignore string) (out string, ok bool) {
	if strings.TrimSpace(text) == "" || Ignored(text, ignore) {
		return "", false
	}
	return WithoutOwn(text)
}
