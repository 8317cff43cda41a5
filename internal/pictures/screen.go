package main

import (
	"fmt"
	"strconv"
	"strings"
)

// style is how a run of cells looks. A colour is "" for the default, the name of a CSS variable for
// the 16 of a terminal, or #rrggbb.
type style struct {
	foreground, background     string
	bold, faint, italic, under bool
	reverse                    bool
}

// span is a run of cells in one style.
type span struct {
	style
	text string
}

// lines reads text with SGR sequences. Blank lines at the end are left out. Other escape sequences
// are dropped.
func lines(text string) [][]span {
	var all [][]span
	var now style
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n \t\r"), "\n") {
		var row []span
		for line = strings.TrimRight(line, "\r"); line != ""; {
			before, after, found := strings.Cut(line, "\x1b")
			if before != "" {
				row = append(row, span{now, before})
			}
			if !found {
				break
			}
			sequence, rest := cutSequence(after)
			if parameters, ok := strings.CutSuffix(sequence, "m"); ok {
				now = now.with(strings.FieldsFunc(strings.TrimPrefix(parameters, "["), func(r rune) bool { return r == ';' || r == ':' }))
			}
			line = rest
		}
		all = append(all, row)
	}
	return all
}

// cutSequence splits what follows an escape character into the sequence and the rest. A control
// sequence begins with a bracket and ends with a byte from @ on, any other with one from 0 on.
func cutSequence(after string) (sequence, rest string) {
	first, final := 0, byte('0')
	if strings.HasPrefix(after, "[") {
		first, final = 1, '@'
	}
	for i := first; i < len(after); i++ {
		if after[i] >= final {
			return after[:i+1], after[i+1:]
		}
	}
	return "", ""
}

// with returns the style after the parameters of one SGR sequence. Those that a picture does not
// show, such as blinking, change nothing.
func (s style) with(parameters []string) style {
	if len(parameters) == 0 {
		return style{}
	}
	for len(parameters) > 0 {
		n, _ := strconv.Atoi(parameters[0])
		parameters = parameters[1:]
		switch {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.under = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.under = false
		case n == 27:
			s.reverse = false
		case n >= 30 && n <= 37:
			s.foreground = named(n - 30)
		case n >= 90 && n <= 97:
			s.foreground = named(n - 90 + 8)
		case n == 39:
			s.foreground = ""
		case n >= 40 && n <= 47:
			s.background = named(n - 40)
		case n >= 100 && n <= 107:
			s.background = named(n - 100 + 8)
		case n == 49:
			s.background = ""
		case n == 38:
			s.foreground, parameters = extended(parameters)
		case n == 48:
			s.background, parameters = extended(parameters)
		}
	}
	return s
}

// named returns the CSS variable of one of the 16 colours.
func named(n int) string { return fmt.Sprintf("var(--c%d)", n) }

// extended reads a colour of 256, "5;N", or of all, "2;R;G;B", and returns the parameters after it.
func extended(parameters []string) (colour string, rest []string) {
	number := func(i int) int { n, _ := strconv.Atoi(parameters[i]); return n & 255 }
	switch {
	case len(parameters) >= 2 && parameters[0] == "5":
		return of256(number(1)), parameters[2:]
	case len(parameters) >= 4 && parameters[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", number(1), number(2), number(3)), parameters[4:]
	}
	return "", nil
}

// of256 returns a colour of the palette that xterm has: the 16, a cube of 6 × 6 × 6, and 24 greys.
func of256(n int) string {
	if n < 16 {
		return named(n)
	}
	if n >= 232 {
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
