package wire

import "strings"

// editedWord stands for a value that the line of the node's signature has as well.
const editedWord = "±"

// edited returns two texts as one line, PREFIX[-BEFORE-]{+AFTER+}SUFFIX, or false if that would be hardly
// shorter or could not be read back.
func edited(before, after string) (string, bool) {
	if before == "" || after == "" || before == after || !verbatim(before) || !verbatim(after) {
		return "", false
	}
	from := 0
	for from < min(len(before), len(after)) && before[from] == after[from] {
		from++
	}
	for from > 0 && (inWord(before, from) || inWord(after, from)) {
		from--
	}
	b, a := before[from:], after[from:]
	n := 0
	for n < min(len(b), len(a)) && b[len(b)-1-n] == a[len(a)-1-n] {
		n++
	}
	for n > 0 && (inWord(before, len(before)-n) || inWord(after, len(after)-n)) {
		n--
	}
	if from+n < 16 {
		return "", false
	}
	s := after[:from]
	if b = b[:len(b)-n]; b != "" {
		s += "[-" + b + "-]"
	}
	if a = a[:len(a)-n]; a != "" {
		s += "{+" + a + "+}"
	}
	s += after[len(after)-n:]
	gotBefore, gotAfter, ok := unedited(s)
	return s, ok && gotBefore == before && gotAfter == after
}

// inWord reports whether a place in a text is between two letters of a word.
func inWord(s string, at int) bool {
	return at > 0 && at < len(s) && ofWord(s[at-1]) && ofWord(s[at])
}

func ofWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c >= 0x80 }

// unedited returns the two texts of a line of edited.
func unedited(s string) (before, after string, ok bool) {
	at := strings.Index(s, "[-")
	if in := strings.Index(s, "{+"); at < 0 || in >= 0 && in < at {
		at = in
	}
	if at < 0 || strings.Contains(s, "\n") {
		return "", "", false
	}
	before, after = s[:at], s[:at]
	rest := s[at:]
	if removed, is := strings.CutPrefix(rest, "[-"); is {
		if removed, rest, ok = strings.Cut(removed, "-]"); !ok {
			return "", "", false
		}
		before += removed
	}
	if added, is := strings.CutPrefix(rest, "{+"); is {
		if added, rest, ok = strings.Cut(added, "+}"); !ok {
			return "", "", false
		}
		after += added
	}
	return before + rest, after + rest, true
}
