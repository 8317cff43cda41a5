package question_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/question"
)

type count struct{ Word string }

var (
	errEmpty = errors.New("word: empty")

	letters = question.New("words/letters", "How many letters", "Counts them.",
		func(q count) error {
			if q.Word == "" {
				return errEmpty
			}
			return nil
		},
		func(_ context.Context, factor int, q count) (int, error) { return factor * len(q.Word), nil })
	upper = question.New("upper", "In capitals", "Writes it so.",
		func(count) error { return nil },
		func(_ context.Context, _ int, q count) (string, error) { return strings.ToUpper(q.Word), nil })

	questions = question.List[int]{letters, upper}
)

// answerer answers from a source that is ten.
type answerer struct{ asked []string }

func (a *answerer) Answer(ctx context.Context, path string, request, response any) error {
	a.asked = append(a.asked, path)
	return questions.Answer(ctx, 10, path, request, response)
}

func TestAsk(t *testing.T) {
	var a answerer
	if n, err := letters.Ask(t.Context(), &a, count{"abc"}); n != 30 || err != nil {
		t.Errorf("letters: %d %v", n, err)
	}
	if s, err := upper.Ask(t.Context(), &a, count{"abc"}); s != "ABC" || err != nil {
		t.Errorf("upper: %q %v", s, err)
	}
	if _, err := letters.Ask(t.Context(), &a, count{}); !errors.Is(err, errEmpty) || len(a.asked) != 2 {
		t.Errorf("refused before it is sent: %v after %v", err, a.asked)
	}
	if letters.Name() != "letters" || letters.Area() != "words" || upper.Name() != "upper" || upper.Area() != "" {
		t.Errorf("names: %q %q %q %q", letters.Area(), letters.Name(), upper.Area(), upper.Name())
	}
	var n int
	for what, err := range map[string]error{
		"of no such path":        questions.Answer(t.Context(), 1, "letters", count{}, &n),
		"with another's request": questions.Answer(t.Context(), 1, "upper", "abc", &n),
		"with another's answer":  questions.Answer(t.Context(), 1, "upper", count{}, &n),
	} {
		if err == nil {
			t.Errorf("%s: answered", what)
		}
	}
}
