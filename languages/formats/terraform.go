package formats

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
)

// Terraform makes the resolver of Terraform. A module is a directory: names mean what
// its files declare. A module that is called is the directory that its source is the
// path of, where it begins with a dot; its outputs and variables are that directory's.
// Any other source is an external of language "terraform", as are the providers.
func Terraform() Resolver {
	return Resolver{name: "terraform/1", languages: []string{"terraform"}, link: linkTerraform}
}

type terraform struct {
	*snapshot
	// modules are the declarations of each directory, by address.
	modules map[string]map[string]place
}

func linkTerraform(s *snapshot) {
	t := &terraform{s, map[string]map[string]place{}}
	for _, f := range s.files {
		m := t.modules[dir(f.path())]
		if m == nil {
			m = map[string]place{}
			t.modules[dir(f.path())] = m
		}
		for i, d := range f.Declarations {
			if _, twice := m[d.Name]; !twice {
				m[d.Name] = place{f, i}
			}
		}
	}
	for _, f := range s.files {
		for _, i := range f.Imports {
			source, _, _ := strings.Cut(i.Path, "?")
			if !strings.HasPrefix(source, ".") {
				kind := dependsOn
				if i.In == 0 {
					kind = imports
				}
				f.external(kind, i.In, "terraform", source, "", declared, i.At)
			} else if main := t.main(slash.Join(dir(f.path()), source)); main != nil {
				f.edge(dependsOn, i.In, resolve.FileKey(main.path()), declared, i.At)
			} else {
				f.unresolved(dependsOn, i.In, i.Path, i.At)
			}
		}
		for _, r := range f.References {
			if p, ok := t.means(dir(f.path()), r.Path, r.Attributes["argument"] != ""); ok {
				f.edge(r.Edge, r.In, p.f.names.Keys[p.i], scopeResolved, r.At)
			} else if r.Attributes["argument"] == "" {
				f.unresolved(r.Edge, r.In, r.Path, r.At)
			}
		}
	}
}

// main is the file that stands for a directory: main.tf, or the first.
func (t *terraform) main(at string) *file {
	if f := t.byPath[slash.Join(at, "main.tf")]; f != nil {
		return f
	}
	for _, f := range t.files {
		if dir(f.path()) == at {
			return f
		}
	}
	return nil
}

// means finds what an address names in a directory. module.net.id is the output id
// of the module's directory, or, of an argument, its variable; where the directory is
// not of the repository, it is the module.
func (t *terraform) means(in, address string, argument bool) (place, bool) {
	words := strings.Split(address, ".")
	if words[0] != "module" || len(words) < 3 {
		if words[0] == "module" || words[0] == "var" || words[0] == "local" {
			address = strings.Join(words[:min(len(words), 2)], ".")
		}
		p, ok := t.modules[in][address]
		return p, ok
	}
	call, ok := t.modules[in]["module."+words[1]]
	if !ok {
		return place{}, false
	}
	source := call.f.Declarations[call.i].Attributes["source"]
	if strings.HasPrefix(source, ".") {
		kind := "output."
		if argument {
			kind = "var."
		}
		if p, ok := t.modules[slash.Join(in, source)][kind+words[2]]; ok {
			return p, true
		}
	}
	return call, !argument
}
