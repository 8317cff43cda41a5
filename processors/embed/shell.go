package embed

import "strings"

// shellTerms finds the terms of a command in one pass, without a grammar, because a mistake has
// little effect on the vector.
func (d *dictionary) shellTerms(text string, r *reading) {
	s := shellReader{dictionary: d, reading: r, text: text, expect: true}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.IndexByte("|;&()`", c) >= 0:
			i = s.operator(i)
		case c == '<' || c == '>':
			i = s.redirection(i)
		default:
			end := wordEnd(text, i)
			if word := trimQuotes(text[i:end]); word != "" {
				i = s.word(word, i, end)
				s.wordParts(word)
			} else {
				i = end
			}
		}
	}
}

// shellReader has what is known of a command up to an offset in its text.
type shellReader struct {
	*dictionary
	*reading
	text    string
	program string
	expect  bool   // a program may be next
	flag    string // the last flag, whose value may follow
	key     [128]byte
}

// look adds the term that has some parts, if the dictionary has it.
func (s *shellReader) look(parts ...string) {
	b := s.key[:0]
	for i, p := range parts {
		if i > 0 {
			b = append(b, '\x1f')
		}
		b = append(b, p...)
	}
	s.ids = s.shell.appendTo(s.ids, b)
}

// operator reads a pipe, a semicolon, a parenthesis and the like, after which a program is expected, and returns its
// end.
func (s *shellReader) operator(i int) int {
	c, j := s.text[i], i+1
	if j < len(s.text) && s.text[j] == c {
		j++
	}
	s.look(s.text[i:j])
	s.expect, s.flag = true, ""
	if c == '`' && s.program != "" && !strings.Contains(s.text[j:], "`") {
		s.expect = false // the closing quote
	}
	return j
}

// redirection reads an operator like >> or <(, and returns its end.
func (s *shellReader) redirection(i int) int {
	j := i + 1
	for j < len(s.text) && strings.IndexByte("<>&(", s.text[j]) >= 0 {
		j++
	}
	s.look(s.text[i:j])
	if s.text[j-1] == '(' {
		s.expect = true
	}
	return j
}

// word reads a word, which has quotes around it in text[start:end], and returns where to continue: a substitution
// inside the word is read as a program.
func (s *shellReader) word(word string, start, end int) int {
	whole := s.text[start:end]
	switch {
	case strings.HasPrefix(word, "$("):
		s.expect = true
		return start + strings.Index(whole, "$(") + 2
	case s.expect && isAssignment(word):
		j := strings.Index(whole, "=$(")
		if j >= 0 || strings.HasSuffix(word, "=") && end < len(s.text) && s.text[end] == '`' {
			s.look("=$(")
		}
		if j >= 0 {
			return start + j + len("=$(")
		}
	case s.expect && word[0] != '-':
		name := programName(word)
		if strings.HasPrefix(s.flag, "-exec") || strings.HasPrefix(s.flag, "-ok") {
			s.look(s.program, "-exec", name)
		}
		s.run(name)
		s.flag = ""
	case (word[0] == '-' || word[0] == '+') && len(word) > 1 && s.flag != "" && (word[1] >= '0' && word[1] <= '9') && s.program == "find":
		s.flagValue(word)
		s.flag = ""
	case word[0] == '-' && len(word) > 1:
		s.flagWord(word)
	default:
		s.argument(word)
	}
	return end
}

func programName(word string) string {
	return strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
}

// run notes the program that the next words belong to.
func (s *shellReader) run(name string) {
	s.program = name
	s.look(name)
	s.expect = passes[name] && !options[name]
}

// flagWord reads a flag: -x, -xyz or --name=value.
func (s *shellReader) flagWord(word string) {
	s.flag = word
	s.expect = word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir"
	name, value, _ := strings.Cut(word, "=")
	s.look(s.program, name)
	if value != "" {
		s.look(s.program, name, value)
	}
	if word[1] != '-' && len(word) <= 7 && s.program != "find" && s.program != "java" {
		for k := 1; k < len(word); k++ {
			s.look(s.program, "-"+word[k:k+1])
		}
	}
}

// flagValue reads the value of the last flag, and its sign.
func (s *shellReader) flagValue(word string) {
	s.look(s.program, s.flag, word)
	if word[0] == '+' || word[0] == '-' {
		s.look(s.program, s.flag, word[:1])
	}
}

// argument reads a word that is no flag. Of sudo, xargs and the like, the program is the first one that is not the
// value of a flag.
func (s *shellReader) argument(word string) {
	if s.flag != "" {
		s.flagValue(word)
	} else if len(word) <= 24 {
		s.look(s.program, word)
	}
	if before := s.program; passes[before] && (s.flag == "" || !takesValue[before+s.flag]) {
		name := programName(word)
		s.run(name)
		s.look(before, name)
	}
	s.flag = ""
}

// wordParts adds the terms of the parts of a word between marks.
func (s *shellReader) wordParts(word string) {
	for word != "" {
		j := 0
		for j < len(word) && isWordByte(word[j]) {
			j++
		}
		if j > 0 && j <= 16 {
			s.look("=" + strings.ToLower(word[:j]))
		}
		if j == len(word) {
			return
		}
		word = word[j+1:]
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
