package match

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScoreOrders(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		want        []string // best first; those after "-" do not match
	}{
		{"a whole word is better than a beginning, and that than a part", "log", []string{"git log --all", "git logs --all", "git blog --all", "-", "git status"}},
		{"words in any order", "prune docker", []string{"docker image prune", "docker system prune --all", "-", "docker ps"}},
		{"words in the order typed are better", "git push", []string{"git push x", "push git x"}},
		{"the shorter of two alike", "make test", []string{"make test", "make test VERBOSE=1"}},
		{"letters in order, at the beginnings of words best", "gco", []string{"git checkout", "-", "ocg", "egrep acfo"}},
		{"a part is better than letters apart", "ube", []string{"kubectl get", "u-n b-n e-n get pods"}},
		{"upper case counts once typed", "TODO", []string{"rg TODO", "-", "rg todo"}},
		{"lower case finds both", "todo", []string{"rg todo", "-", "rg nothing"}},
		{"letters far apart are an accident", "abc", []string{"xabc", "-", "a " + strings.Repeat("x", 60) + "b" + strings.Repeat("y", 60) + "c"}},
		{"other writing", "größe", []string{"echo Größe", "-", "echo grosse"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := Words(c.typed)
			last, matches := 2.0, true
			for _, s := range c.want {
				if s == "-" {
					matches = false
					continue
				}
				text := NewText(s)
				score, ok := q.Score(&text)
				if ok != matches {
					t.Errorf("%q matches %q: %v", c.typed, s, ok)
				}
				if ok && (score >= last || score <= 0 || score > 1) {
					t.Errorf("%q: %g, want less than %g", s, score, last)
				}
				last = score
			}
		})
	}
}

func TestExact(t *testing.T) {
	q := Exact("image prune")
	for s, want := range map[string]bool{"docker Image prune": true, "docker prune image": false, "image  prune": false} {
		text := NewText(s)
		if _, ok := q.Score(&text); ok != want {
			t.Errorf("%q: %v", s, ok)
		}
	}
}

func TestEmptyMatchesAll(t *testing.T) {
	for _, q := range []Query{Words(""), Words("  "), Exact("")} {
		text := NewText("ls")
		if _, ok := q.Score(&text); !ok || !q.Empty() {
			t.Error("does not match")
		}
	}
}

func TestSpans(t *testing.T) {
	q := Words("prune gt")
	text := NewText("git image Prune")
	if diff := cmp.Diff([][2]int{{0, 1}, {2, 3}, {10, 15}}, q.Spans(&text)); diff != "" {
		t.Error(diff)
	}
}

// FuzzScore checks that no text and no query break it, and that spans are inside the text.
func FuzzScore(f *testing.F) {
	f.Add("İstanbul ls", "istanbul")
	f.Add("a\xffb", "\xff")
	f.Fuzz(func(t *testing.T, raw, typed string) {
		text := NewText(raw)
		for _, q := range []Query{Words(typed), Exact(typed)} {
			if score, ok := q.Score(&text); ok && (score < 0 || score > 1) {
				t.Errorf("score %g", score)
			}
			last := 0
			for _, s := range q.Spans(&text) {
				if s[0] < last || s[1] <= s[0] || s[1] > len(raw) {
					t.Errorf("span %v of %q", s, raw)
				}
				last = s[1]
			}
		}
	})
}

// TestScatteredIsTheBest compares the letters that are taken with every way to take them.
func TestScatteredIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[r.IntN(len(of))]
		}
		return string(b)
	}
	for range 20_000 {
		in, w := pick("aab-b c", 1+r.IntN(14)), newWord(pick("aabc", 1+r.IntN(4)))
		best := float32(impossible)
		var take func(k, after int, sum float32)
		take = func(k, after int, sum float32) {
			if k == len(w.text) {
				best = max(best, sum)
				return
			}
			for i := after + 1; i < len(in); i++ {
				if in[i] != w.text[k] {
					continue
				}
				bonus := float32(anywhere)
				if startsWord(in, i) {
					bonus = atStart
				}
				switch gaps := float32(i - after - 1); {
				case k > 0 && gaps == 0:
					take(k+1, i, sum+adjacent)
				case k > 0:
					take(k+1, i, sum+bonus-gap*gaps)
				default:
					take(k+1, i, bonus)
				}
			}
		}
		take(0, -1, 0)
		want := scattered * float64(best) / float64(len(w.text))
		if want < least {
			want = 0
		}
		if got := w.scatteredIn(in).quality; math.Abs(got-want) > 1e-5 && math.Abs(want-least) > 1e-5 {
			t.Fatalf("%q in %q: %v, want %v", w.text, in, got, want)
		}
	}
}

func BenchmarkScore(b *testing.B) {
	texts := make([]Text, 0, 10_000)
	for i := range cap(texts) {
		texts = append(texts, NewText(strings.Repeat("find . -name '*.go' | xargs grep -n ", 1+i%3)+string(rune('a'+i%26))))
	}
	for _, typed := range []string{"find go", "fnd xrg", "docker"} {
		b.Run(typed, func(b *testing.B) {
			q := Words(typed)
			for i := 0; b.Loop(); i++ {
				q.Score(&texts[i%len(texts)])
			}
		})
	}
}
