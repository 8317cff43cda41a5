package context

import (
	"encoding/binary"
	"slices"
)

// postings has, for each term of a snapshot's files, the files that have it. It is immutable.
type postings struct {
	terms []term // ordered
	start []uint32
	// data has the list of each term: for each file, by number, the distance to the one before with
	// two bits that say whether the file declares the term and whether its path has it, and how often
	// its content has it; both as varints. That takes about three bytes.
	data []byte
}

const (
	declaresTerm = 1 << iota
	inPath

	postingFlags = 2 // bits
)

// entry is a file that has a term, while postings are made.
type entry struct {
	term  term
	file  int32
	n     uint16
	flags uint8
}

// These bound the memory that making postings takes: terms are taken in shards, by their highest bits.
const (
	shardBits = 4
	digitBits = (32 - shardBits) / 2
)

// postingsOf makes the postings of files.
func postingsOf(files []file) *postings {
	p := &postings{start: []uint32{0}}
	atTerm, atName := make([]int32, len(files)), make([]int32, len(files))
	var entries, spare []entry
	for shard := range uint64(1 << shardBits) {
		end := (shard + 1) << (32 - shardBits)
		entries = entries[:0]
		for i := range files {
			entries, atTerm[i], atName[i] = files[i].entries(entries, int32(i), atTerm[i], atName[i], end)
		}
		if len(spare) < len(entries) {
			spare = make([]entry, len(entries))
		}
		for digit := range 2 {
			scatter(entries, spare[:len(entries)], digit*digitBits)
			entries, spare = spare[:len(entries)], entries[:cap(entries)]
		}
		p.add(entries)
	}
	p.terms, p.start, p.data = slices.Clip(p.terms), slices.Clip(p.start), slices.Clip(p.data)
	return p
}

// entries appends the terms of a file that are below end, in order, from the given places of its terms
// and names on, and returns the places behind them.
func (f *file) entries(all []entry, number, atTerm, atName int32, end uint64) ([]entry, int32, int32) {
	begin := len(all)
	terms, names := f.terms, f.names
	for {
		t, n := end, end
		if int(atTerm) < len(terms) {
			t = uint64(terms[atTerm].term)
		}
		if int(atName) < len(names) {
			n = uint64(names[atName])
		}
		if min(t, n) >= end {
			break
		}
		e := entry{term: term(min(t, n)), file: number}
		if t <= n {
			e.n = terms[atTerm].n
			atTerm++
		}
		if n <= t {
			e.flags = declaresTerm
			atName++
		}
		all = append(all, e)
	}
	ordered := len(all)
	low := end - 1<<(32-shardBits)
	for i, t := range f.pathTerm {
		if uint64(t) < low || uint64(t) >= end || slices.Contains(f.pathTerm[:i], t) {
			continue
		}
		if at, has := slices.BinarySearchFunc(all[begin:ordered], t, func(e entry, t term) int { return compareTerms(e.term, t) }); has {
			all[begin+at].flags |= inPath
		} else {
			all = append(all, entry{term: t, file: number, flags: inPath}) // scatter orders the terms
		}
	}
	return all, atTerm, atName
}

func compareTerms(a, b term) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// scatter orders entries by a digit of their terms, and keeps the order of those with the same.
func scatter(from, to []entry, shift int) {
	var at [1 << digitBits]uint32
	for i := range from {
		at[uint32(from[i].term)>>shift&(1<<digitBits-1)]++
	}
	sum := uint32(0)
	for d, n := range at {
		at[d] = sum
		sum += n
	}
	for i := range from {
		d := uint32(from[i].term) >> shift & (1<<digitBits - 1)
		to[at[d]] = from[i]
		at[d]++
	}
}

// add appends entries, which are ordered by term and file.
func (p *postings) add(entries []entry) {
	last := int32(0)
	for i := range entries {
		e := &entries[i]
		if i == 0 || e.term != entries[i-1].term {
			if i > 0 {
				p.start = append(p.start, uint32(len(p.data)))
			}
			p.terms = append(p.terms, e.term)
			last = 0
		}
		p.data = binary.AppendUvarint(p.data, uint64(e.file-last)<<postingFlags|uint64(e.flags))
		p.data = binary.AppendUvarint(p.data, uint64(e.n))
		last = e.file
	}
	if len(entries) > 0 {
		p.start = append(p.start, uint32(len(p.data)))
	}
}

// find returns the files that have a term, by number, with how much each has of it, and those of them
// whose paths have it.
func (p *postings) find(t term) (files []int32, tf []float32, named []int32) {
	i, has := slices.BinarySearchFunc(p.terms, t, compareTerms)
	if !has {
		return nil, nil, nil
	}
	data := p.data[p.start[i]:p.start[i+1]]
	last := int32(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		count, m := binary.Uvarint(data[n:])
		data = data[n+m:]
		last += int32(head >> postingFlags)
		much := float64(count)
		if head&declaresTerm != 0 {
			much += namesTimes
		}
		if head&inPath != 0 {
			much += pathTimes
			named = append(named, last)
		}
		files, tf = append(files, last), append(tf, float32(much))
	}
	return files, tf, named
}

func (p *postings) bytes() int { return 4*len(p.terms) + 4*len(p.start) + len(p.data) }
