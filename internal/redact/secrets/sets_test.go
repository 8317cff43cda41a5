package secrets

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// setSeed splits the sets in testdata (each directory's README.md names its source) into halves by
// a hash: gitleaks' rules and the shell lines' programs are kept together. The rules of this
// package were developed with the first half only.
const setSeed = "issue 16"

// heldOut reports whether a group of examples is in the half that was not used for development.
func heldOut(group string) bool {
	h := fnv.New32a()
	fmt.Fprint(h, setSeed, "\x00", group)
	return h.Sum32()>>7&1 == 1
}

// tally counts how many examples were found, of all.
type tally struct{ caught, of int }

func (t *tally) add(caught bool) {
	t.of++
	if caught {
		t.caught++
	}
}

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.caught, t.of) }

func (t tally) share() float64 { return float64(t.caught) / float64(max(t.of, 1)) }

// halves counts the development half and the held-out half.
type halves [2]tally

func (h *halves) add(group string, caught bool) {
	i := 0
	if heldOut(group) {
		i = 1
	}
	h[i].add(caught)
}

func (h halves) both() tally { return tally{h[0].caught + h[1].caught, h[0].of + h[1].of} }

func (h halves) String() string {
	return fmt.Sprintf("%v (looked at: %v, held out: %v)", h.both(), h[0], h[1])
}

// marked splits an example into the text and its secret parts.
func marked(example string) (text string, secret []string) {
	for _, part := range strings.Split(example, "«")[1:] {
		s, _, _ := strings.Cut(part, "»")
		secret = append(secret, s)
	}
	return strings.NewReplacer("«", "", "»", "").Replace(example), secret
}

// gone reports whether redaction removes every secret of an example.
func gone(example string) bool {
	text, secret := marked(example)
	got, _ := Default().Text(text)
	for _, s := range secret {
		if strings.Contains(got, s) {
			return false
		}
	}
	return true
}

// rows reads a file of tab-separated fields. \n, \t and \\ are escapes, and § is removed.
func rows(t *testing.T, path string, fields int) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][]string
	plain := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", "§", "")
	for s := bufio.NewScanner(f); s.Scan(); {
		row := strings.Split(s.Text(), "\t")
		if len(row) != fields {
			t.Fatalf("%s: %d fields, want %d: %s", path, len(row), fields, s.Text())
		}
		for i := range row {
			row[i] = plain.Replace(row[i])
		}
		out = append(out, row)
	}
	return out
}

// TestGitleaksExamples checks secrets of vendors from gitleaks' examples, in each form of
// assignment.
func TestGitleaksExamples(t *testing.T) {
	forms := map[string]string{}
	for _, r := range rows(t, "testdata/gitleaks/forms.tsv", 2) {
		forms[r[0]] = r[1]
	}
	byKind, byForm := map[string]*halves{}, map[string]*halves{}
	count := func(rule, kind, form, example string) {
		caught := gone(example)
		for _, c := range []struct {
			of   map[string]*halves
			name string
		}{{byKind, kind}, {byForm, form}} {
			if c.of[c.name] == nil {
				c.of[c.name] = &halves{}
			}
			c.of[c.name].add(rule, caught)
		}
		if !caught && !heldOut(rule) && testing.Verbose() {
			t.Logf("looked at, kept: %s (%s, %s): %.200q", rule, kind, form, example)
		}
	}
	for _, r := range rows(t, "testdata/gitleaks/given.tsv", 5) {
		rule, kind, which, name, secret := r[0], r[1], r[2], r[3], r[4]
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			if which != "all" && which != form || which == "all" && form == "sample" {
				continue
			}
			example := strings.NewReplacer("{i}", name, "{I}", strings.ToUpper(name), "{s}", "«"+secret+"»").Replace(forms[form])
			count(rule, kind, form, example)
		}
	}
	for _, r := range rows(t, "testdata/gitleaks/own.tsv", 3) {
		count(r[0], r[1], "of its own", r[2])
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		t.Logf("%s: %v", kind, byKind[kind])
	}
	for _, form := range slices.Sorted(maps.Keys(byForm)) {
		t.Logf("%s: %v", form, byForm[form])
		if form != "of its own" && byForm[form].both().share() < 0.9 {
			t.Errorf("form %s: %v, want 90 %%", form, byForm[form])
		}
	}
	if got := byKind["format"].both(); got.share() < 0.9 {
		t.Errorf("vendors' formats: %v, want 90 %%", got)
	}
	var touched halves
	for _, r := range rows(t, "testdata/gitleaks/false.tsv", 3) {
		_, found := Default().Text(r[2])
		touched.add(r[0], len(found) > 0)
	}
	t.Logf("not secret to gitleaks, most of them placeholders of the right form: redacted %v", touched)
}

func TestUsualShellLines(t *testing.T) {
	var caught halves
	for _, r := range rows(t, "testdata/shell/secrets.tsv", 2) {
		ok := gone(r[1])
		caught.add(r[1], ok)
		if !ok && !heldOut(r[1]) && testing.Verbose() {
			text, _ := marked(r[1])
			got, _ := Default().Text(text)
			t.Logf("looked at, kept: %s: %s", r[0], got)
		}
	}
	t.Logf("with a secret, caught: %v", caught)
	if caught.both().share() < 0.95 {
		t.Errorf("with a secret, caught: %v, want 95 %%", caught)
	}
	var touched halves
	for _, r := range rows(t, "testdata/shell/innocent.tsv", 2) {
		got, found := Default().Text(r[1])
		touched.add(r[1], len(found) > 0)
		if len(found) > 0 && !heldOut(r[1]) && testing.Verbose() {
			t.Logf("looked at, touched: %s", got)
		}
	}
	t.Logf("innocent, touched: %v", touched)
	if touched.both().share() > 0.01 {
		t.Errorf("innocent, touched: %v, want 1 %% at most", touched)
	}
}
