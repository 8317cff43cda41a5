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
	bare            // what a word of a shell or a value without quotes goes on with
	space           // blank, tab, line ends
	percent         // A-Za-z0-9%+/ and what else a token in a URL has
	tilded          // A-Za-z0-9_.~-
)

// classes says of each byte what it is of.
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

func is(c byte, of class) bool { return classes[c]&of != 0 }

// memo remembers where the last run of each class ended, so that a text in which
// everything begins a match is still read once.
type memo struct{ from, to [17]int }

// end is where the run of a class that goes on at p ends.
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
