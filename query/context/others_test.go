package context

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOtherTexts(t *testing.T) {
	all := otherTexts()
	if len(all) < 100 {
		t.Fatalf("%d texts", len(all))
	}
	for i, terms := range all {
		if len(terms) < 2 || !slices.ContainsFunc(terms, func(t taskTerm) bool { return t.title }) {
			t.Errorf("text %d: %d terms, or none in its title", i, len(terms))
		}
	}
}

// TestOthersAreReadAsTasks compares what the file holds of a text with the task that it is.
func TestOthersAreReadAsTasks(t *testing.T) {
	defer func(file []byte, texts func() [][]taskTerm) { othersFile, otherTexts = file, texts }(othersFile, otherTexts)
	const text = "fix the session cookie\n\nThe cookie is not deleted when clearSession is called; the cookie stays."
	othersFile = WriteOthers([]string{text, "a second one"})
	got := readOthers()
	if len(got) != 2 {
		t.Fatalf("%d texts", len(got))
	}
	want := readTask(newSplitter(), text).terms
	for i := range want {
		want[i].coded = false // it does not count here
	}
	if diff := cmp.Diff(want, got[0], cmp.AllowUnexported(taskTerm{}), cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
		t.Error(diff)
	}
}

// TestBelongingIsBeyondThatOfOthers checks that texts of other repositories have in the mean no more than
// the model's constant, however many of their words the repository has: this one has all of them.
func TestBelongingIsBeyondThatOfOthers(t *testing.T) {
	x := &corpus{past: &past{}}
	all := map[term]uint16{}
	for _, terms := range otherTexts() {
		for _, one := range terms {
			all[one.term] = 1
		}
	}
	d := &document{length: float64(len(all))}
	for _, one := range slices.Sorted(maps.Keys(all)) {
		d.terms = append(d.terms, termCount{one, 1})
	}
	x.files = []file{{document: d}, {document: &document{length: 1}}}
	x.read, x.words = len(x.files), postingsOf(x.files)
	x.others = x.ofOthers()
	e := &engine{c: x}
	sum := 0.0
	for _, terms := range otherTexts() {
		e.task.terms = terms
		e.terms, e.missing = x.lookup(terms)
		sum += e.belonging()
	}
	if mean := sum / float64(len(otherTexts())); math.Abs(mean-withoutHistory.constant) > 1e-6 {
		t.Errorf("mean %.4f, want %.4f", mean, withoutHistory.constant)
	}
	if x.others.best < 0.9 {
		t.Errorf("other texts have %+v, want all words", x.others)
	}
	empty := &corpus{past: &past{}, files: x.files[1:], read: 1, words: postingsOf(x.files[1:])}
	if got := empty.ofOthers(); got != minOfOthers {
		t.Errorf("a repository without words: %+v", got)
	}
}
