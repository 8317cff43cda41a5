package secrets

import "strings"

// mixed reports whether s has a digit and letters of both cases, or a digit in
// a long run without hyphens: what keys have and names of branches have not.
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

// reference reports whether a value is not a secret but says where one is: a
// variable, a substitution, a slot of a template; or a word that no secret is.
func reference(v string) bool {
	switch {
	case v == "" || len(v) < 256 && same(v):
		return true
	case strings.HasPrefix(v, "[redacted:"):
		return false // settled by merge
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

// secretValue accepts a value where the place says that it is a secret.
func secretValue(v string) bool { return !reference(v) }

// secretNotPath accepts it unless it is a path: a file that holds the secret.
func secretNotPath(v string) bool {
	for _, p := range []string{"/", "./", "../", "~/", "file:", "@/", "@./"} {
		if strings.HasPrefix(v, p) {
			return false
		}
	}
	return !reference(v)
}

// same reports whether v is one of the marks that stand for any value, over and over.
func same(v string) bool {
	for i := range len(v) {
		if lower(v[i]) != lower(v[0]) {
			return false
		}
	}
	return strings.IndexByte("*.-xX", v[0]) >= 0
}

// urlPassword accepts what stands between the user and the host of a URL, but
// for the word that GitHub wants there when the user is the token.
func urlPassword(v string) bool { return v != "x-oauth-basic" && secretValue(v) }

// flagValue accepts the word after a flag: not the next flag, not a path, not the
// id=…,src=… of docker build --secret, not the number of a pass (ffmpeg -pass 1).
func flagValue(v string) bool {
	switch {
	case v[0] == '-', strings.HasPrefix(v, "id="), strings.HasPrefix(v, "source="), strings.HasPrefix(v, "env:"), strings.HasPrefix(v, "pass:"):
		return false
	case len(v) == 1 && is(v[0], digit):
		return false
	}
	return secretNotPath(v)
}

// attached accepts what follows -p without a space, but for the flags of other
// programs that a line with mysql in it may have: find / -name mysql -print.
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

// keyLike accepts a bare value that looks made rather than written.
func keyLike(v string) bool {
	return len(v) >= 12 && secretNotPath(v) && entropyBits(v) >= 3 && hasDigitAndLetter(v)
}

// wordLike accepts a bare value of a password in a configuration file: what has a digit
// among its letters is no word of prose.
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
