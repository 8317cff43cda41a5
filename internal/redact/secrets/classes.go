package secrets

// class is a set of bytes, one bit of classes.
type class uint32

const (
	digit     class = 1 << iota
	upper           // A-Z
	lowerHex        // 0-9a-f
	hex             // 0-9a-fA-F
	letters         // A-Za-z
	alnum           // A-Za-z0-9
	name            // A-Za-z0-9_
	dashed          // A-Za-z0-9_-
	dotted          // A-Za-z0-9_.-
	base64          // A-Za-z0-9+/
	base64Any       // A-Za-z0-9+/=_-
	upperNum        // A-Z0-9
	lowerNum        // a-z0-9
	bare            // the bytes of a shell word or of an unquoted value
	space           // space, tab, line endings
	percent         // A-Za-z0-9%+/ and the other bytes of a token in a URL
	tilded          // A-Za-z0-9_.~-
)

// classes maps each byte to the set of its classes.
var classes = func() (t [256]class) {
	for i := range t {
		c := byte(i)
		d, u, l := '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z'
		set := func(of class, is bool) {
			if is {
				t[i] |= of
			}
		}
		an := d || u || l
		set(digit, d)
		set(upper, u)
		set(lowerHex, d || 'a' <= c && c <= 'f')
		set(hex, d || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F')
		set(letters, u || l)
		set(alnum, an)
		set(name, an || c == '_')
		set(dashed, an || c == '_' || c == '-')
		set(dotted, an || c == '_' || c == '-' || c == '.')
		set(tilded, an || c == '_' || c == '-' || c == '.' || c == '~')
		set(base64, an || c == '+' || c == '/')
		set(base64Any, an || c == '+' || c == '/' || c == '=' || c == '_' || c == '-')
		set(upperNum, u || d)
		set(lowerNum, l || d)
		set(percent, an || c == '%' || c == '+' || c == '/')
		blank := c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
		set(space, blank)
		switch c {
		case '"', '\'', '`', '&', '|', ';', '<', '>', '(', ')':
		default:
			set(bare, !blank)
		}
	}
	return t
}()

func inClass(c byte, of class) bool { return classes[c]&of != 0 }

// memo caches where the last run of each class ended, so that a text is read only once even if a
// match begins at every byte.
type memo struct{ from, to [17]int }

// end returns the end of the run of a class that contains p.
func (r *memo) end(s string, p int, of class) int {
	i := 0
	for m := of; m > 1; m >>= 1 {
		i++
	}
	if r.from[i] <= p && p < r.to[i] {
		return r.to[i]
	}
	e := p
	for e < len(s) && classes[s[e]]&of != 0 {
		e++
	}
	if e > p {
		r.from[i], r.to[i] = p, e
	}
	return e
}
