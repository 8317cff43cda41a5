package secrets

import "strings"

// mixed reports whether s has a digit and letters of both cases, or a digit in a long run without
// hyphens, as keys have and names of branches do not.
func mixed(s string) bool {
	var digit, up, low bool
	run, longest := 0, 0
	s = s[:min(len(s), 64)]
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digit = true
		case 'A' <= c && c <= 'Z':
			up = true
		case 'a' <= c && c <= 'z':
			low = true
		}
		if s[i] == '-' {
			run = 0
		} else {
			run++
		}
		longest = max(longest, run)
	}
	return digit && (up && low || longest >= 20)
}

// reference reports whether a value refers to a secret instead of being one: a variable, a
// substitution, a template slot, or a word that is never a secret.
func reference(v string) bool {
	switch {
	case v == "" || len(v) < 256 && same(v):
		return true
	case strings.HasPrefix(v, "[redacted:"):
		return false // handled by merge
	case v[0] == '$' && !strings.HasPrefix(v, "$apr1$") && !strings.HasPrefix(v, "$2") && !strings.HasPrefix(v, "$5$") && !strings.HasPrefix(v, "$6$") || v[0] == '`' || v[0] == '<' || v[0] == '%' && v[len(v)-1] == '%':
		return true
	case strings.HasPrefix(v, "{{") || strings.HasPrefix(v, `\$`):
		return true
	}
	if len(v) > 16 {
		return false
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "nil", "yes", "no", "on", "off", "undefined", "string", "str", "required", "optional", "prompt", "stdin", "env":
		return true
	}
	return false
}

// secretValue accepts a value if its place indicates a secret.
func secretValue(v string) bool { return !reference(v) }

// secretNotPath is like secretValue, but rejects the path of a file that holds the secret.
func secretNotPath(v string) bool {
	for _, p := range []string{"/", "./", "../", "~/", "file:", "@/", "@./"} {
		if strings.HasPrefix(v, p) {
			return false
		}
	}
	return !reference(v)
}

// same reports whether v is a placeholder character, repeated.
func same(v string) bool {
	for i := range len(v) {
		if lower(v[i]) != lower(v[0]) {
			return false
		}
	}
	return strings.IndexByte("*.-xX", v[0]) >= 0
}

// urlPassword accepts the password in a URL, except for the word that GitHub requires there when
// the user is the token.
func urlPassword(v string) bool { return v != "x-oauth-basic" && secretValue(v) }

// flagValue accepts the word after a flag, except for another flag, a path, id=…,src=… of docker
// build --secret, and the number of a pass (ffmpeg -pass 1).
func flagValue(v string) bool {
	switch {
	case v[0] == '-', strings.HasPrefix(v, "id="), strings.HasPrefix(v, "source="), strings.HasPrefix(v, "env:"), strings.HasPrefix(v, "pass:"):
		return false
	case len(v) == 1 && inClass(v[0], digit):
		return false
	}
	return secretNotPath(v)
}

// attached accepts what follows -p without a space, except for flags of other programs in a line
// that mentions mysql: find / -name mysql -print.
func attached(v string) bool {
	switch v {
	case "rint", "rint0", "rune", "ort", "rotocol":
		return false
	}
	return secretValue(v)
}

// literalValue accepts a quoted value of a configuration file or of code.
func literalValue(v string) bool {
	return len(v) >= 4 && !strings.ContainsAny(v[:min(len(v), 256)], " \t{}()") && secretNotPath(v)
}

// keyLike accepts a bare value that looks generated, not written by a person.
func keyLike(v string) bool {
	return len(v) >= 12 && secretNotPath(v) && entropyBits(v) >= 3 && hasDigitAndLetter(v)
}

// wordLike accepts a bare value of a password in a configuration file: a word with a digit among
// its letters is not prose.
func wordLike(v string) bool {
	return len(v) >= 6 && secretNotPath(v) && hasDigitAndLetter(v)
}

func hasDigitAndLetter(s string) bool {
	var seen class
	for i := range min(len(s), 256) {
		seen |= classes[s[i]]
	}
	return seen&digit != 0 && seen&letters != 0
}
