package lexical

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestVariants(t *testing.T) {
	terms := []string{"auth", "bwlimit", "config", "docker", "dockerfil", "kubectl", "screenshot", "session-select", "steamos-session-select", "tar", "test"}
	lists := [][]string{terms, {"kubectl-ns", "podman"}}
	for _, c := range []struct {
		word    string
		unknown bool
		kind    VariantKind
		want    []string
	}{
		{"authent", true, Shorter, []string{"auth"}},
		{"dock", true, Longer, []string{"docker", "dockerfil"}},
		{"kubect", false, Longer, []string{"kubectl"}},
		{"dokcer", true, Corrected, []string{"docker"}},
		{"odcker", true, Corrected, []string{"docker"}},
		{"podmn", true, Corrected, []string{"podman"}},
		{"screnshoot", true, Corrected, []string{"screenshot"}},
		{"sessionselect", true, Within, []string{"session-select", "steamos-session-select"}},
		{"shot", true, Within, []string{"screenshot"}},
		{"dokcer", false, "", nil}, // it occurs somewhere, so that it is no mistake
		{"tra", true, "", nil},     // too short to be corrected
		{"elephant", true, "", nil},
	} {
		var kind VariantKind
		var as []string
		if got := variants(lists, c.word, c.unknown, true); len(got) > 0 {
			kind, as = got[0].Kind, got[0].As
		}
		if kind != c.kind || !slices.Equal(as, c.want) {
			t.Errorf("%q: got %q %v, want %q %v", c.word, kind, as, c.kind, c.want)
		}
	}
}

func TestVocabularyFollowsTheWriter(t *testing.T) {
	x := corpus(t, "kubectl get", "docker ps")
	hits, stats, err := x.Search(t.Context(), Query{Text: "kubect", Variants: true})
	if err != nil || len(hits) != 1 || len(stats.Variants) != 1 {
		t.Fatalf("got %v, %+v, %v", hits, stats.Variants, err)
	}
	tp := schemas.TopicPartition{Topic: "recount.commands"}
	v := &vocabulary{loaded: true, terms: []string{"aaa"}}
	var many []string
	for range maxRecent + 1 {
		many = append(many, "zzz")
	}
	v.add([]string{"bbb", "x", "/etc", "1234"})
	if lists, err := v.lists(x, tp); err != nil || !slices.Equal(lists[1], []string{"bbb"}) {
		t.Errorf("recent terms: %v, %v", lists[1], err)
	}
	if v.add(many); v.loaded {
		t.Error("a vocabulary that fell far behind is kept")
	}
	if lists, err := v.lists(x, tp); err != nil || !slices.Contains(lists[0], "kubectl") {
		t.Errorf("read again: %v, %v", lists[0], err)
	}
}

// TestVocabularyHasWordsAlone checks that no concept of a command stands for a word that no command has.
func TestVocabularyHasWordsAlone(t *testing.T) {
	x := open(t)
	bt := schemas.Batch{Topic: "recount.commands", Next: 1}
	id := schemas.NewCanon("t").ID()
	bt.Records = append(bt.Records, &recountv1.Record{
		Origin: &recountv1.Position{Topic: "recount.commands"}, EventId: id[:],
		Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{
			Command: "make", ContentHash: 1, Concepts: []string{"assembling"},
		}},
	})
	check(t, x.Apply(t.Context(), bt))
	if _, stats, err := x.Search(t.Context(), Query{Field: Concepts, Terms: []string{"assembling"}}); err != nil || stats.Terms[0].Documents == 0 {
		t.Fatalf("no command has the concept: %+v, %v", stats, err)
	}
	for _, text := range []string{"assembling", "assemblign", "assembli"} {
		if _, stats, err := x.Search(t.Context(), Query{Text: text, Variants: true}); err != nil || len(stats.Variants) > 0 {
			t.Errorf("%s: %+v, %v", text, stats.Variants, err)
		}
	}
}
