// Nl2bash measures, without a server, how well a question in English finds the
// command it describes: hit@10 and MRR@10 of BM25 over words, of BM25 over
// concepts, of the embedding's cosine, and of the three fused as `find` fuses
// them (reciprocal ranks, k = 60; the cosine ranks what the other two found).
//
//	go -C bench run ./nl2bash -data PAIRS [-misses N]
//
// PAIRS is a file of description, tab, command, such as NL2Bash's pairs.tsv
// (Lin et al., MIT). The corpus is every distinct command. Figures are of the
// held-out questions (bench/pairs), and beside them of all others, which the
// concept table or the weights of find were developed on; misses are shown of
// those others only.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/recountdb/recount/bench/pairs"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/processors/embed"
)

func main() {
	data := flag.String("data", "", "file of description<TAB>command lines")
	misses := flag.Int("misses", 0, "show so many misses among the questions that are not held out")
	flag.Parse()
	if err := run(os.Stdout, *data, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "nl2bash:", err)
		os.Exit(1)
	}
}

var methods = [...]string{"bm25 words", "bm25 concepts", "cosine", "fused"}

// tally is what the questions of one set came to, by method.
type tally struct {
	n    int
	hits [len(methods)]int
	mrr  [len(methods)]float64
}

func run(w io.Writer, data string, misses int) error {
	list, err := pairs.Load(data)
	if err != nil {
		return err
	}
	commands := distinct(list)
	ix := newIndex(commands)
	var heldOut, others tally
	for _, q := range pairs.Questions(list) {
		set := &others
		if q.HeldOut {
			set = &heldOut
		}
		set.n++
		wanted := map[string]bool{}
		for _, c := range q.Commands {
			wanted[command.Fold(c)] = true
		}
		isWanted := func(doc int32) bool { return wanted[commands[doc]] }
		for i, ranked := range ix.ask(q.Text) {
			first := ranked[:min(10, len(ranked))]
			if at := slices.IndexFunc(first, isWanted); at >= 0 {
				set.hits[i]++
				set.mrr[i] += 1 / float64(at+1)
			} else if methods[i] == "fused" && misses > 0 && !q.HeldOut {
				misses--
				writeMiss(w, q, commands, first)
			}
		}
	}
	fmt.Fprintf(w, "%d commands, embedder %s\n", len(commands), ix.embedder.Name())
	for _, set := range []struct {
		name string
		tally
	}{{"held-out questions", heldOut}, {"other questions", others}} {
		fmt.Fprintf(w, "\n%d %s\n%-14s %8s %8s\n", set.n, set.name, "", "hit@10", "MRR@10")
		for i, m := range methods {
			fmt.Fprintf(w, "%-14s %8.3f %8.3f\n", m, float64(set.hits[i])/float64(set.n), set.mrr[i]/float64(set.n))
		}
	}
	return nil
}

func writeMiss(w io.Writer, q pairs.Question, commands []string, first []int32) {
	fmt.Fprintf(w, "? %s  %v\n  want %s  %v\n", q.Text, embed.Concepts(q.Text), q.Commands[0], embed.CommandConcepts(q.Commands[0]))
	for _, d := range first[:min(2, len(first))] {
		fmt.Fprintf(w, "  got  %s  %v\n", commands[d], embed.CommandConcepts(commands[d]))
	}
}

// distinct returns the distinct commands, folded, in the order in which they first stand.
func distinct(list []pairs.Pair) []string {
	var commands []string
	seen := map[string]bool{}
	for _, p := range list {
		if folded := command.Fold(p.Command); !seen[folded] {
			seen[folded] = true
			commands = append(commands, folded)
		}
	}
	return commands
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
