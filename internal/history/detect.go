package history

import (
	"path/filepath"
	"regexp"
	"strings"
)

var (
	fishHead = regexp.MustCompile(`(?m)^- cmd:`)
	zshHead  = regexp.MustCompile(`(?m)^: *[0-9]+:[0-9]+;`)
	bashHead = regexp.MustCompile(`(?m)^#[0-9]{9,11}\r?$`)
)

// Detect returns the format of a history, judged by its name and its first bytes, "" if neither
// identifies it.
func Detect(path string, head []byte) string {
	switch {
	case fishHead.Match(head):
		return "fish"
	case zshHead.Match(head):
		return "zsh"
	case bashHead.Match(head):
		return "bash"
	}
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.Contains(name, "bash"):
		return "bash"
	case strings.Contains(name, "zsh"), strings.Contains(name, "zhistory"):
		return "zsh"
	case strings.Contains(name, "fish"):
		return "fish"
	}
	return ""
}
