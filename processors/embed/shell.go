package embed

import "strings"

// shellTerms finds the terms of a command in one pass, without a grammar, because a mistake has
// little effect on the vector.
func (d *dictionary) shellTerms(text string, r *reading) {
	program := ""
	expect := true // a program may be next
	flag := ""     // the last flag, whose value may follow
	var key [128]byte
	look := func(parts ...string) {
		b := key[:0]
		for i, p := range parts {
			if i > 0 {
				b = append(b, '\x1f')
			}
			b = append(b, p...)
		}
		r.ids = d.shell.appendTo(r.ids, b)
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.IndexByte("|;&()`", c) >= 0:
			j := i + 1
			for j < len(text) && j < i+2 && text[j] == c {
				j++
			}
			look(text[i:j])
			expect, flag = true, ""
			if c == '`' && program != "" && !strings.Contains(text[j:], "`") {
				expect = false // the closing quote
			}
			i = j
			continue
		case c == '<' || c == '>':
			j := i + 1
			for j < len(text) && strings.IndexByte("<>&(", text[j]) >= 0 {
				j++
			}
			look(text[i:j])
			if text[j-1] == '(' {
				expect = true
			}
			i = j
			continue
		}
		start := i
		i = wordEnd(text, i)
		word := trimQuotes(text[start:i])
		if word == "" {
			continue
		}
		switch {
		case strings.HasPrefix(word, "$("):
			// A substitution inside the word: continue with its program.
			i, expect = start+strings.Index(text[start:i], "$(")+2, true
		case expect && isAssignment(word):
			if j := strings.Index(text[start:i], "=$("); j >= 0 || strings.HasSuffix(word, "=") && i < len(text) && text[i] == '`' {
				look("=$(")
				if j >= 0 {
					i = start + j + len("=$(") // continue with its program
				}
			}
		case expect && word[0] != '-':
			name := strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
			if strings.HasPrefix(flag, "-exec") || strings.HasPrefix(flag, "-ok") {
				look(program, "-exec", name)
			}
			program = name
			look(program)
			expect, flag = passes[program] && !options[program], ""
		case (word[0] == '-' || word[0] == '+') && len(word) > 1 && flag != "" && (word[1] >= '0' && word[1] <= '9') && program == "find":
			look(program, flag, word)
			look(program, flag, word[:1])
			flag = ""
		case word[0] == '-' && len(word) > 1:
			flag = word
			expect = word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir"
			name, value, _ := strings.Cut(word, "=")
			look(program, name)
			if value != "" {
				look(program, name, value)
			}
			if word[1] != '-' && len(word) <= 7 && program != "find" && program != "java" {
				for k := 1; k < len(word); k++ {
					look(program, "-"+word[k:k+1])
				}
			}
		default:
			if flag != "" {
				look(program, flag, word)
				if word[0] == '+' || word[0] == '-' {
					look(program, flag, word[:1])
				}
			} else if len(word) <= 24 {
				look(program, word)
			}
			// sudo, xargs and the like: the program is the first word that is not a flag or its
			// value.
			if passes[program] && (flag == "" || !takesValue[program+flag]) {
				before := program
				program = strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
				look(program)
				look(before, program)
				expect = passes[program] && !options[program]
			}
			flag = ""
		}
		for s := word; s != ""; {
			j := 0
			for j < len(s) && isWordByte(s[j]) {
				j++
			}
			if j > 0 && j <= 16 {
				r.ids = d.shell.appendTo(r.ids, []byte("="+strings.ToLower(s[:j])))
			}
			if j == len(s) {
				break
			}
			s = s[j+1:]
		}
	}
}

// passes are the programs that run another one.
var passes = set("sudo xargs env nohup time nice timeout watch exec command builtin parallel doas strace then do else if while until not !")

// options are the programs in passes that accept flags before it.
var options = set("sudo xargs env nice timeout watch parallel strace time")

// takesValue are the flags of those programs that are followed by a value.
var takesValue = map[string]bool{
	"xargs-n": true, "xargs-I": true, "xargs-P": true, "xargs-L": true, "xargs-d": true, "xargs-i": false,
	"sudo-u": true, "sudo-g": true, "nice-n": true, "watch-n": true, "timeout-s": true, "timeout-k": true,
	"parallel-j": true, "env-u": true, "strace-o": true, "strace-p": true, "strace-e": true,
}

// wordEnd returns the end of the word that begins at i: the next space or operator outside quotes.
func wordEnd(text string, i int) int {
	for i < len(text) {
		switch c := text[i]; c {
		case '\\':
			i++
		case '\'', '"':
			if end := strings.IndexByte(text[i+1:], c); end >= 0 {
				i += end + 1
			}
		case ' ', '\t', '\n', '\r', '|', ';', '&', '<', '>', '`', ')':
			return i
		case '(':
			if i == 0 || text[i-1] != '$' {
				return i
			}
		}
		i++
	}
	return min(i, len(text))
}

func trimQuotes(w string) string { return strings.Trim(w, `"'\`) }

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		if !isWordByte(name[i]) && name[i] != '_' {
			return false
		}
	}
	return true
}
