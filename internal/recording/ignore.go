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

// IgnoredDir reports whether a directory, or one above it, matches one of the patterns, which are
// separated by colons. In a pattern * stops at slashes, and ~/ at its start is home.
func IgnoredDir(dir, patterns, home string) bool {
	if dir == "" || patterns == "" {
		return false
	}
	for p := range strings.SplitSeq(patterns, ":") {
		if rest, ok := strings.CutPrefix(p, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
			p = home + rest
		}
		if p == "" {
			continue
		}
		p = path.Clean(p)
		for d := path.Clean(dir); ; d = path.Dir(d) {
			if ok, err := path.Match(p, d); err == nil && ok {
				return true
			}
			if d == "/" || d == "." {
				break
			}
		}
	}
	return false
}

// Typed returns what a shell's hook records of a command: what Hooked returns, but nothing of a
// command that starts with a space. In bash this holds whether or not HISTCONTROL keeps it out of the
// history.
func Typed(text, dir, ignore string, getenv func(string) string) (out string, ok bool) {
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
		return "", false
	}
	return Hooked(text, dir, ignore, getenv)
}

// Hooked returns what a hook records of a command that started in a directory: the text without the
// arguments of Recount's own verbs. ok is false if nothing is recorded. ignore is RECOUNT_IGNORE; the
// directories of RECOUNT_IGNORE_DIRS are read from the environment.
func Hooked(text, dir, ignore string, getenv func(string) string) (out string, ok bool) {
	if strings.TrimSpace(text) == "" || Ignored(text, ignore) || IgnoredDir(dir, getenv("RECOUNT_IGNORE_DIRS"), getenv("HOME")) {
		return "", false
	}
	return WithoutOwn(text)
}
