package span

import "strings"

const (
	// placeholder replaces a value, as in requests of the code graph.
	placeholder = "{}"
	// maxSegments and maxSegment limit a path with values that are not recognised.
	maxSegments = 16
	maxSegment  = 64
)

// withoutValues replaces what looks like a value in a path or a name, so that the same operation
// has the same name: "/users/42" becomes "/users/{}". A segment between "/" and spaces is a value
// as a whole if it is
//
//   - a number, a date, a version or an address: only digits and .:,-+
//   - hexadecimal: at least 5 digits with a number among them, or at least 16; with 5 to 7
//     digits not if letters come first and numbers last, as in "cafe24";
//   - at least 8 capitals and numbers, with both;
//   - at least 16 letters and numbers, of which three are numbers;
//   - escaped ("%20"), an e-mail address, or longer than 64 bytes.
//
// Otherwise its parts between - _ . : , = ~ are examined in the same way; there two digits are a
// value, and so are four digits in a row anywhere, and UUIDs. Words are kept, because a slug cannot
// be distinguished from a name.
func withoutValues(s string) string {
	var out strings.Builder
	kept, segments := 0, 0
	for from := 0; from <= len(s); {
		to := from
		for to < len(s) && s[to] != '/' && s[to] != ' ' {
			to++
		}
		if segment := s[from:to]; segment != "" {
			if segments++; segments > maxSegments {
				out.WriteString(s[kept:from])
				return out.String() + placeholder
			}
			if masked, changed := maskSegment(segment); changed {
				out.WriteString(s[kept:from])
				out.WriteString(masked)
				kept = to
			}
		}
		from = to + 1
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

func maskSegment(s string) (string, bool) {
	if isWord(s) {
		return s, false // the common case
	}
	if len(s) > maxSegment || isValue(s, 1) || strings.ContainsAny(s, "%@") {
		return placeholder, true
	}
	var out strings.Builder
	changed := false
	for from := 0; from <= len(s); {
		if from+36 <= len(s) && isUUID(s[from:from+36]) {
			out.WriteString(placeholder)
			changed = true
			from += 36
			if from == len(s) {
				break
			}
		}
		to := from
		for to < len(s) && strings.IndexByte("-_.:,=~", s[to]) < 0 {
			to++
		}
		if part := s[from:to]; isValue(part, 2) {
			out.WriteString(placeholder)
			changed = true
		} else if masked := maskDigits(part); masked != part {
			out.WriteString(masked)
			changed = true
		} else {
			out.WriteString(part)
		}
		if to < len(s) {
			out.WriteByte(s[to])
		}
		from = to + 1
	}
	return out.String(), changed
}

// isWord reports whether s contains nothing that could be a value.
func isWord(s string) bool {
	if len(s) > maxSegment {
		return false
	}
	for i := range len(s) {
		if c := s[i]; isDigit(c) || c == '%' || c == '@' {
			return false
		}
	}
	return len(s) < 16 || !allHex(s)
}

// isValue reports whether s as a whole is a value; a number needs at least digitsFrom digits.
func isValue(s string, digitsFrom int) bool {
	var digits, lower, upper, hex, marks int
	for i := range len(s) {
		c := s[i]
		if isHex(c) {
			hex++
		}
		switch {
		case isDigit(c):
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case strings.IndexByte(".:,-+", c) >= 0:
			marks++
		default:
			return false
		}
	}
	letters := lower + upper
	switch n := len(s); {
	case letters == 0:
		return digits >= digitsFrom
	case marks > 0:
		return n == 36 && isUUID(s)
	case hex == n && (n >= 16 || n >= 8 && digits > 0 || n >= 5 && digits > 0 && !isNumbered(s)):
		return true
	case n >= 8 && lower == 0 && digits > 0:
		return true
	}
	return len(s) >= 16 && digits >= 3
}

// isNumbered reports whether s is letters followed by a number, as in numbered names.
func isNumbered(s string) bool {
	letters := 0
	for letters < len(s) && !isDigit(s[letters]) {
		letters++
	}
	for i := letters; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return letters > 0
}

// maskDigits replaces runs of at least four digits.
func maskDigits(s string) string {
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		run := i
		for run < len(s) && isDigit(s[run]) {
			run++
		}
		if run-i >= 4 {
			out.WriteString(s[kept:i])
			out.WriteString(placeholder)
			kept = run
		}
		i = max(run, i+1)
	}
	if kept == 0 {
		return s
	}
	return out.String() + s[kept:]
}

// isUUID reports whether s, which has 36 bytes, is a UUID.
func isUUID(s string) bool {
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
