package agent

import (
	"strings"
	"unicode/utf8"
)

// A text is split into overlapping passages, so that each covers one topic and no sentence is cut
// in every passage. Sizes are in bytes.
const (
	// partBytes is the target length of a passage; a passage ends at a border between shortestPart
	// and partBytes. A text that is only slightly longer is one passage.
	partBytes    = 1000
	shortestPart = 700
	onePart      = 1200
	// minOverlap and maxOverlap bound the overlap of two passages.
	minOverlap, maxOverlap = 100, 200
	// wholeFence is the maximum length of a passage that keeps a code block whole.
	wholeFence = 2000
	// beforeFence is the minimum length of text before a code block that becomes a passage of its
	// own.
	beforeFence = 300
	// maxParts limits the passages of a text. A text of 4 MB, the default maximum of an event,
	// stays below it; the rest of a longer text is not indexed.
	maxParts = 8192
	// headParts and tailParts are the numbers of passages that are embedded, at the start and at
	// the end: a long output states at its start what it is, and at its end how it ended. The
	// full-text index covers all passages.
	headParts, tailParts = 192, 64
)

// textRange is the range of a passage in the text.
type textRange struct{ start, end int }

// split returns the passages of a text, and the number of bytes at its end that are in none.
func split(text string) (parts []textRange, beyond int) {
	start, end := trimmed(text)
	if start == end {
		return nil, 0
	}
	if end-start <= onePart {
		return []textRange{{start, end}}, 0
	}
	parts = make([]textRange, 0, (end-start)/(partBytes-maxOverlap)+1)
	fences := codeFences(text)
	for {
		if end-start <= onePart {
			return append(parts, textRange{start, end}), 0
		}
		for len(fences) > 0 && fences[0].end <= start {
			fences = fences[1:]
		}
		stop, whole := partEnd(text, start, fences)
		stop = min(stop, end)
		parts = append(parts, textRange{start, stop})
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

// trimmed returns the start and end of a text without surrounding white space.
func trimmed(text string) (start, end int) {
	t := strings.TrimLeft(text, " \t\r\n")
	start = len(text) - len(t)
	return start, start + len(strings.TrimRight(t, " \t\r\n"))
}

// partEnd returns the end of a passage that begins at start. whole means that it ends at the border
// of a code block, where passages need not overlap. At least partBytes of text follow start.
func partEnd(text string, start int, fences []textRange) (end int, whole bool) {
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

// partStart returns the start of the passage that follows one ending at end.
func partStart(text string, end int) int {
	return border(text, end-maxOverlap, end-minOverlap)
}

// border returns the best position between from and to at which to split a text: after the last
// paragraph, else after a sentence or line, else after a word, else between runes.
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

// codeFences returns the closed code blocks of a text, in order, each from the start of its first
// line to the end of its last.
func codeFences(text string) (fences []textRange) {
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
			continue // not at the start of a line
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
		fences = append(fences, textRange{open, end})
		open = -1
	}
}
