package recording

import (
	"path"
	"strings"
)

// Ignored says whether a command matches one of the patterns, which are written
// like bash's HISTIGNORE: separated by colons, each for the whole command.
func Ignored(command, patterns string) bool {
	for p := range strings.SplitSeq(patterns, ":") {
		if p == "" {
			continue
		}
		// path.Match lets * stop at slashes, which commands are full of.
		flat := strings.NewReplacer("/", "\x00", "\n", "\x00")
		if ok, err := path.Match(flat.Replace(p), flat.Replace(command)); err == nil && ok {
			return true
		}
	}
	return false
}

// Hooked is what of a command a hook records: the text without what Recount's own verbs
// were given. ok is false where it records nothing.
func Hooked(text, ignore string) (out string, ok bool) {
	if strings.TrimSpace(text) == "" || Ignored(text, ignore) {
		return "", false
	}
	return WithoutOwn(text)
}
