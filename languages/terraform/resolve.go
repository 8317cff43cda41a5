package terraform

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/resolve"
)

// NewResolver returns the resolver of Terraform. A module is a directory: a name means what the
// files of the directory declare. If the source of a called module begins with a dot, it is the
// path of the module's directory, and the outputs and variables of the call are those of the
// directory. Any other source is an external of language "terraform", as are the providers.
func NewResolver() resolve.Resolver {
	return formats.New("terraform/1", []string{"terraform"}, linkTerraform)
}

type terraform struct {
	*formats.Snapshot
	// modules has the declarations of each directory, by address.
	modules map[string]map[string]formats.Place
}

func linkTerraform(s *formats.Snapshot) {
	t := &terraform{s, map[string]map[string]formats.Place{}}
	for _, f := range s.Files {
		m := t.modules[formats.Dir(f.Path())]
		if m == nil {
			m = map[string]formats.Place{}
			t.modules[formats.Dir(f.Path())] = m
		}
		for i, d := range f.Declarations {
			if _, twice := m[d.Name]; !twice {
				m[d.Name] = formats.Place{File: f, Index: i}
			}
		}
	}
	for _, f := range s.Files {
		for _, i := range f.Imports {
			source, _, _ := strings.Cut(i.Path, "?")
			if !strings.HasPrefix(source, ".") {
				kind := formats.DependsOn
				if i.In == 0 {
					kind = formats.Imports
				}
				f.External(kind, i.In, "terraform", source, "", formats.Declared, i.At)
			} else if main := t.main(slash.Join(formats.Dir(f.Path()), source)); main != nil {
				f.Edge(formats.DependsOn, i.In, resolve.FileKey(main.Path()), formats.Declared, i.At)
			} else {
				f.Unresolved(formats.DependsOn, i.In, i.Path, i.At)
			}
		}
		for _, r := range f.References {
			if p, ok := t.means(formats.Dir(f.Path()), r.Path, r.Attributes["argument"] != ""); ok {
				f.Edge(r.Edge, r.In, p.File.Names.Keys[p.Index], formats.ScopeResolved, r.At)
			} else if r.Attributes["argument"] == "" {
				f.Unresolved(r.Edge, r.In, r.Path, r.At)
			}
		}
	}
}

// main returns the file that represents a directory: main.tf, or the first one.
func (t *terraform) main(at string) *formats.File {
	if f := t.ByPath[slash.Join(at, "main.tf")]; f != nil {
		return f
	}
	for _, f := range t.Files {
		if formats.Dir(f.Path()) == at {
			return f
		}
	}
	return nil
}

// means returns the declaration that an address names in a directory. module.net.id means the
// output id of the module's directory, or, as an argument, its variable; if the directory is not
// in the repository, it means the module call.
func (t *terraform) means(in, address string, argument bool) (formats.Place, bool) {
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
		return formats.Place{}, false
	}
	source := call.File.Declarations[call.Index].Attributes["source"]
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
