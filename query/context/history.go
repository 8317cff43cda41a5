package context

import (
	"math"

	"github.com/recountdb/recount/query/code"
)

// past has the commits up to a snapshot, the newest first, as far as they say what changes together.
type past struct {
	commits []pastCommit
	// of are the commits that changed each file.
	of [][]int32
	// length is the mean number of terms of a message.
	length float64
}

type pastCommit struct {
	files []int32
	words *commitWords
	// share is how much the commit says about each pair of its files: less where they are many or
	// where it is old.
	share float64
}

// commitWords are the terms of a message.
type commitWords struct {
	terms  []termCount
	length float64
}

const (
	// maxPast is the number of commits that are visited, and maxTogether the number of files beyond
	// which a commit is a sweep that joins nothing.
	maxPast, maxTogether = 3000, 40
	// halfLife is the number of commits after which a commit counts half.
	halfLife = 800
	// maxMessage is the number of bytes of a message that count.
	maxMessage = 4000
)

// pastOf reads the commits up to a study's revision.
func (c *Cache) pastOf(st *code.Study, x *corpus, splitter *splitter) (*past, error) {
	p := &past{of: make([][]int32, len(x.files))}
	total := 0.0
	err := st.Past(maxPast, func(ch code.PastChange) {
		if len(ch.Paths) > maxTogether {
			return
		}
		one := pastCommit{}
		for _, path := range ch.Paths {
			if i, ok := x.byPath[path]; ok {
				one.files = append(one.files, i)
			}
		}
		if len(one.files) == 0 {
			return
		}
		c.mu.Lock()
		words, ok := c.commits.Get(ch.Commit)
		c.mu.Unlock()
		if !ok {
			d := documentOf(splitter, []byte(ch.Message[:min(len(ch.Message), maxMessage)]), nil)
			words = &commitWords{d.terms, d.length}
			c.mu.Lock()
			c.commits.Put(ch.Commit, words, 8*len(d.terms)+96)
			c.commits.Trim()
			c.mu.Unlock()
		}
		one.words = words
		total += words.length
		age := float64(len(p.commits))
		one.share = math.Exp2(-age/halfLife) / math.Log2(1+float64(len(ch.Paths)))
		for _, i := range one.files {
			p.of[i] = append(p.of[i], int32(len(p.commits)))
		}
		p.commits = append(p.commits, one)
	})
	p.length = max(1, total/max(1, float64(len(p.commits))))
	return p, err
}

// together returns how often each file changed with one of the given ones, by share, divided by how
// often the given ones changed: an estimate of the probability that it changes with them, drawn
// towards 0 where little is known.
func (p *past) together(given []int32) map[int32]float64 {
	all := map[int32]float64{}
	for _, g := range given {
		const unknown = 1.5
		total := 0.0
		for _, c := range p.of[g] {
			total += math.Exp2(-float64(c) / halfLife)
		}
		for _, c := range p.of[g] {
			one := &p.commits[c]
			for _, f := range one.files {
				if f != g {
					all[f] += one.share / (total + unknown)
				}
			}
		}
	}
	return all
}
