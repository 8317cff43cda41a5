package formats

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Infra makes the resolver of what runs software: Kubernetes, Compose, GitHub
// Actions, CloudFormation, Serverless and Dockerfiles. What an edge says:
//
//	deploys     workload, service, function → the Dockerfile that its image is built
//	            from, and the image, an external of the package "image"
//	exposes     Service → the workloads that have its labels; Ingress, route → Service
//	configures  ConfigMap, Secret → what reads it; policy → what it selects; what sets
//	            an environment variable → the variable, an external of "env"
//	depends_on  a declared dependency; a base image; the Service that the value of a
//	            variable has as its host
//	executes_process, reads_env
//	            externals of "process" and "secret"
//
// Manifests are often there several times (a base, a release). A name means what
// stands nearest: in the file, in its directory, or where more of the path is shared;
// of several that are equally near none is meant. What is found in another directory
// is known by its name alone.
func Infra() Resolver {
	return Resolver{
		name:      "infra/1",
		languages: []string{"kubernetes", "compose", "github-actions", "cloudformation", "serverless", "dockerfile"},
		link:      linkInfra,
	}
}

// infra is what the files of a snapshot declare.
type infra struct {
	*snapshot
	// byName are the declarations of a name in a language.
	byName map[langName][]place
	// byLabel are the workloads that have a label, "k=v".
	byLabel map[string][]place
	// builds are the Dockerfiles of images, byDir those of directories.
	builds map[string][]*file
	byDir  map[string][]*file
}

type langName struct{ language, name string }

// place is a declaration of a file.
type place struct {
	f *file
	i int
}

func linkInfra(s *snapshot) {
	n := &infra{s, map[langName][]place{}, map[string][]place{}, map[string][]*file{}, map[string][]*file{}}
	for _, f := range s.files {
		if f.File.Language == "dockerfile" {
			n.byDir[base(dir(f.path()))] = append(n.byDir[base(dir(f.path()))], f)
		}
		for i, d := range f.Declarations {
			if d.Owner == 0 || f.File.Language != "github-actions" {
				at := langName{f.File.Language, d.Name}
				n.byName[at] = append(n.byName[at], place{f, i})
			}
			if labels := d.Attributes["labels"]; labels != "" {
				for _, l := range strings.Split(labels, ",") {
					n.byLabel[l] = append(n.byLabel[l], place{f, i})
				}
			}
		}
	}
	for _, f := range s.files {
		for _, d := range f.Declarations {
			if d.Attributes["build"] != "" {
				if built := n.dockerfile(f, d); built != nil {
					if image := imageName(d.Attributes["image"]); image != "" {
						n.builds[image] = append(n.builds[image], built)
					}
				}
			}
		}
	}
	for _, f := range s.files {
		for i, d := range f.Declarations {
			if built := n.dockerfile(f, d); built != nil {
				f.edge(deploys, uint32(i+1), resolve.FileKey(built.path()), declared, d.Start)
			}
		}
		for _, r := range f.References {
			n.reference(f, r)
		}
		f.routes()
	}
}

// dockerfile is what a declaration's build folder is built by.
func (n *infra) dockerfile(f *file, d *recountv1.Declaration) *file {
	context := d.Attributes["build"]
	if context == "" {
		return nil
	}
	name := d.Attributes["dockerfile"]
	if name == "" {
		name = "Dockerfile"
	}
	built := n.byPath[slash.Join(dir(f.path()), context, name)]
	if built == nil || built.File.Language != "dockerfile" {
		return nil
	}
	return built
}

