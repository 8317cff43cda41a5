package secrets

import (
	"strconv"
	"strings"
	"sync"
)

// spec is a parsed line of programs.
type spec struct {
	subs  []string
	conds []string
	skips []string // flags that take a word
	items []item
	name  string
}

// item is a position in a spec that holds a secret.
type item struct {
	kind byte   // the last character of its notation, see programs
	word string // the flag or word before it
	n    int    // of @2
	sep  byte   // of @2:, <: and |:
}

// lazySpec is parsed when its program is first seen.
type lazySpec struct {
	line string
	once sync.Once
	spec spec
}

func (l *lazySpec) get() *spec {
	l.once.Do(func() { l.spec = parseSpec(l.line) })
	return &l.spec
}

func parseSpec(line string) (sp spec) {
	f := strings.Split(line, ";")
	sp.subs, sp.name = strings.Fields(f[1]), "password"
	if len(f) > 3 {
		sp.name = f[3]
	}
	for _, w := range strings.Fields(f[2]) {
		last := w[len(w)-1]
		switch {
		case w[0] == '?':
			sp.conds = append(sp.conds, w[1:])
		case w[0] == '!':
			sp.skips = append(sp.skips, w[1:])
		case w[0] == '@':
			it := item{kind: '@'}
			it.n, _ = strconv.Atoi(strings.TrimRight(w[1:], ":"))
			if last == ':' {
				it.sep = ':'
			}
			sp.items = append(sp.items, it)
		case w[0] == '<' || w[0] == '|':
			it := item{kind: w[0]}
			if last == ':' {
				it.sep = ':'
			}
			sp.items = append(sp.items, it)
		case len(w) == 1:
			sp.items = append(sp.items, item{kind: w[0]})
		default:
			sp.items = append(sp.items, item{kind: last, word: w[:len(w)-1]})
		}
	}
	return sp
}

// programNames returns the names in a line of programs.
func programNames(line string) []string {
	names, _, _ := strings.Cut(line, ";")
	return strings.Fields(names)
}
