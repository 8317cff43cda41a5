package command

import (
	"strings"
	"sync"
)

// variantFor returns the synopsis for this call of a program: some flags turn arguments that are read into
// arguments that are written.
func (s *synopsis) variantFor(items []item, words []int) *synopsis {
	for _, v := range variants()[s.first] {
		for _, w := range words {
			if !isFlag(&items[w]) {
				continue
			}
			it := item{kind: kindFlag, value: items[w].value}
			for f := range strings.FieldsSeq(v.called) {
				if hasFlag(&it, f) {
					return v.synopsis
				}
			}
		}
	}
	return s
}

// dashed writes the flags of tar's old style with a dash, and the letter of the archive, whose name is the
// next word, last: "cfz" becomes "-czf".
func dashed(it *item) {
	if v := it.value; isLetters(v) && !it.quoted && !it.dynamic {
		if letters := strings.ReplaceAll(v, "f", ""); letters != v {
			v = letters + "f"
		}
		it.value = "-" + v
	}
}

// named reports whether an item is an operand of the form NAME=VALUE that the program has.
func (s *synopsis) named(it *item) bool {
	name, _, ok := strings.Cut(it.value, "=")
	_, known := s.flags[name]
	return ok && known
}

// variant is the synopsis of a program called with one of some flags.
type variant struct {
	called   string
	synopsis *synopsis
}

var variants = sync.OnceValue(func() map[string][]variant {
	all := map[string][]variant{}
	for _, v := range []struct {
		called string
		program
	}{
		{"-i --in-place", program{"sed", catQuery, "-e:str -f:r -l:num --expression:str", "str u*"}},
		{"-i", program{"perl", 0, "-e:str -E:str -pe:str -ne:str -M:arg -I:r", "u*"}},
		{"-x --extract --get", program{"tar", catOther, "-f:r -C:w -X:r -T:r --file:r --directory:w --exclude:str", "arg*"}},
		{"-c --create", program{"tar", catOther, "-f:w -C:r -X:r -T:r --file:w --directory:r --exclude:str", "r*"}},
		{"-t --list", program{"tar", catOther, "-f:r --file:r", "arg*"}},
		{"-w", program{"gofmt", catBuild, "-r:str", "u*"}},
		{"--fix --write", program{"eslint", catBuild, "-c:r --config:r", "u*"}},
	} {
		all[v.names] = append(all[v.names], variant{v.called, compile(v.program)})
	}
	return all
})
