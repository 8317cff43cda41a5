package recording

import (
	"regexp"
	"strings"
)

// WithoutOwn returns what is recorded of a command line. The arguments of Recount's own verbs are
// never recorded: a pipeline that calls one, such as
//
//	recount forget --pattern SECRET
//	echo SECRET | sudo recount forget --pattern-file -
//	RECOUNT_TOKEN=… /opt/bin/recount find x
//
// becomes the program's name alone, beside the other commands of its line. ok is false if nothing
// else is left, or if the line has a form that is not parsed here (a here document, a substitution,
// a compound command): such a line is omitted completely.
//
// It implements the shells' grammar as far as needed, and omits in case of doubt.
func WithoutOwn(text string) (out string, ok bool) {
	parts, plain := pipelines(text)
	own, others := false, false
	var b strings.Builder
	for _, p := range parts {
		switch {
		case callsOwn(p.text):
			own = true
			b.WriteString(p.space + "recount" + p.text[len(strings.TrimRight(p.text, " \t")):])
		case strings.TrimSpace(p.text) == "":
			b.WriteString(p.space + p.text)
		default:
			others = true
			b.WriteString(p.space + p.text)
		}
		b.WriteString(p.end)
	}
	switch {
	case !own:
		return text, true
	case !plain || !others:
		return "", false
	}
	return b.String(), true
}

// part is one pipeline of a line, with the space before it and the operator after it.
type part struct{ space, text, end string }

// pipelines splits a line at ; & && || and newlines outside quotes and brackets. plain is false if
// the line contains syntax that is not supported.
func pipelines(s string) (parts []part, plain bool) {
	plain = true
	start := 0
	add := func(end, next int) {
		body := s[start:end]
		trimmed := strings.TrimLeft(body, " \t")
		parts = append(parts, part{body[:len(body)-len(trimmed)], trimmed, s[end:next]})
		start = next
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
		case '\'', '"', '`':
			end := closing(s, i)
			if end < 0 {
				plain = false
				i = len(s)
				break
			}
			i = end
		case '(', '{':
			depth++
			plain = false
		case ')', '}':
			depth--
		case '<':
			if strings.HasPrefix(s[i:], "<<") {
				plain = false
			}
		case ';', '\n':
			if depth <= 0 {
				add(i, i+1)
			}
		case '&':
			switch {
			case i > 0 && (s[i-1] == '>' || s[i-1] == '<' || s[i-1] == '|'), i+1 < len(s) && s[i+1] == '>': // >&2, |&, &>
			case depth > 0:
			case strings.HasPrefix(s[i:], "&&"):
				add(i, i+2)
				i++
			default:
				add(i, i+1)
			}
		case '|':
			if strings.HasPrefix(s[i:], "||") {
				if depth <= 0 {
					add(i, i+2)
				}
				i++
			}
		}
	}
	add(len(s), len(s))
	for _, p := range parts {
		switch word, _, _ := strings.Cut(strings.TrimSpace(p.text), " "); word {
		case "for", "while", "until", "if", "case", "select", "function", "begin", "switch", "do", "then", "else", "elif":
			plain = false
		}
	}
	return parts, plain
}

// closing returns the end of the quote that opens at i, -1 if it is not closed.
func closing(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && s[i] != '\'':
			j++
		case s[j] == s[i]:
			return j
		}
	}
	return -1
}

// secretVerbs are the verbs whose arguments may be secret. They count anywhere in the line: after a
// program that starts others (ssh, xargs, watch), or inside quotes.
const secretVerbs = `forget|token|record|hook|exec`

var (
	// calls matches a call of one of secretVerbs anywhere; only flags may be in between.
	calls = lazy(`(?:^|[^\w.-])recount(?:-record)?["']?(?:\s+-[^\s]+(?:\s+[^\s-][^\s]*)?)*\s+["']?(?:` + secretVerbs + `)(?:["'\s]|$)`)
	// assigned matches an assignment of the token, also in fish's syntax.
	assigned = lazy(`\bRECOUNT_TOKEN=|\bset\s+(?:-\S+\s+)*RECOUNT_TOKEN\s`)
)

// talk are programs whose arguments may mention commands but start none.
var talk = map[string]bool{"git": true, "gh": true, "grep": true, "rg": true, "man": true}

func lazy(pattern string) func() *regexp.Regexp {
	var re *regexp.Regexp
	return func() *regexp.Regexp {
		if re == nil {
			re = regexp.MustCompile(pattern)
		}
		return re
	}
}

// callsOwn reports whether a pipeline calls Recount or contains its token.
func callsOwn(pipeline string) bool {
	first := ""
	for i, command := range strings.Split(pipeline, "|") {
		all := words(command)
		if called(all) {
			return true
		}
		if i == 0 && len(all) > 0 {
			first = all[0]
		}
	}
	return assigned().MatchString(pipeline) || !talk[first] && calls().MatchString(pipeline)
}

// starters are programs that start the program named by their arguments.
var starters = map[string]bool{
	"sudo": true, "doas": true, "env": true, "command": true, "exec": true, "builtin": true, "nohup": true, "time": true, "nice": true,
	"ionice": true, "timeout": true, "stdbuf": true, "setsid": true, "xargs": true, "watch": true, "strace": true, "ltrace": true, "gdb": true,
	"!": true, "and": true, "or": true, "not": true, "noglob": true, "nocorrect": true, "chrt": true, "taskset": true, "unbuffer": true,
	"run0": true, "systemd-run": true,
}

// called reports whether a simple command calls Recount. After a starter any word may be the
// program, because it is not known here which of its flags take a value.
func called(words []string) bool {
	anywhere := false
	for _, w := range words {
		base := w[strings.LastIndexByte(w, '/')+1:]
		switch {
		case base == "recount" || base == "recount-engine" || base == "recount-local" || base == "recount-record":
			return true
		case assignment(w), anywhere:
		case starters[base]:
			anywhere = true
		default:
			return false
		}
	}
	return false
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+") == ""
}

// words splits a simple command as a shell does, quotes removed.
func words(s string) (all []string) {
	var b strings.Builder
	in := false
	end := func() {
		if in {
			all = append(all, b.String())
			b.Reset()
			in = false
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
			end()
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
				in = true
			}
		case '\'', '"':
			in = true
			to := closing(s, i)
			if to < 0 {
				to = len(s)
			}
			b.WriteString(s[i+1 : to])
			i = to
		default:
			b.WriteByte(c)
			in = true
		}
	}
	end()
	return all
}
