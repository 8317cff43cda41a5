package yaml

import (
	slash "path"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NewResolver returns the resolver of what describes how software is run: Kubernetes,
// Compose, GitHub Actions, CloudFormation, Serverless and Dockerfiles. Its edges mean:
//
//	deploys     workload, service, function → the Dockerfile that its image is built
//	            from, and the image, an external of the package "image"
//	exposes     Service → the workloads that have its labels; Ingress, route → Service
//	configures  ConfigMap, Secret → what reads it; policy → what it selects; what sets
//	            an environment variable → the variable, an external of "env"
//	depends_on  a declared dependency; a base image; the Service that is the host in
//	            the value of a variable
//	executes_process, reads_env
//	            externals of "process" and "secret"
//
// A repository often contains a manifest several times, as a base and as a release. A name
// means the nearest declaration: in the file, in its directory, or in the directory that
// shares the most of its path; of several that are equally near, none. What is found in
// another directory is known by its name alone.
func NewResolver() resolve.Resolver {
	return formats.New("infra/4", []string{"kubernetes", "compose", "github-actions", "cloudformation", "serverless", "dockerfile", "dotenv"}, linkInfra)
}

// infra is what the files of a snapshot declare.
type infra struct {
	*formats.Snapshot
	// byName has the declarations by language and name.
	byName map[langName][]formats.Place
	// byLabel has the workloads by label, "k=v".
	byLabel map[string][]formats.Place
	// builds has the Dockerfiles of images, byDir those of directories.
	builds map[string][]*formats.File
	byDir  map[string][]*formats.File
	// parts has the files that a service of Serverless includes, with the folder of the service.
	parts map[*formats.File]string
}

type langName struct{ language, name string }

func linkInfra(s *formats.Snapshot) {
	n := &infra{s, map[langName][]formats.Place{}, map[string][]formats.Place{}, map[string][]*formats.File{}, map[string][]*formats.File{}, map[*formats.File]string{}}
	n.include()
	for _, f := range s.Files {
		if f.File.Language == "dockerfile" {
			n.byDir[formats.Base(formats.Dir(f.Path()))] = append(n.byDir[formats.Base(formats.Dir(f.Path()))], f)
		}
		for i, d := range f.Declarations {
			if d.Owner == 0 || f.File.Language != "github-actions" {
				at := langName{f.File.Language, d.Name}
				n.byName[at] = append(n.byName[at], formats.Place{File: f, Index: i})
			}
			if labels := d.Attributes["labels"]; labels != "" {
				for _, l := range strings.Split(labels, ",") {
					n.byLabel[l] = append(n.byLabel[l], formats.Place{File: f, Index: i})
				}
			}
		}
	}
	for _, f := range s.Files {
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
	for _, f := range s.Files {
		for i, d := range f.Declarations {
			if built := n.dockerfile(f, d); built != nil {
				f.Edge(deploys, uint32(i+1), resolve.FileKey(built.Path()), formats.Declared, d.Start)
			}
		}
		for _, r := range f.References {
			n.reference(f, r)
		}
		if folder, ok := n.serves(f); ok {
			f.AddRoutes(folder)
		}
	}
}

// serves returns the folder in which the handlers of a file's routes are: its own, but that of the service of Serverless
// for a file that the service includes. ok is false if none does, and for a service of tests beside others.
func (n *infra) serves(f *formats.File) (folder string, ok bool) {
	if f.File.Language != "serverless" {
		return formats.Dir(f.Path()), true
	}
	if f.Package != "" {
		return formats.Dir(f.Path()), !testFolder.MatchString(f.Path()) || !slices.ContainsFunc(n.Files, func(o *formats.File) bool {
			return o.File.Language == "serverless" && o.Package != "" && !testFolder.MatchString(o.Path())
		})
	}
	folder, ok = n.parts[f]
	return folder, ok
}

// testFolder matches the paths of files in a folder of tests.
var testFolder = regexp.MustCompile(`(^|/)(tests?|__tests__|e2e)/`)

// include notes the files that the services of Serverless include, and those that such files do. Their paths begin in the
// folder of the service.
func (n *infra) include() {
	type part struct {
		of     *formats.File
		folder string
	}
	var open []part
	for _, f := range n.Files {
		if f.File.Language == "serverless" && f.Package != "" {
			open = append(open, part{f, formats.Dir(f.Path())})
		}
	}
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		for _, r := range at.of.References {
			path, ok := strings.CutPrefix(r.Path, includePath)
			if !ok {
				continue
			}
			path = slash.Join(at.folder, path)
			for _, f := range n.Files {
				if matches, err := slash.Match(path, f.Path()); err != nil || !matches || f.File.Language != "serverless" || f.Package != "" {
					continue
				}
				if _, before := n.parts[f]; !before {
					n.parts[f] = at.folder
					open = append(open, part{f, at.folder})
				}
			}
		}
	}
}

// dockerfile returns the Dockerfile that a declaration's build folder is built by, nil if there
// is none.
func (n *infra) dockerfile(f *formats.File, d *recountv1.Declaration) *formats.File {
	context := d.Attributes["build"]
	if context == "" {
		return nil
	}
	name := d.Attributes["dockerfile"]
	if name == "" {
		name = "Dockerfile"
	}
	if f.File.Language == "compose" {
		context, name = n.substituted(f, context), n.substituted(f, name)
	}
	built := n.ByPath[slash.Join(formats.Dir(f.Path()), context, name)]
	if built == nil || built.File.Language != "dockerfile" {
		return nil
	}
	return built
}

// substituted returns a text of a Compose file with its variables replaced: by the .env file beside
// it, or by their defaults.
func (n *infra) substituted(f *formats.File, text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	env := n.ByPath[slash.Join(formats.Dir(f.Path()), ".env")]
	return variable.ReplaceAllStringFunc(text, func(use string) string {
		m := variable.FindStringSubmatch(use)
		if env != nil {
			for _, d := range env.Declarations {
				if d.Name == m[1]+m[3] {
					return d.Attributes["path"]
				}
			}
		}
		return m[2]
	})
}

// imageName returns the name of an image without its tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// reference makes the edge of a reference.
func (n *infra) reference(f *formats.File, r *recountv1.Reference) {
	kind, rest, special := strings.Cut(r.Path, ":")
	switch {
	case r.Edge == executes:
		f.External(r.Edge, r.In, "", "process", r.Path, formats.Declared, r.At)
	case special && kind == "env":
		f.External(r.Edge, r.In, "", "env", rest, formats.Declared, r.At)
	case special && kind == "secret":
		f.External(r.Edge, r.In, "", "secret", rest, formats.Declared, r.At)
	case special && kind == "action":
		f.External(r.Edge, r.In, "", "action", rest, formats.Declared, r.At)
	case special && kind == "image":
		n.image(f, r, rest)
	case special && kind == "include":
		for _, to := range n.Files {
			if folder, ok := n.parts[to]; ok {
				if matches, err := slash.Match(slash.Join(folder, rest), to.Path()); err == nil && matches && to != f {
					f.Edge(r.Edge, r.In, resolve.FileKey(to.Path()), formats.Declared, r.At)
				}
			}
		}
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

// image makes the edges to the stage or the Dockerfile that an image is built by, and to the name
// of the image.
func (n *infra) image(f *formats.File, r *recountv1.Reference, image string) {
	if f.File.Language == "dockerfile" {
		for i, d := range f.Declarations {
			if d.Name == image && uint32(i+1) < r.In || d.Name == "stage "+image && uint32(i+1) < r.In {
				f.Edge(r.Edge, r.In, f.Names.Keys[i], formats.Declared, r.At)
				return
			}
		}
	}
	name := imageName(image)
	f.External(r.Edge, r.In, "", "image", name, formats.Declared, r.At)
	if r.Edge != deploys || r.In > 0 && f.Declarations[r.In-1].Attributes["build"] != "" {
		return
	}
	if built := n.builds[name]; len(built) > 0 {
		if one := formats.Nearest(f, built, func(b *formats.File) string { return b.Path() }); one != nil {
			f.Edge(deploys, r.In, resolve.FileKey((*one).Path()), formats.ScopeResolved, r.At)
		}
		return
	}
	if strings.ContainsAny(name, ".$") && !ownRegistry(name) {
		return
	}
	// An image often has the name of the folder that it is built from.
	if built := n.byDir[formats.Base(name)]; len(built) == 1 {
		f.Edge(deploys, r.In, resolve.FileKey(built[0].Path()), formats.NameMatched, r.At)
	}
}

// ownRegistry reports whether the registry of an image is one where projects keep their own
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

// file makes the edge to the file of a path, which starts at the root of the repository if it
// begins with a slash. A folder means the file in it that describes it.
func (n *infra) file(f *formats.File, r *recountv1.Reference, path string) {
	p := slash.Join(formats.Dir(f.Path()), path)
	if rooted, ok := strings.CutPrefix(path, "/"); ok {
		p = slash.Clean(rooted)
	}
	for _, at := range []string{p, p + "/kustomization.yaml", p + "/kustomization.yml", p + "/action.yml", p + "/action.yaml"} {
		if to := n.ByPath[at]; to != nil {
			if to != f || r.In > 0 {
				f.Edge(r.Edge, r.In, resolve.FileKey(to.Path()), formats.Declared, r.At)
			}
			return
		}
	}
	f.Unresolved(r.Edge, r.In, path, r.At)
}

// named makes the edge to what a name declares, or, if that configures f, the edge from it.
func (n *infra) named(f *formats.File, r *recountv1.Reference) {
	if f.File.Language == "github-actions" || f.File.Language == "compose" || f.File.Language == "cloudformation" || f.File.Language == "serverless" {
		for _, p := range n.byName[langName{f.File.Language, r.Path}] {
			if p.File == f {
				n.join(f, r, p, formats.Declared)
				return
			}
		}
		f.Unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	p, how := n.nearest(f, r, n.byName[langName{f.File.Language, r.Path}])
	if p == nil {
		f.Unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	n.join(f, r, *p, how)
}

// join makes the edge between a reference and a declaration.
func (n *infra) join(f *formats.File, r *recountv1.Reference, to formats.Place, how recountv1.Provenance) {
	reads := strings.HasPrefix(r.Path, "ConfigMap/") || strings.HasPrefix(r.Path, "Secret/") || strings.HasPrefix(r.Path, "configs/") || strings.HasPrefix(r.Path, "secrets/")
	if r.Edge != configures || !reads {
		f.Edge(r.Edge, r.In, to.File.Names.Keys[to.Index], how, r.At)
		return
	}
	at := r.At
	if to.File != f {
		at = nil // the sites of an edge are places in the file where it begins
	}
	to.File.Edge(r.Edge, uint32(to.Index+1), f.Key(r.In), how, at)
}

// nearest returns the declaration that is nearest to a reference, leaving out other namespaces.
func (n *infra) nearest(f *formats.File, r *recountv1.Reference, all []formats.Place) (*formats.Place, recountv1.Provenance) {
	wanted := r.Attributes["namespace"]
	var fit []formats.Place
	for _, p := range all {
		if ns := p.File.Declarations[p.Index].Attributes["namespace"]; ns == wanted || ns == "" || wanted == "" {
			fit = append(fit, p)
		}
	}
	one := formats.Nearest(f, fit, func(p formats.Place) string { return p.File.Path() })
	if one == nil {
		return nil, 0
	}
	return one, formats.HowKnown(f, one.File)
}

// selected makes the edges to the workloads that have all labels of a selector, in the nearest
// directory that has some.
func (n *infra) selected(f *formats.File, r *recountv1.Reference) {
	wanted := strings.Split(r.Attributes["labels"], ",")
	var fit []formats.Place
	best := -1
	for _, p := range n.byLabel[wanted[0]] {
		d := p.File.Declarations[p.Index]
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
		near := formats.SharedDirs(p.File.Path(), f.Path()) * 2
		if formats.Dir(p.File.Path()) == formats.Dir(f.Path()) {
			near++
		}
		if p.File == f {
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
		f.Unresolved(r.Edge, r.In, "selector "+r.Attributes["labels"], r.At)
		return
	}
	for _, p := range fit {
		f.Edge(r.Edge, r.In, p.File.Names.Keys[p.Index], formats.HowKnown(f, p.File), r.At)
	}
}

// maxSelected is the maximum number of workloads that a selector leads to.
const maxSelected = 64

// host makes the edge to the service that is the host in the value of a variable, if there is
// one.
func (n *infra) host(f *formats.File, r *recountv1.Reference) {
	name := r.Path
	if f.File.Language == "kubernetes" {
		name = "Service/" + name
	}
	if p, _ := n.nearest(f, r, n.byName[langName{f.File.Language, name}]); p != nil && p.File.Names.Keys[p.Index] != f.Key(r.In) {
		f.Edge(r.Edge, r.In, p.File.Names.Keys[p.Index], formats.NameMatched, r.At)
	}
}

const (
	deploys    = recountv1.EdgeKind_EDGE_KIND_DEPLOYS
	configures = recountv1.EdgeKind_EDGE_KIND_CONFIGURES
	executes   = recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS
)
