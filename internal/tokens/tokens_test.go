package tokens

import (
	"os"
	"strings"
	"testing"
)

// TestCounts compares with the counts that the authors of the vocabulary publish (OpenAI Cookbook,
// "How to count tokens with tiktoken").
func TestCounts(t *testing.T) {
	for text, want := range map[string]int{
		"":                             0,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
		"hello world":                  2,
		"\xff":                         Count("\uFFFD"),
		"a\xffb":                       Count("a\uFFFDb"),
	} {
		if got := Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want bool
	}{{"", 0, true}, {"a", 0, false}, {"hello world", 2, true}, {"hello world", 1, false}, {strings.Repeat("word ", 1000), 999, false}, {strings.Repeat("word ", 1000), 1001, true}} {
		if got := Fits(c.text, c.n); got != c.want {
			t.Errorf("Fits of %d bytes, %d = %v, want %v", len(c.text), c.n, got, c.want)
		}
	}
}

// TestNear compares with Count on a source file and on strange texts.
func TestNear(t *testing.T) {
	source, err := os.ReadFile("near.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(source), "", " ", "\n\n  x", "a  b\t\tc\r\n", "HTTPServer2024 isn't", strings.Repeat("=", 5000), "価格 \xff"} {
		got, want := Near(text), Count(text)
		if got < want*95/100-1 || got > want*105/100+4 {
			t.Errorf("Near of %.20q = %d, want about %d", text, got, want)
		}
	}
}

func BenchmarkNear(b *testing.B) {
	source, err := os.ReadFile("tokens_test.go")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Near(string(source))
	}
}

func BenchmarkCount(b *testing.B) {
	source, err := os.ReadFile("tokens_test.go")
	if err != nil {
		b.Fatal(err)
	}
	Load()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Count(string(source))
	}
}
