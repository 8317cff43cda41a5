package main

import (
	"cmp"
	"context"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/recountdb/recount/languages"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// unit is a declaration outside tests, as the baselines search it.
type unit struct {
	name, path string
	kind       recountv1.SymbolKind
	from, to   int // lines, from 1; from includes the documentation
	head       map[string]float64
	whole      map[string]float64
	said       map[string]float64 // head, with what documents say of it
}

// baselines are what everybody has: ripgrep, and Okapi BM25 over the same units.
type baselines struct {
	units []unit
	lines map[string][]string // by path
	files []string
}

var testPath = regexp.MustCompile(`(?i)(^|/)[^/]*(tests?|specs?|benchmarks?|examples?|fuzz|snippets|samples|runtime-tests)(/|\.)|_test\.|\.(test|spec)\.|/(t|test_)[^/]*\.py$`)

// readBaselines reads the files of a repository's HEAD in the languages that Recount reads.
func readBaselines(ctx context.Context, dir string) (*baselines, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "-z").Output()
	if err != nil {
		return nil, err
	}
	b := &baselines{lines: map[string][]string{}}
	var documents []*recountv1.FileFacts
	for path := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		switch languages.NameOf(path) {
		case "go", "python", "rust", "java", "csharp", "javascript", "typescript":
		case "markdown", "restructuredtext":
			content, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return nil, err
			}
			facts := &recountv1.FileFacts{Path: path}
			languages.Facts(content, facts)
			documents = append(documents, facts)
			continue
		default:
			continue
		}
		if testPath.MatchString(path) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			continue // a symbolic link without a target
		}
		b.files = append(b.files, path)
		b.lines[path] = strings.Split(string(content), "\n")
		facts := &recountv1.FileFacts{Path: path}
		languages.Facts(content, facts)
		chains := make([]string, len(facts.Declarations))
		for i, d := range facts.Declarations {
			owner := d.OwnerPath
			if d.Owner > 0 {
				owner = chains[d.Owner-1]
			}
			chains[i] = strings.TrimPrefix(owner+"."+d.Name, ".")
			if d.Test || d.Name == "" {
				continue
			}
			u := unit{name: chains[i], path: path, kind: d.Kind, from: int(d.Start.GetLine()), to: int(d.End.GetLine()), head: map[string]float64{}, whole: map[string]float64{}}
			u.from -= strings.Count(d.Doc, "\n") + 1
			for _, text := range []string{chains[i], d.Doc, d.Signature, path} {
				count(u.head, text)
			}
			for _, text := range append([]string{chains[i], d.Doc, path}, b.lines[path][max(0, int(d.Start.GetLine())-1):min(len(b.lines[path]), u.to)]...) {
				count(u.whole, text)
			}
			b.units = append(b.units, u)
		}
	}
	b.read(documents)
	return b, nil
}

// read adds to units what documents say where they name them: the same sentences, for the declarations
// that have most of the words of a name, at most three of them, three sentences each.
func (b *baselines) read(all []*recountv1.FileFacts) {
	byName := map[string][]*unit{}
	for i := range b.units {
		u := &b.units[i]
		u.said = maps.Clone(u.head)
		own := u.name[strings.LastIndexByte(u.name, '.')+1:]
		byName[own] = append(byName[own], u)
	}
	type sentence struct {
		text string
		loss int
	}
	said := map[*unit][]sentence{}
	for _, facts := range all {
		names := map[string]int{}
		for _, r := range facts.References {
			names[r.Attributes["text"]]++
		}
		for _, r := range facts.References {
			words := strings.Split(strings.TrimSuffix(r.Path, "()"), ".")
			var found []*unit
			best := 0
			for _, u := range byName[words[len(words)-1]] {
				of := strings.FieldsFunc(strings.TrimSuffix(u.path, filepath.Ext(u.path))+"."+u.name, func(r rune) bool { return r == '.' || r == '/' })
				same := 0
				for same < min(len(words), len(of)) && words[len(words)-1-same] == of[len(of)-1-same] {
					same++
				}
				if same > best {
					best, found = same, nil
				}
				if same == best {
					found = append(found, u)
				}
			}
			if text := r.Attributes["text"]; text != "" && len(found) <= 3 {
				for _, u := range found {
					said[u] = append(said[u], sentence{text, len(found)*10 + names[text]})
				}
			}
		}
	}
	for u, of := range said {
		slices.SortStableFunc(of, func(x, y sentence) int { return cmp.Compare(x.loss, y.loss) })
		for i, s := range slices.CompactFunc(of, func(x, y sentence) bool { return x.text == y.text }) {
			if i < 3 {
				count(u.said, s.text)
			}
		}
	}
}

