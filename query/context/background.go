package context

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// backgroundFile says how common terms are in programs and their histories at large. It was counted
// by `go -C bench run ./context background` in repositories that nothing is measured on. Its entries
// are ordered by term, and take six bytes: the term, the mean share of a repository's files that have
// it, and that of its commits' messages, each as shareByte returns it.
//
//go:embed background.bin
var backgroundFile []byte

const backgroundEntry = 6

// minShare is added to shares that are compared, since no word is impossible.
const minShare = 2e-3

// backgroundOf returns the shares of files and of messages that have a term, 0 where it is too rare
// to be in the table.
func backgroundOf(t term) (files, messages float64) {
	entries := len(backgroundFile) / backgroundEntry
	i := sort.Search(entries, func(i int) bool { return term(binary.LittleEndian.Uint32(backgroundFile[i*backgroundEntry:])) >= t })
	if i == entries || term(binary.LittleEndian.Uint32(backgroundFile[i*backgroundEntry:])) != t {
		return 0, 0
	}
	e := backgroundFile[i*backgroundEntry:]
	return shareOf(e[4]), shareOf(e[5])
}

// WriteBackground returns the file of a background with the given terms and shares.
func WriteBackground(files, messages map[uint32]float64) []byte {
	var order []uint32
	for t := range files {
		order = append(order, t)
	}
	for t := range messages {
		if _, both := files[t]; !both {
			order = append(order, t)
		}
	}
	slices.Sort(order)
	out := make([]byte, 0, len(order)*backgroundEntry)
	for _, t := range order {
		out = binary.LittleEndian.AppendUint32(out, t)
		out = append(out, shareByte(files[t]), shareByte(messages[t]))
	}
	return out
}

// shareByte rounds a share to a twentieth of a power of two; 0 is for none.
func shareByte(share float64) byte {
	if share <= 0 {
		return 0
	}
	return byte(max(1, min(255, math.Round(255+20*math.Log2(share)))))
}

func shareOf(b byte) float64 {
	if b == 0 {
		return 0
	}
	return math.Exp2((float64(b) - 255) / 20)
}

// Terms returns the terms of a text, each as often as it occurs.
func Terms(text string) (all []uint32) {
	newSplitter().each(text, func(w wordTerms) {
		for _, p := range w.parts {
			all = append(all, uint32(p))
		}
		if w.whole != 0 {
			all = append(all, uint32(w.whole))
		}
	})
	return all
}
