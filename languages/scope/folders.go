package scope

import (
	"path"
	"strconv"
	"strings"
)

// Loaded is a file that a folder of plugins registers, the router that it gets, and its prefix.
type Loaded struct {
	Mod    *Module
	Router *Value
	prefix string
}

// Folder returns the files of the folder that fact i of a module registers, as Fastify's autoload does: each
// below the path of its directory, and of a directory with an index only that.
func (p *Program) Folder(m *Module, i int) (all []Loaded) {
	r := m.Facts.Routes[i]
	dir := path.Join(DirOf(m.File.Path), r.Handler) + "/"
	if dir == "./" {
		dir = ""
	}
	index := map[string]bool{}
	isIndex := func(file string) bool { return strings.HasPrefix(path.Base(file), "index.") }
	for _, of := range p.Modules {
		if isIndex(of.File.Path) {
			index[DirOf(of.File.Path)] = true
		}
	}
	for _, of := range p.Modules {
		rest, in := strings.CutPrefix(of.File.Path, dir)
		if base := path.Base(rest); !in || of == m || index[DirOf(of.File.Path)] && !isIndex(rest) ||
			strings.HasSuffix(base, ".d.ts") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") {
			continue
		}
		one := Loaded{Mod: of, Router: p.Intern(ValueID{Kind: RouterValue, Mod: m, Name: strconv.Itoa(i) + " " + of.File.Path})}
		if sub := DirOf(rest); r.Method != "FLAT" && sub != "" && sub != "." {
			one.prefix = "/" + sub
		}
		for _, said := range of.Facts.Routes {
			if said.Role == "auto" {
				one.prefix = Slashed("", said.Pattern)
			}
		}
		all = append(all, one)
	}
	return all
}