func count(in map[string]float64, text string) {
	for _, w := range stems(text) {
		in[w]++
	}
}

var inner = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// plainWords splits a text at inner capitals and what is neither letter nor digit.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(inner.ReplaceAllString(text, "$1$3 $2$4")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func stems(text string) (all []string) {
	for _, w := range plainWords(text) {
		if len(w) > 1 && !english.IsStopWord(w) {
			all = append(all, english.Stem(w, false))
		}
	}
	return all
}

// bm25 ranks the units by Okapi BM25.
func (b *baselines) bm25(question string, of func(*unit) map[string]float64) []string {
	const k, rate = 1.2, 0.75
	words := slices.Compact(slices.Sorted(slices.Values(stems(question))))
	length, total := make([]float64, len(b.units)), 0.0
	in := map[string]float64{}
	for i := range b.units {
		for w, n := range of(&b.units[i]) {
			length[i] += n
			if slices.Contains(words, w) {
				in[w]++
			}
		}
		total += length[i]
	}
	count := float64(len(b.units))
	return b.best(func(i int) (s float64) {
		for _, w := range words {
			if tf := of(&b.units[i])[w]; tf > 0 {
				s += math.Log(1+(count-in[w]+0.5)/(in[w]+0.5)) * tf * (k + 1) / (tf + k*(1-rate+rate*length[i]/(total/count)))
			}
		}
		return s
	})
}

// best returns the names of the units with the highest scores.
func (b *baselines) best(score func(i int) float64) []string {
	type scored struct {
		i     int
		score float64
	}
	var all []scored
	for i := range b.units {
		if s := score(i); s > 0 {
			all = append(all, scored{i, s})
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	var names []string
	for _, s := range all[:min(len(all), shown)] {
		names = append(names, b.units[s.i].name)
	}
	return names
}

// ripgrep ranks as a person does with `rg -i -e WORD -e WORD …`: files and lines with the
// most distinct words first, each line as the symbol around it.
func (b *baselines) ripgrep(question string) []string {
	var words []string
	for _, w := range plainWords(question) {
		if len(w) > 1 && !english.IsStopWord(w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	type line struct {
		file, number   int
		words, inWhole int
	}
	var all []line
	for f, path := range b.files {
		whole := map[string]bool{}
		begin := len(all)
		for n, text := range b.lines[path] {
			text = strings.ToLower(text)
			found := 0
			for _, w := range words {
				if strings.Contains(text, w) {
					found++
					whole[w] = true
				}
			}
			if found > 0 {
				all = append(all, line{file: f, number: n + 1, words: found})
			}
		}
		for i := range all[begin:] {
			all[begin+i].inWhole = len(whole)
		}
	}
	slices.SortStableFunc(all, func(x, y line) int {
		return cmp.Or(cmp.Compare(y.words, x.words), cmp.Compare(y.inWhole, x.inWhole))
	})
	byPath := map[string][]*unit{}
	for i := range b.units {
		byPath[b.units[i].path] = append(byPath[b.units[i].path], &b.units[i])
	}
	var names []string
	for _, l := range all {
		var around *unit
		for _, u := range byPath[b.files[l.file]] {
			if u.from <= l.number && l.number <= u.to && (around == nil || u.to-u.from < around.to-around.from) {
				around = u
			}
		}
		if around != nil && !slices.Contains(names, around.name) {
			if names = append(names, around.name); len(names) == shown {
				break
			}
		}
	}
	return names
}