// imageName is an image's name without its registry's tag or digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// reference makes the edge of a reference.
func (n *infra) reference(f *file, r *recountv1.Reference) {
	kind, rest, special := strings.Cut(r.Path, ":")
	switch {
	case r.Edge == executes:
		f.external(r.Edge, r.In, "", "process", r.Path, declared, r.At)
	case special && kind == "env":
		f.external(r.Edge, r.In, "", "env", rest, declared, r.At)
	case special && kind == "secret":
		f.external(r.Edge, r.In, "", "secret", rest, declared, r.At)
	case special && kind == "action":
		f.external(r.Edge, r.In, "", "action", rest, declared, r.At)
	case special && kind == "image":
		n.image(f, r, rest)
	case special && kind == "file":
		n.file(f, r, rest)
	case r.Path == "selector":
		n.selected(f, r)
	case r.Attributes["host"] != "":
		n.host(f, r)
	default:
		n.named(f, r)
	}
}

// image leads to the stage or the Dockerfile that an image is, and to its name.
func (n *infra) image(f *file, r *recountv1.Reference, image string) {
	if f.File.Language == "dockerfile" {
		for i, d := range f.Declarations {
			if d.Name == image && uint32(i+1) < r.In || d.Name == "stage "+image && uint32(i+1) < r.In {
				f.edge(r.Edge, r.In, f.names.Keys[i], declared, r.At)
				return
			}
		}
	}
	name := imageName(image)
	f.external(r.Edge, r.In, "", "image", name, declared, r.At)
	if r.Edge != deploys || r.In > 0 && f.Declarations[r.In-1].Attributes["build"] != "" {
		return
	}
	if built := n.builds[name]; len(built) > 0 {
		if one := nearest(f, built, func(b *file) string { return b.path() }); one != nil {
			f.edge(deploys, r.In, resolve.FileKey((*one).path()), scopeResolved, r.At)
		}
		return
	}
	if strings.ContainsAny(name, ".$") && !ownRegistry(name) {
		return
	}
	// An image is often called as the folder that it is built from.
	if built := n.byDir[base(name)]; len(built) == 1 {
		f.edge(deploys, r.In, resolve.FileKey(built[0].path()), nameMatched, r.At)
	}
}

