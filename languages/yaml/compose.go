package yaml

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/languages/extract"
)

// Compose: a service is a resource by its name, a network, volume, config or secret
// one called volumes/data and so on. A service deploys its image, or what its build
// folder makes.

func isCompose(doc yamlMap) bool {
	services := doc.lookup("services")
	for _, e := range services.entries {
		s, ok := mapOf(e.value)
		if ok && (s.get("image") != nil || s.get("build") != nil || s.get("extends") != nil) {
			return true
		}
	}
	return false
}

func (y *yamlFile) compose(doc yamlMap) {
	for _, group := range []string{"networks", "volumes", "configs", "secrets"} {
		for _, e := range doc.lookup(group).entries {
			y.declareNode(extract.KindResource, group+"/"+e.name, group+" "+e.name, 0, e.key, e.end(doc, group))
		}
	}
	for _, e := range doc.lookup("services").entries {
		s, ok := mapOf(e.value)
		if !ok {
			continue
		}
		in, decl := y.declareNode(extract.KindResource, e.name, "service "+e.name, 0, e.key, e.end(doc, "services"))
		decl.Attributes = map[string]string{"kind": "service"}
		context := s.text("build")
		if context == "" {
			context = s.text("build", "context")
		}
		if context == "" && s.get("build") != nil {
			context = "."
		}
		if context != "" && !strings.Contains(context, "://") {
			decl.Attributes["build"] = extract.Clip(context, extract.MaxValue)
			if f := s.text("build", "dockerfile"); f != "" {
				decl.Attributes["dockerfile"] = extract.Clip(f, extract.MaxValue)
			}
		}
		if image := s.text("image"); image != "" {
			decl.Attributes["image"] = extract.Clip(image, extract.MaxValue)
			y.referTo(extract.Deploys, in, extract.ImagePath+image, s.get("image"), nil)
		}
		y.names(in, s.get("depends_on"), "")
		y.names(in, s.get("links"), "")
		for _, group := range []string{"networks", "configs", "secrets"} {
			y.names(in, s.get(group), group+"/")
		}
		for _, v := range items(s.get("volumes")) {
			name, _, ok := strings.Cut(scalar(v), ":")
			if m, is := mapOf(v); is && m.text("type") != "bind" {
				name, ok = m.text("source"), true
			}
			if ok && name != "" && !strings.ContainsAny(name, "./~$\\") {
				y.referTo(extract.DependsOn, in, "volumes/"+name, v, nil)
			}
		}
		y.setEnv(in, s.get("environment"))
		y.runs(in, s.get("command"))
		if ext := s.lookup("extends"); ext.text("service") != "" && ext.text("file") == "" {
			y.referTo(extract.DependsOn, in, ext.text("service"), ext.get("service"), nil)
		}
	}
}

// end is where an entry of a group ends: at the next one, or at the next group.
func (e yamlEntry) end(doc yamlMap, group string) *yaml.Node {
	if e.behind != nil {
		return e.behind
	}
	for _, g := range doc.entries {
		if g.name == group {
			return g.behind
		}
	}
	return nil
}

// names refers to what a list, or the keys of a mapping, name.
func (y *yamlFile) names(in uint32, list *yaml.Node, prefix string) {
	refer := func(n *yaml.Node) {
		name, _, _ := strings.Cut(scalar(n), ":")
		if m, ok := mapOf(n); ok {
			name = m.text("source")
		}
		if name != "" {
			edge := extract.DependsOn
			if prefix == "configs/" || prefix == "secrets/" {
				edge = extract.Configures
			}
			y.referTo(edge, in, prefix+name, n, nil)
		}
	}
	if m, ok := mapOf(list); ok {
		for _, e := range m.entries {
			refer(e.key)
		}
	}
	for _, c := range items(list) {
		refer(c)
	}
}
