package command

import (
	"strings"
)

// shape returns the placeholder for a value of which only the form is known.
func shape(it *item) string {
	v := it.value
	switch {
	case v == "":
		return "<str>"
	case v == "-" || v == "{}" || v == "]":
		return v
	case it.subst:
		return ""
	case isURL(v):
		return "<url>"
	case strings.HasPrefix(v, "/dev/null"):
		return "/dev/null"
	case it.quoted && strings.ContainsAny(v, " \t\n"):
		return "<str>"
	case it.dynamic:
		if looksLikePath(v) {
			return "<path>"
		}
		if it.quoted {
			return "<str>"
		}
		return "<var>"
	case isNumber(v):
		return "<num>"
	case isUUID(v):
		return "<uuid>"
	case isHash(v):
		return "<hash>"
	case isDate(v):
		return "<date>"
	case isIP(v):
		return "<ip>"
	case isUserHost(v):
		return "<host>"
	case it.glob:
		return "<glob>"
	case looksLikePath(v):
		return "<path>"
	case it.quoted:
		return "<str>"
	}
	return "<arg>"
}

func isURL(s string) bool {
	i := strings.Index(s, "://")
	if i <= 0 || i > 16 {
		return false
	}
	for j := 0; j < i; j++ {
		if c := s[j]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '.' || c == '-') {
			return false
		}
	}
	return len(s) > i+3
}

// isNumber accepts integers, decimals, and numbers with a sign or a unit of at most three letters
// or a percent sign: 5, -1, 3.14, 10M, 30s, 50%, +7.
func isNumber(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',') {
		i++
	}
	if i == 0 || s[0] == '.' || s[0] == ',' || strings.Count(s[:i], ".") > 1 {
		return false
	}
	unit := s[i:]
	return unit == "%" || len(unit) <= 3 && isLetters(unit)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isHash accepts 7 to 128 hexadecimal digits that include a digit and a letter, and digests with
// their algorithm: sha256:….
func isHash(s string) bool {
	if algorithm, rest, ok := strings.Cut(s, ":"); ok && strings.HasPrefix(algorithm, "sha") {
		s = rest
	}
	if len(s) < 7 || len(s) > 128 {
		return false
	}
	digit, letter := false, false
	for i := 0; i < len(s); i++ {
		if !isHex(s[i]) {
			return false
		}
		if s[i] <= '9' {
			digit = true
		} else {
			letter = true
		}
	}
	return digit && letter
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isDate accepts 2026-11-20, optionally followed by a time.
func isDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return isDigits(s[:4]) && isDigits(s[5:7]) && isDigits(s[8:10]) && (len(s) == 10 || s[10] == 'T' || s[10] == ' ')
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isIP accepts an IPv4 address, optionally with a prefix length or a port.
func isIP(s string) bool {
	if i := strings.IndexAny(s, "/:"); i >= 0 {
		if !isDigits(s[i+1:]) {
			return false
		}
		s = s[:i]
	}
	dots := 0
	for part := range strings.SplitSeq(s, ".") {
		if len(part) > 3 || !isDigits(part) {
			return false
		}
		dots++
	}
	return dots == 4
}

// isUserHost accepts user@host.
func isUserHost(s string) bool {
	user, host, ok := strings.Cut(s, "@")
	return ok && user != "" && host != "" && !strings.ContainsAny(s, "/ :,@"+"\t") || ok && isIP(host)
}

func looksLikePath(s string) bool {
	return strings.Contains(s, "/") && !strings.ContainsAny(s, " \n|;") ||
		s == "." || s == ".." || strings.HasPrefix(s, "~") ||
		len(s) > 2 && s[1] == ':' && s[2] == '\\' ||
		hasFileExtension(s)
}

// hasFileExtension accepts name.ext if ext is one to five letters or digits that begin with a
// letter, and name is a plain name.
func hasFileExtension(s string) bool {
	i := strings.LastIndexByte(s, '.')
	if i < 0 || i == len(s)-1 || len(s)-i > 6 {
		return false
	}
	if c := s[i+1] | 0x20; c < 'a' || c > 'z' {
		return false
	}
	for j := 0; j < len(s); j++ {
		if c := s[j]; !isWordByte(c) && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return true
}