// ownRegistry reports whether an image's registry is one that holds projects' own
// images, and not a public collection.
func ownRegistry(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	for _, suffix := range []string{"gcr.io", "pkg.dev", "amazonaws.com", "azurecr.io", "ghcr.io"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// file leads to a file of a path: from the repository's root with a slash before it.
// A folder stands for the file in it that describes it.
func (n *infra) file(f *file, r *recountv1.Reference, path string) {
	p := slash.Join(dir(f.path()), path)
	if rooted, ok := strings.CutPrefix(path, "/"); ok {
		p = slash.Clean(rooted)
	}
	for _, at := range []string{p, p + "/kustomization.yaml", p + "/kustomization.yml", p + "/action.yml", p + "/action.yaml"} {
		if to := n.byPath[at]; to != nil {
			if to != f || r.In > 0 {
				f.edge(r.Edge, r.In, resolve.FileKey(to.path()), declared, r.At)
			}
			return
		}
	}
	f.unresolved(r.Edge, r.In, path, r.At)
}

// named leads to what a name declares. What configures stands at the other end: the
// edge begins there.
func (n *infra) named(f *file, r *recountv1.Reference) {
	if f.File.Language == "github-actions" || f.File.Language == "compose" || f.File.Language == "cloudformation" || f.File.Language == "serverless" {
		for _, p := range n.byName[langName{f.File.Language, r.Path}] {
			if p.f == f {
				n.join(f, r, p, declared)
				return
			}
		}
		f.unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	p, how := n.nearest(f, r, n.byName[langName{f.File.Language, r.Path}])
	if p == nil {
		f.unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	n.join(f, r, *p, how)
}

// join makes the edge of a reference to a declaration.
func (n *infra) join(f *file, r *recountv1.Reference, to place, how recountv1.Provenance) {
	reads := strings.HasPrefix(r.Path, "ConfigMap/") || strings.HasPrefix(r.Path, "Secret/") || strings.HasPrefix(r.Path, "configs/") || strings.HasPrefix(r.Path, "secrets/")
	if r.Edge != configures || !reads {
		f.edge(r.Edge, r.In, to.f.names.Keys[to.i], how, r.At)
		return
	}
	at := r.At
	if to.f != f {
		at = nil // an edge's sites are places of the file that it begins in
	}
	to.f.edge(r.Edge, uint32(to.i+1), f.key(r.In), how, at)
}

// nearest is the one declaration that stands nearest to a reference, in a namespace
// that may be the wanted one.
func (n *infra) nearest(f *file, r *recountv1.Reference, all []place) (*place, recountv1.Provenance) {
	wanted := r.Attributes["namespace"]
	var fit []place
	for _, p := range all {
		if ns := p.f.Declarations[p.i].Attributes["namespace"]; ns == wanted || ns == "" || wanted == "" {
			fit = append(fit, p)
		}
	}
	one := nearest(f, fit, func(p place) string { return p.f.path() })
	if one == nil {
		return nil, 0
	}
	return one, known(f, one.f)
}

// known says how a name is known that a file has of another: by more than the name
// where they stand in one directory.
func known(f, to *file) recountv1.Provenance {
	if dir(f.path()) == dir(to.path()) {
		return scopeResolved
	}
	return nameMatched
}

// nearest is the one of several that stands nearest to a file; nil where several do.
func nearest[T any](f *file, all []T, path func(T) string) *T {
	best, times := -1, 0
	var one *T
	for i := range all {
		p := path(all[i])
		near := sharedDirs(p, f.path()) * 4
		switch {
		case p == f.path():
			near += 3
		case dir(p) == dir(f.path()):
			near += 2
		}
		if near > best {
			best, times, one = near, 0, &all[i]
		}
		if near == best {
			times++
		}
	}
	if times != 1 {
		return nil
	}
	return one
}

// selected leads to the workloads that have all labels of a selector, in the nearest
// directory that has some.
func (n *infra) selected(f *file, r *recountv1.Reference) {
	wanted := strings.Split(r.Attributes["labels"], ",")
	var fit []place
	best := -1
	for _, p := range n.byLabel[wanted[0]] {
		d := p.f.Declarations[p.i]
		if ns := d.Attributes["namespace"]; ns != r.Attributes["namespace"] && ns != "" && r.Attributes["namespace"] != "" {
			continue
		}
		have := "," + d.Attributes["labels"] + ","
		all := true
		for _, l := range wanted {
			all = all && strings.Contains(have, ","+l+",")
		}
		if !all {
			continue
		}
		near := sharedDirs(p.f.path(), f.path()) * 2
		if dir(p.f.path()) == dir(f.path()) {
			near++
		}
		if p.f == f {
			near = 1 << 20
		}
		if near > best {
			best, fit = near, nil
		}
		if near == best {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 || len(fit) > maxSelected {
		f.unresolved(r.Edge, r.In, "selector "+r.Attributes["labels"], r.At)
		return
	}
	for _, p := range fit {
		f.edge(r.Edge, r.In, p.f.names.Keys[p.i], known(f, p.f), r.At)
	}
}

// maxSelected is how many workloads a selector leads to at most.
const maxSelected = 64

// host leads to the service that a variable's value has as its host, if there is one.
func (n *infra) host(f *file, r *recountv1.Reference) {
	name := r.Path
	if f.File.Language == "kubernetes" {
		name = "Service/" + name
	}
	if p, _ := n.nearest(f, r, n.byName[langName{f.File.Language, name}]); p != nil && p.f.names.Keys[p.i] != f.key(r.In) {
		f.edge(r.Edge, r.In, p.f.names.Keys[p.i], nameMatched, r.At)
	}
}

const (
	dependsOn  = recountv1.EdgeKind_EDGE_KIND_DEPENDS_ON
	deploys    = recountv1.EdgeKind_EDGE_KIND_DEPLOYS
	configures = recountv1.EdgeKind_EDGE_KIND_CONFIGURES
	executes   = recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS
)
