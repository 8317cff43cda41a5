// Nl2bash measures, without a server, how well a question in English finds the
// command it describes: hit@10 and MRR@10 of BM25 over words, of BM25 over
// concepts, of the embedding's cosine, and of the three fused as `find` fuses
// them (reciprocal ranks, k = 60; the cosine ranks what the other two found).
//
//	go run ./bench/nl2bash -data DIR [-half odd|even] [-queries 600] [-misses N]
//
// DIR holds pairs.tsv of NL2Bash (Lin et al., MIT): description, tab, command.
// The corpus is every distinct command. A question's pair belongs to the even or
// the odd half by the first byte of its line's SHA-256: the concept table was
// worked on with the even half, figures are of the odd one.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/processors/embed"
)

func main() {
	data := flag.String("data", "", "folder of pairs.tsv")
	half := flag.String("half", "odd", "which half of the pairs to ask: odd or even")
	queries := flag.Int("queries", 600, "how many questions, in the order of their hashes")
	misses := flag.Int("misses", 0, "show so many of the even half's misses")
	flag.Parse()
	if err := run(os.Stdout, *data, *half, *queries, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "nl2bash:", err)
		os.Exit(1)
	}
}

type question struct {
	text string
	want string // the command, folded
	key  [32]byte
}

func run(w io.Writer, data, half string, n, misses int) error {
	if half != "odd" && half != "even" {
		return fmt.Errorf("-half %q: want odd or even", half)
	}
	commands, questions, err := load(filepath.Join(data, "pairs.tsv"), half == "odd")
	if err != nil {
		return err
	}
	questions = questions[:min(n, len(questions))]
	ix := newIndex(commands)
	fmt.Fprintf(w, "%d commands, %d questions of the %s half, embedder %s\n", len(commands), len(questions), half, ix.embedder.Name())

	methods := []string{"bm25 words", "bm25 concepts", "cosine", "fused"}
	hits, mrr := make([]int, len(methods)), make([]float64, len(methods))
	for _, q := range questions {
		for i, ranked := range ix.ask(q.text) {
			for rank, doc := range ranked[:min(10, len(ranked))] {
				if commands[doc] == q.want {
					hits[i]++
					mrr[i] += 1 / float64(rank+1)
					break
				}
			}
			if i == 3 && misses > 0 && half == "even" && !slices.ContainsFunc(ranked[:min(10, len(ranked))], func(d int32) bool { return commands[d] == q.want }) {
				misses--
				fmt.Fprintf(w, "? %s  %v\n  want %s  %v\n", q.text, embed.Concepts(q.text), q.want, embed.CommandConcepts(q.want))
				for _, d := range ranked[:min(2, len(ranked))] {
					fmt.Fprintf(w, "  got  %s  %v\n", commands[d], embed.CommandConcepts(commands[d]))
				}
			}
		}
	}
	fmt.Fprintf(w, "%-14s %8s %8s\n", "", "hit@10", "MRR@10")
	for i, m := range methods {
		fmt.Fprintf(w, "%-14s %8.3f %8.3f\n", m, float64(hits[i])/float64(len(questions)), mrr[i]/float64(len(questions)))
	}
	return nil
}

// load reads the pairs: the distinct commands in the order they first stand,
// and the questions of one half in the order of their hashes.
func load(file string, odd bool) (commands []string, questions []question, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	seen := map[string]bool{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		text, cmd, ok := strings.Cut(sc.Text(), "\t")
		if !ok {
			return nil, nil, fmt.Errorf("%s: a line without a tab", file)
		}
		folded := command.Fold(cmd)
		if !seen[folded] {
			seen[folded] = true
			commands = append(commands, folded)
		}
		if key := sha256.Sum256(sc.Bytes()); (key[0]%2 == 1) == odd {
			questions = append(questions, question{text, folded, key})
		}
	}
	// The order must not follow the first byte's parity alone.
	slices.SortFunc(questions, func(a, b question) int { return bytes.Compare(a.key[1:], b.key[1:]) })
	return commands, questions, sc.Err()
}

// index is all that the questions are asked of.
type index struct {
	words, concepts bm25
	vectors         [][embed.Dim]float32
	embedder        embed.Embedder
}

func newIndex(commands []string) *index {
	ix := &index{embedder: embed.NewHash()}
	ix.words.init()
	ix.concepts.init()
	for i, c := range commands {
		ix.words.add(int32(i), terms(c))
		ix.concepts.add(int32(i), embed.CommandConcepts(c))
		ix.vectors = append(ix.vectors, ix.embedder.EmbedCommand(c, ""))
	}
	return ix
}

const candidates = 200

// ask returns the ranking of each method.
func (ix *index) ask(text string) [4][]int32 {
	words := ix.words.search(terms(text))
	concepts := ix.concepts.search(embed.Concepts(text))
	words, concepts = words[:min(candidates, len(words))], concepts[:min(candidates, len(concepts))]

	v := ix.embedder.Embed(text)
	all := make([]int32, len(ix.vectors))
	for i := range all {
		all[i] = int32(i)
	}
	near := ix.byCosine(&v, all)
	near = near[:min(candidates, len(near))]
	found := slices.Concat(words, concepts)
	slices.Sort(found)
	again := ix.byCosine(&v, slices.Compact(found))
	return [4][]int32{words, concepts, near, fuse(words, concepts, again)}
}

func (ix *index) byCosine(v *[embed.Dim]float32, docs []int32) []int32 {
	type scored struct {
		doc   int32
		score float32
	}
	list := make([]scored, len(docs))
	for i, d := range docs {
		var dot float32
		for j, x := range ix.vectors[d] {
			dot += float32(x * v[j])
		}
		list[i] = scored{d, dot}
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	out := make([]int32, len(list))
	for i, s := range list {
		out[i] = s.doc
	}
	return out
}

// fuse adds up reciprocal ranks, k = 60.
func fuse(lists ...[]int32) []int32 {
	scores := map[int32]float64{}
	for _, list := range lists {
		for rank, doc := range list {
			scores[doc] += 1 / float64(60+rank+1)
		}
	}
	return ranked(scores)
}

func ranked(scores map[int32]float64) []int32 {
	docs := make([]int32, 0, len(scores))
	for d := range scores {
		docs = append(docs, d)
	}
	slices.SortFunc(docs, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return docs
}
