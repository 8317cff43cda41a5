package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errByHand reports that the entries of the list do not each begin on a line of their own, so that
// a program cannot tell which lines belong to which entry.
var errByHand = errors.New("tokens is not a block list with one entry per item: remove the entry by hand")

// Remove returns a tokens file without the entry that begins in the given line (Entry.Line) and
// without the comment directly above it. The rest of the file stays byte for byte as it is.
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
	// comment returns the first line of the comment above the entry in a line.
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

// sameBut reports whether after holds all tokens of before except that of the given line. after may
// hold more: an entry that was in error because it shared the removed token is now valid.
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
