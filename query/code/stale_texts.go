package code

import (
	"bytes"
	"path"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// named are the functions that seem to be unused, and which of them the content of a file names
// nevertheless. A name in a string, a template or a macro is no reference, and code for another
// platform has no edges.
type named struct {
	g *Graph
	// by has the candidates by name that nothing has been found to name yet, and starts those by the
	// beginnings of their names, which code may complete when it runs, such as "do_" of do_quit.
	by, starts map[string][]int32
	// used has the candidates that may be used, and read the files whose content was read.
	used map[int32]bool
	read map[string]bool
}

// namedInTexts returns the candidates whose names stand anywhere but at their own declarations, and
// those whose own files can't be read. It returns none if the content of files is not at hand.
func (st *staleness) namedInTexts(all []candidate, files map[string]*recountv1.CodeFile) (map[int32]bool, error) {
	if st.a.s.Content == nil || len(all) == 0 {
		return nil, nil
	}
	t := &named{st.g, map[string][]int32{}, map[string][]int32{}, map[int32]bool{}, map[string]bool{}}
	for _, c := range all {
		name := st.g.name(c.n)
		t.by[name] = append(t.by[name], c.n)
		for _, start := range startsOf(name) {
			t.starts[start] = append(t.starts[start], c.n)
		}
	}
	visited := 0
	for file := range files {
		if visited++; visited&0x3f == 0 && st.a.Ctx.Err() != nil {
			return nil, st.a.Ctx.Err()
		}
		content, err := st.a.content(st.snap, file)
		if err != nil {
			return nil, err
		}
		if content != nil {
			t.read[file] = true
			t.file(file, content)
		}
	}
	for _, c := range all {
		if !t.read[st.g.keys[c.n].Path()] {
			t.used[c.n] = true
		}
	}
	return t.used, nil
}

// file marks the candidates that a file names outside lines of comments. An unexported name of Go
// means the candidate in its own package only.
func (t *named) file(file string, content []byte) {
	dir, number := path.Dir(file), uint32(0)
	for line := range bytes.Lines(content) {
		number++
		if commentLine(bytes.TrimSpace(line)) {
			continue
		}
		for i := 0; i < len(line); {
			start := i
			for i < len(line) && !notInName(rune(line[i])) {
				i++
			}
			if i == start {
				i++
				continue
			}
			for _, n := range t.by[string(line[start:i])] {
				nd, own := &t.g.nodes[n], t.g.keys[n].Path()
				itself := file == own && number >= nd.line && number <= nd.end
				if !itself && (t.g.language(n) != checked || path.Dir(own) == dir) {
					t.used[n] = true
				}
			}
			if start > 0 && strings.IndexByte("\"'`", line[start-1]) >= 0 {
				for _, n := range t.starts[string(line[start:i])] {
					t.used[n] = true
				}
			}
		}
	}
}

// commentLine reports whether nothing but a comment stands in a line, in the languages that are
// read. A directive is none: it may name a function that assembly or the linker uses.
func commentLine(line []byte) bool {
	if bytes.HasPrefix(line, []byte("//go:")) || bytes.HasPrefix(line, []byte("//export ")) {
		return false
	}
	for _, mark := range []string{"//", "/*", "* ", "*/", "# "} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return len(line) == 1 && (line[0] == '*' || line[0] == '#')
}

// startsOf returns the beginnings of a name that end at a boundary between words, of at least
// three characters: what code would begin a name with that it computes.
func startsOf(name string) []string {
	var all []string
	for i := 3; i < len(name); i++ {
		if before, here := name[i-1], name[i]; before == '_' && here != '_' || here >= 'A' && here <= 'Z' && before >= 'a' && before <= 'z' {
			all = append(all, name[:i])
		}
	}
	return all
}
