package secrets

import (
	"strconv"
	"strings"
)

// format is the form of a token that can be recognised by itself, in the notation of tokens.go:
//
//	ghp_<w36,255>         the text, then 36 to 255 letters and digits
//	<w14>.atlasv1.<B60,>  also with text before the literal; no maximum length
//	hooks.slack.com/services/(<b20,>)   only the part in parentheses is secret
//	SK<h32>$              a word must end after the token
//
// A token is found by the text before the first <, or, if the form begins with <, by the first text
// of three or more letters. The byte before a token must not belong to a word, unless the form
// begins with ~. The letters of classes are in classLetters.
type format struct {
	name  string
	parts []part
	// anchor is the index of the part that is searched for.
	anchor int
	loose  bool // begins with ~
	whole  bool // ends with $
	accept func(secret string) bool
}

type part struct {
	text     string // the literal text, if not empty
	of       class
	min, max int
	secret   bool
}

var classLetters = map[byte]class{
	'd': digit, 'U': upper, 'h': lowerHex, 'H': hex, 'a': letters, 'w': alnum, 'n': name, '-': dashed, '.': dotted,
	'b': base64, 'B': base64Any, 'u': upperNum, 'l': lowerNum, '%': percent, '~': tilded,
}

// parseFormat parses a form of tokens.go. TestFormats finds mistakes in the forms.
func parseFormat(text string) (f format) {
	text, f.loose = strings.CutPrefix(text, "~")
	text, f.whole = strings.CutSuffix(text, "$")
	marked := strings.ContainsAny(text, "()")
	secret := !marked
	for text != "" {
		switch {
		case text[0] == '(' || text[0] == ')':
			secret = text[0] == '('
			text = text[1:]
			continue
		case text[0] == '<':
			spec, rest, _ := strings.Cut(text[1:], ">")
			least, most, ranged := strings.Cut(spec[1:], ",")
			p := part{of: classLetters[spec[0]], secret: secret}
			p.min, _ = strconv.Atoi(least)
			if p.max = p.min; ranged {
				p.max = 1 << 30
				if most != "" {
					p.max, _ = strconv.Atoi(most)
				}
			}
			f.parts, text = append(f.parts, p), rest
			continue
		}
		n := strings.IndexAny(text, "<()")
		if n < 0 {
			n = len(text)
		}
		f.parts, text = append(f.parts, part{text: text[:n], secret: secret}), text[n:]
	}
	for len(f.parts[f.anchor].text) < 3 {
		f.anchor++
	}
	return f
}

// find checks the format at an occurrence of its text and returns the range of the secret.
func (f *format) find(s string, at int, r *memo) (start, end int, ok bool) {
	anchor := f.parts[f.anchor].text
	if !strings.HasPrefix(s[at:], anchor) {
		return 0, 0, false // the letters differ in case
	}
	from := at
	for i := f.anchor - 1; i >= 0; i-- {
		p := f.parts[i]
		if p.text != "" {
			if !strings.HasSuffix(s[:from], p.text) {
				return 0, 0, false
			}
			from -= len(p.text)
			continue
		}
		n := 0
		for n < p.max && n < 64 && from > 0 && inClass(s[from-1], p.of) {
			from--
			n++
		}
		if n < p.min {
			return 0, 0, false
		}
	}
	if !f.loose && from > 0 && inClass(s[from], name) && inClass(s[from-1], name) {
		return 0, 0, false
	}
	start, end = -1, -1
	to := from
	if f.parts[0].secret {
		start = from
	}
	for i := range f.parts {
		p := &f.parts[i]
		if i < f.anchor {
			to = at
			continue
		}
		before := to
		switch {
		case p.text != "":
			if !strings.HasPrefix(s[to:], p.text) {
				return 0, 0, false
			}
			to += len(p.text)
		default:
			n := min(r.end(s, to, p.of)-to, p.max)
			if i+1 < len(f.parts) && f.parts[i+1].text != "" {
				n = p.until(s[to:to+n], s[to:], f.parts[i+1].text)
			}
			if n < p.min {
				return 0, 0, false
			}
			to += n
		}
		if p.secret {
			if start < 0 {
				start = before
			}
			end = to
		}
	}
	if f.whole && to < len(s) && inClass(s[to], name) {
		return 0, 0, false
	}
	return start, end, f.accept == nil || f.accept(s[start:end])
}

// until returns how much of a run belongs to the part, if the text after it may consist of the same
// class.
func (p *part) until(run, all, text string) int {
	if !inClass(text[0], p.of) || p.min == p.max {
		return len(run)
	}
	bound := min(len(run), p.min+256)
	for n := p.min; n <= bound; n++ {
		if strings.HasPrefix(all[n:], text) {
			return n
		}
	}
	return len(run)
}
