package look

import (
	"slices"
	"testing"
)

// of returns a candidate of a kind with a title and further text.
func of(kind string, standing float64, title string, more ...string) candidate {
	return candidate{Hit: Hit{Kind: kind, ID: title, Title: title}, content: newContent(title, more...), standing: standing}
}

func TestRank(t *testing.T) {
	for _, x := range []struct {
		name, text string
		all        []candidate
		want       []string // ids, best first
		sure       int      // of these, so many are sure
	}{
		{
			"more of the text's words come first, of whatever kind", "remove old images",
			[]candidate{of(Commands, 1, "ls old"), of(Agents, 1, "I removed the old images")},
			[]string{"I removed the old images", "ls old"},
			1,
		},
		{
			"a rare word counts more than a common one", "list carts",
			[]candidate{of(Commands, 1, "ls list"), of(Commands, 0.9, "list it"), of(Commands, 0.8, "list this"), of(Runtime, 1, "GET /carts")},
			[]string{"GET /carts", "ls list", "list it", "list this"},
			1,
		},
		{
			"words of a name count", "commit loop",
			[]candidate{of(Commands, 1, "git commit -m x"), of(Code, 0.9, "broker.commitLoop")},
			[]string{"broker.commitLoop", "git commit -m x"},
			1,
		},
		{
			"the standing orders what has the same words", "make test",
			[]candidate{of(Commands, 1, "make test"), of(Commands, 0.4, "make test")},
			[]string{"make test", "make test"},
			2,
		},
		{
			"of equals the one of the named kind", "which function checks tokens",
			[]candidate{of(Commands, 1, "check tokens"), of(Code, 1, "checkTokens")},
			[]string{"checkTokens", "check tokens"},
			2,
		},
		{
			"a title that says no more than was asked for", "Produce",
			[]candidate{of(Agents, 1, "I looked how to produce a record"), of(Code, 1, "Produce")},
			[]string{"Produce", "I looked how to produce a record"},
			2,
		},
		{
			"half of the words are not sure", "rotate the database password",
			[]candidate{of(Commands, 1, "psql database"), of(Agents, 1, "hello")},
			[]string{"psql database", "hello"},
			0,
		},
		{
			"equals keep the order of the kinds", "carts",
			[]candidate{of(Commands, 1, "carts"), of(Code, 1, "carts"), of(Runtime, 1, "carts"), of(Agents, 1, "carts")},
			[]string{"carts", "carts", "carts", "carts"},
			4,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			ranked, step := rank(x.text, x.all)
			var got []string
			sure := 0
			for _, c := range ranked {
				got = append(got, c.ID)
				if c.Sure {
					sure++
				}
				if c.Score < 0 || c.Score > 1 {
					t.Errorf("%s: score %v", c.ID, c.Score)
				}
			}
			if !slices.Equal(got, x.want) || sure != x.sure {
				t.Errorf("got %q, %d sure; want %q, %d", got, sure, x.want, x.sure)
			}
			if step.Counts["candidates"] != int64(len(x.all)) || step.Inputs["weight of words"] == "" {
				t.Errorf("step %+v", step)
			}
			kinds := []string{Commands, Code, Runtime, Agents}
			for i := 1; i < len(ranked); i++ {
				a, b := &ranked[i-1], &ranked[i]
				if a.Score == b.Score && slices.Index(kinds, a.Kind) > slices.Index(kinds, b.Kind) {
					t.Errorf("%s before %s", a.Kind, b.Kind)
				}
			}
		})
	}
}

func TestWeightsAddUp(t *testing.T) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("the weights add up to %v", sum)
	}
}

func TestAsked(t *testing.T) {
	for text, want := range map[string][]string{
		"where are the old images removed?":    {"old", "imag", "remov"},
		"which command removed images":         {"remov", "imag"},
		"command":                              {"command"}, // there is nothing else
		"what is it":                           {"what", "is", "it"},
		"ClientProduce":                        {"client", "produc"},
		"GET /carts/{id}":                      {"get", "cart", "id"},
		"":                                     nil,
		"…":                                    nil,
		"images Images IMAGES":                 {"imag"},
		"ошибка при сборке":                    {"ошибка", "при", "сборке"},
		"\x1b[31mred\x1b[0m \u202etxt.exe 42m": {"31mred", "0m", "txt", "exe", "42m"},
	} {
		if got := newAsked(text).words; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNoiseAfterASureHit checks that what has only the letters of the text in order follows no hit that has its
// words, and that it is shown if there is nothing better.
func TestNoiseAfterASureHit(t *testing.T) {
	words, letters := of(Commands, 1, "git merge discount"), of(Code, 0.2, "lexical.audiences.count")
	for _, x := range []struct {
		name string
		all  []candidate
		r    Request
		want int
	}{
		{"beside a sure hit", []candidate{words, letters}, Request{Limit: 20}, 1},
		{"alone", []candidate{letters}, Request{Limit: 20}, 1},
		{"alone among those of its kind", []candidate{words, letters}, Request{Limit: 20, Kinds: []string{Code}}, 1},
	} {
		ranked, _ := rank("discount", x.all)
		if got := shown(ranked, x.r); len(got) != x.want {
			t.Errorf("%s: %d hits; want %d", x.name, len(got), x.want)
		}
	}
}
