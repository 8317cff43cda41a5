package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errByHand is a list that is not one entry below another, so that a program does not
// know which lines are whose.
var errByHand = errors.New("tokens is not a list of one entry below another: take it out by hand")

// Remove is a tokens file without the entry in a line (Entry.Line), and without the
// comment right above it. Everything else stays as it is written.
func Remove(text []byte, line int) ([]byte, error) {
	before, err := Parse(text)
	if err != nil {
		return nil, err
	}
	found, err := items(text)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	begins := func(at int) bool { return strings.HasPrefix(strings.TrimSpace(lines[at-1]), "-") }
	// comment is where the comment above the entry in a line begins.
	comment := func(at int) int {
		for at > 1 && strings.HasPrefix(strings.TrimSpace(lines[at-2]), "#") {
			at--
		}
		return at
	}
	for i, node := range found {
		if node.Line != line {
			continue
		}
		until := len(lines) + 1
		if i+1 < len(found) {
			if !begins(found[i+1].Line) {
				return nil, errByHand
			}
			until = comment(found[i+1].Line)
		}
		if !begins(line) {
			return nil, errByHand
		}
		out := []byte(strings.Join(slices.Concat(lines[:comment(line)-1], lines[until-1:]), ""))
		after, err := Parse(out)
		if err != nil || len(after.Entries)+len(after.Mistakes) != len(found)-1 || !sameBut(before.Entries, after.Entries, line) {
			return nil, errByHand
		}
		return out, nil
	}
	return nil, fmt.Errorf("line %d: no entry begins there", line)
}

// sameBut reports whether after holds before's tokens but that of a line; what was a
// mistake beside it, because both had one token, may be in force now.
func sameBut(before, after []Entry, line int) bool {
	has := map[[sha256.Size]byte]bool{}
	for _, e := range after {
		has[e.sum] = true
	}
	for _, e := range before {
		if has[e.sum] != (e.Line != line) {
			return false
		}
	}
	return true
}
