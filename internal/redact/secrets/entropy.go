package secrets

import (
	"math"
	"strings"
)

// These are the minimum length and entropy of an assigned value that is treated as a key although
// no other rule matches. Hexadecimal values are excluded because commits and digests have that
// form; a hexadecimal secret is usually assigned to a name that the name rules know.
const (
	entropyMinLen  = 24
	entropyMinBits = 4.2 // bits per character; English words have about 3, random base64 about 4.5 at this length
)

// findEntropy yields values of high entropy in NAME=value. Outside assignments entropy is not
// considered, because object names and checksums are common in engineers' text.
func findEntropy(s string, yield func(start, end int)) {
	for at := 0; ; {
		eq := strings.IndexByte(s[at:], '=')
		if eq < 0 {
			return
		}
		eq += at
		at = eq + 1
		start := at
		if start < len(s) && (s[start] == '"' || s[start] == '\'') {
			start++
		}
		end := start
		for end < len(s) && keyByte(s[end]) {
			end++
		}
		for end < len(s) && end > start && s[end] == '=' && end-start < entropyMinLen+1024 {
			end++ // padding
		}
		if end > at {
			at = end
		}
		if end-start < entropyMinLen || eq == 0 || !nameByte(s[eq-1]) {
			continue
		}
		if v := strings.TrimRight(s[start:end], "="); randomLooking(v) && !digestName(s[:eq]) {
			yield(start, end)
		}
	}
}

func randomLooking(v string) bool {
	var digits, ups, lows, slashes int
	for i := range len(v) {
		switch c := v[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			ups++
		case 'a' <= c && c <= 'z':
			lows++
		case c == '/':
			slashes++
		}
	}
	if digits < 2 || ups < 2 || lows < 2 || slashes > len(v)/10 || v[0] == '/' || strings.HasPrefix(v, "sha") {
		return false
	}
	return entropyBits(v) >= entropyMinBits
}

// digestName reports whether the name at the end of s is one that usually holds a digest.
func digestName(s string) bool {
	start := len(s)
	for start > 0 && (nameByte(s[start-1]) || s[start-1] == '-') && len(s)-start < 64 {
		start--
	}
	name := strings.ToLower(s[start:])
	for _, w := range []string{"sha", "hash", "digest", "checksum", "integrity", "etag", "commit", "h1"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// entropyBits returns the Shannon entropy of the bytes of s, in bits per byte.
func entropyBits(s string) float64 {
	s = s[:min(len(s), 1024)]
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

func keyByte(c byte) bool {
	return nameByte(c) || c == '+' || c == '/' || c == '-'
}

func nameByte(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '_'
}
