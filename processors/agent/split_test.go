package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recountdb/recount/processors/embed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// checkParts checks that parts consist of whole runes, are in order, overlap, and cover all of the
// text except white space at its ends.
func checkParts(t *testing.T, text string, parts []textRange, beyond int) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return
	}
	if len(parts) == 0 {
		t.Fatalf("no parts of %d bytes", len(text))
	}
	if len(parts) > maxParts {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		if p.start >= p.end || p.end > len(text) || p.end-p.start > wholeFence {
			t.Fatalf("part %d is %+v of %d bytes", i, p, len(text))
		}
		if utf8.ValidString(text) && !utf8.ValidString(text[p.start:p.end]) {
			t.Fatalf("part %d parts a rune: %q", i, text[p.start:p.end])
		}
		if i > 0 && (p.start > parts[i-1].end || p.start <= parts[i-1].start || p.end <= parts[i-1].end) {
			t.Fatalf("part %d is %+v after %+v", i, p, parts[i-1])
		}
	}
	last := parts[len(parts)-1].end
	if strings.Trim(text[:parts[0].start], " \t\r\n") != "" || strings.Trim(text[last+beyond:], " \t\r\n") != "" {
		t.Fatalf("parts %d to %d and %d beyond leave out text of %d bytes", parts[0].start, last, beyond, len(text))
	}
}

func TestSplit(t *testing.T) {
	sentence := "The checkout fails when the cart is empty and the user is not signed in. "
	code := "```go\n" + strings.Repeat("fmt.Println(x)\n", 60) + "```\n"
	for name, c := range map[string]struct {
		text  string
		parts int
	}{
		"nothing":                 {" \n ", 0},
		"short":                   {" Hello.\n", 1},
		"a little longer":         {strings.Repeat("x", onePart), 1},
		"sentences":               {strings.Repeat(sentence, 60), 5},
		"no border anywhere":      {strings.Repeat("x", 10_000), 11},
		"runes of four bytes":     {strings.Repeat("🛒", 2500), 11},
		"chinese":                 {strings.Repeat("结账失败了。", 500), 10},
		"a block stays whole":     {strings.Repeat(sentence, 10) + "\n\n" + code + sentence, 2},
		"fences that never close": {strings.Repeat("```\n", 1001), 5},
	} {
		t.Run(name, func(t *testing.T) {
			parts, beyond := split(c.text)
			checkParts(t, c.text, parts, beyond)
			if len(parts) != c.parts || beyond != 0 {
				t.Errorf("%d parts, %d beyond, want %d", len(parts), beyond, c.parts)
			}
		})
	}
	text := strings.Repeat(sentence, 10) + "\n\n" + code + sentence
	parts, _ := split(text)
	if last := parts[1]; !strings.HasPrefix(text[last.start:last.end], code) {
		t.Errorf("the code block is in pieces: %v", parts)
	}
	text = strings.Repeat(sentence, 60)
	parts, _ = split(text)
	for i, p := range parts {
		if !strings.HasSuffix(strings.TrimSpace(text[p.start:p.end]), ".") || !strings.HasPrefix(text[p.start:], "The") {
			t.Errorf("part %d is not of whole sentences: %q", i, text[p.start:p.end])
		}
		if i > 0 && parts[i-1].end-p.start < minOverlap-len(sentence) {
			t.Errorf("part %d hardly overlaps: %v", i, parts)
		}
	}
}

// TestMuchText checks that every byte of a 4 MB text is in a part, that the first and last parts
// are embedded, and that the object records it. The rest of a longer text is not indexed, and the
// object records that.
func TestMuchText(t *testing.T) {
	o := &recountv1.Object{Text: strings.Repeat("one two three four five six seven.\n", 4<<20/35)}
	b := &maker{o: o, m: &recountv1.AgentEvent{}}
	b.split()
	if len(o.Attributes) != 1 || o.Attributes[0].Key != "parts_embedded" || !strings.HasPrefix(o.Attributes[0].Value, "256 of ") {
		t.Errorf("attributes %v", o.Attributes)
	}
	Embed(&recountv1.ObjectBatch{Objects: []*recountv1.Object{o}}, embed.NewHash())
	n := 0
	for i, p := range o.Parts {
		if (len(p.Embedding) > 0) != (i < headParts || i >= len(o.Parts)-tailParts) {
			t.Fatalf("part %d of %d has %d dimensions", i, len(o.Parts), len(p.Embedding))
		}
		if len(p.Embedding) > 0 {
			n++
		}
	}
	if n != headParts+tailParts {
		t.Errorf("%d embedded", n)
	}
	o = &recountv1.Object{Text: strings.Repeat("x", 16<<20)}
	b = &maker{o: o, m: &recountv1.AgentEvent{}}
	b.split()
	if len(o.Parts) != maxParts || len(o.Attributes) != 2 || o.Attributes[1].Key != "bytes_not_indexed" {
		t.Errorf("%d parts, attributes %v", len(o.Parts), o.Attributes)
	}
}
