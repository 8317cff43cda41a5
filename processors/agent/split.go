package agent

import (
	"strings"
	"unicode/utf8"
)

// A text is split into passages that overlap, so that each is about one thing and what
// stands at a border is whole in one of them. Sizes are in bytes.
const (
	// partBytes is how long a passage should be; it ends at a border between shortest and
	// this. A text that is not much longer is one passage.
	partBytes    = 1000
	shortestPart = 700
	onePart      = 1200
	// overlap lies between these.
	minOverlap, maxOverlap = 100, 200
	// wholeFence is the longest passage with a code block in it that is kept whole.
	wholeFence = 2000
	// beforeFence is how much must stand before a code block for it to be worth a passage.
	beforeFence = 300
	// maxParts is how many passages a text has. A text of 4 MB, the most that an event
	// takes by default, has fewer; of a longer one the rest is not indexed.
	maxParts = 8192
	// Of a text of many passages the first and the last are embedded: a long output says
	// at its start what it is, and at its end how it ended. Words are found in all.
	headParts, tailParts = 192, 64
)

// span is a passage's place in the text.
type span struct{ start, end int }

// split says where the passages of a text are, and how many bytes at its end are in none.
func split(text string) (parts []span, beyond int) {
	start, end := trimmed(text)
	if start == end {
		return nil, 0
	}
	if end-start <= onePart {
		return []span{{start, end}}, 0
	}
	parts = make([]span, 0, (end-start)/(partBytes-maxOverlap)+1)
	fences := codeFences(text)
	for {
		if end-start <= onePart {
			return append(parts, span{start, end}), 0
		}
		for len(fences) > 0 && fences[0].end <= start {
			fences = fences[1:]
		}
		stop, whole := partEnd(text, start, fences)
		stop = min(stop, end)
		parts = append(parts, span{start, stop})
		if stop == end {
			return parts, 0
		}
		if len(parts) == maxParts {
			return parts, end - stop
		}
		if whole {
			start = stop
		} else {
			start = partStart(text, stop)
		}
	}
}

// trimmed is where a text begins and ends without its white space.
func trimmed(text string) (start, end int) {
	t := strings.TrimLeft(text, " \t\r\n")
	start = len(text) - len(t)
	return start, start + len(strings.TrimRight(t, " \t\r\n"))
}

// partEnd is where a passage that begins at start ends; whole says that it ends at the
// border of a code block, over which passages need not overlap. At least a passage of the
// usual size lies behind start.
func partEnd(text string, start int, fences []span) (end int, whole bool) {
	limit := start + partBytes
	for _, f := range fences {
		if f.start >= limit {
			break
		}
		if f.end <= limit {
			continue
		}
		switch {
		case f.start-start >= beforeFence:
			return f.start, true
		case f.end-start <= wholeFence && f.start >= start:
			return f.end, true
		}
	}
	return border(text, start+shortestPart, limit), false
}

// partStart is where the passage after one that ends at end begins.
func partStart(text string, end int) int {
	return border(text, end-maxOverlap, end-minOverlap)
}

// border is the best place between two positions to part a text: after the last
// paragraph, else sentence or line, else word, else between runes.
func border(text string, from, to int) int {
	from, to = backToRune(text, from), backToRune(text, to)
	window := text[from:to]
	if i := strings.LastIndex(window, "\n\n"); i >= 0 {
		return from + i + 2
	}
	sentence, word := -1, -1
	for i := len(window) - 1; i > 0 && sentence < 0; i-- {
		switch c := window[i-1]; {
		case c == '\n':
			sentence = i
		case window[i] == ' ' && (c == '.' || c == '!' || c == '?'):
			sentence = i + 1
		case word < 0 && (c == ' ' || c == '\t'):
			word = i
		case c == 0x82 && strings.HasSuffix(window[:i], "。"):
			sentence = i
		}
	}
	switch {
	case sentence >= 0:
		return from + sentence
	case word >= 0:
		return from + word
	}
	return to
}

// codeFences are the closed code blocks of a text, in order, each from the start of its
// first line to behind its last.
func codeFences(text string) (fences []span) {
	open := -1
	for i := 0; ; {
		j := strings.Index(text[i:], "```")
		if j < 0 {
			return fences
		}
		at := i + j
		i = at + 3
		line := strings.LastIndexByte(text[max(0, at-64):at], '\n') + 1 + max(0, at-64)
		if strings.TrimLeft(text[line:at], " \t") != "" {
			continue // within a line
		}
		if open < 0 {
			open = line
			continue
		}
		end := i
		if n := strings.IndexByte(text[i:min(len(text), i+64)], '\n'); n >= 0 {
			end = i + n + 1
		}
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		fences = append(fences, span{open, end})
		open = -1
	}
}
