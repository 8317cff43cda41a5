package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
)

// bm25s are the variants of Okapi BM25 (1.2, 0.75) among which the best on the half `dev` is the
// baseline: what the query has besides title and body, and how often a path counts.
func bm25s() (all []system) {
	for _, with := range []string{"text", "text+path", "text+path+names"} {
		for _, weight := range []float64{1, 5, 20} {
			all = append(all, system{fmt.Sprintf("BM25 %s, path %g", with, weight), func(_ context.Context, q question) ([]string, bool, error) {
				query := q.title + "\n" + q.body
				if with != "text" {
					query += "\n" + q.given
				}
				if with == "text+path+names" && q.file.text != nil { // a file above maxFile has none
					query += "\n" + strings.Join(names(q.given, q.file.content), " ")
				}
				return q.corpus.bm25(query, q.others, weight), true, nil
			}})
		}
	}
	return all
}

func (c *corpus) bm25(query string, files []file, weight float64) []string {
	scores := c.scores(query, files, weight)
	return ordered(files, func(i int) float64 { return scores[i] })
}

// scores returns the score of each file.
func (c *corpus) scores(query string, files []file, weight float64) []float64 {
	const k, b = 1.2, 0.75
	asked := map[string]float64{}
	for _, t := range c.terms(query) {
		asked[t]++
	}
	order := slices.Sorted(maps.Keys(asked))
	in := make([]map[string]float64, len(files)) // how often a path has a term
	lengths, total, has := make([]float64, len(files)), 0.0, map[string]float64{}
	for i, f := range files {
		in[i] = map[string]float64{}
		lengths[i] = f.length
		for _, t := range c.terms(f.path) {
			in[i][t] += weight
			lengths[i] += weight
		}
		total += lengths[i]
		for _, t := range order {
			if f.terms[t]+in[i][t] > 0 {
				has[t]++
			}
		}
	}
	n, mean := float64(len(files)), total/float64(len(files))
	scores := make([]float64, len(files))
	for i := range files {
		for _, t := range order {
			if tf := files[i].terms[t] + in[i][t]; tf > 0 {
				idf := math.Log1p((n - has[t] + 0.5) / (has[t] + 0.5))
				scores[i] += (1 + math.Log(asked[t])) * idf * tf * (k + 1) / (tf + k*(1-b+b*lengths[i]/mean))
			}
		}
	}
	return scores
}

// ripgrep ranks as a person does with `rg -ic -e WORD …`: the words of the title and of the given
// file's name, and files with the most distinct words first, then those with the most matches.
var ripgrep = system{"ripgrep", func(_ context.Context, q question) ([]string, bool, error) {
	stem := q.given[strings.LastIndexByte(q.given, '/')+1:]
	stem, _, _ = strings.Cut(stem, ".")
	var words []string
	for _, w := range strings.Fields(strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return ' '
	}, q.title+" "+stem))) {
		if len(w) > 2 && !english.IsStopWord(w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return ordered(q.others, func(i int) float64 {
		distinct, matches := 0, 0
		for _, w := range words {
			if n := strings.Count(q.others[i].lower, w); n > 0 {
				distinct++
				matches += n
			}
		}
		return float64(distinct) + float64(matches)/1e6
	}), true, nil
}}

// ordered returns the paths with a positive score, the highest first; of equal ones in the order of
// their paths.
func ordered(files []file, score func(i int) float64) (paths []string) {
	scores, order := make([]float64, len(files)), make([]int, 0, len(files))
	for i := range files {
		if scores[i] = score(i); scores[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		paths = append(paths, files[i].path)
	}
	return paths
}
