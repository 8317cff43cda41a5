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
	o200k()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Count(string(source))
	}
}
