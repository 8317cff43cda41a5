package yaml

import (
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Kubernetes: an object is a resource called Kind/name. Its references are paths of
// that form, with the namespace as an attribute; those of a selector are "selector",
// with the labels as an attribute. What it lays out as pods has their labels in the
// attribute "labels". Kustomizations and Skaffold's builds are of this form, too.

func isKubernetes(doc yamlMap) bool {
	if doc.text("kind") == "Kustomization" || strings.HasPrefix(doc.text("apiVersion"), "skaffold/") {
		return true
	}
	return doc.text("apiVersion") != "" && doc.text("kind") != ""
}

func (y *yamlFile) kubernetes(doc yamlMap) {
	kind, name := doc.text("kind"), doc.text("metadata", "name")
	switch {
	case strings.HasPrefix(doc.text("apiVersion"), "skaffold/"):
		y.skaffold(doc)
		return
	case kind == "Kustomization" || kind == "Component" && strings.HasPrefix(doc.text("apiVersion"), "kustomize.config.k8s.io"):
		y.kustomization(doc)
		return
	case kind == "List" || strings.HasSuffix(kind, "List") && doc.get("items") != nil:
		for _, m := range mapsIn(doc.get("items")) {
			if isKubernetes(m) {
				y.kubernetes(m)
			}
		}
		return
	case name == "":
		return // a patch or a set of values: it names no object
	}
	id := kind + "/" + name
	in, decl := y.declareNode(extract.KindResource, id, doc.text("apiVersion")+" "+id, 0, doc.key(), nil)
	namespace := doc.text("metadata", "namespace")
	decl.Attributes = map[string]string{"kind": extract.Clip(kind, extract.MaxValue), "api": extract.Clip(doc.text("apiVersion"), extract.MaxValue)}
	if namespace != "" {
		decl.Attributes["namespace"] = extract.Clip(namespace, extract.MaxValue)
	}
	o := &kubeObject{y, in, namespace}
	spec := doc.lookup("spec")
	switch kind {
	case "Pod":
		decl.Attributes["labels"] = labels(doc.lookup("metadata", "labels"))
		o.pod(spec)
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "ReplicationController":
		decl.Attributes["labels"] = labels(spec.lookup("template", "metadata", "labels"))
		o.pod(spec.lookup("template", "spec"))
	case "CronJob":
		template := spec.lookup("jobTemplate", "spec", "template")
		decl.Attributes["labels"] = labels(template.lookup("metadata", "labels"))
		o.pod(template.lookup("spec"))
	case "Service":
		o.selector(extract.Exposes, spec.get("selector"))
	case "Ingress":
		o.backends(spec)
	case "NetworkPolicy":
		o.selector(extract.Configures, spec.get("podSelector", "matchLabels"))
	case "PodDisruptionBudget":
		o.selector(extract.Configures, spec.get("selector", "matchLabels"))
	case "HorizontalPodAutoscaler":
		if target := spec.lookup("scaleTargetRef"); target.text("kind") != "" {
			o.refer(extract.Configures, target.text("kind"), target.get("name"), "")
		}
	case "RoleBinding", "ClusterRoleBinding":
		o.refer(extract.DependsOn, doc.text("roleRef", "kind"), doc.get("roleRef", "name"), "")
		for _, s := range mapsIn(doc.get("subjects")) {
			o.refer(extract.Configures, s.text("kind"), s.get("name"), s.text("namespace"))
		}
	case "VirtualService", "HTTPRoute", "GRPCRoute":
		o.destinations(doc.get("spec"))
	}
	if decl.Attributes["labels"] == "" {
		delete(decl.Attributes, "labels")
	}
}

// kubeObject is where the references of an object begin.
type kubeObject struct {
	*yamlFile
	in        uint32
	namespace string
}

func (o *kubeObject) attributes(namespace string) map[string]string {
	if namespace == "" {
		namespace = o.namespace
	}
	if namespace == "" {
		return nil
	}
	return map[string]string{"namespace": extract.Clip(namespace, extract.MaxValue)}
}

// refer refers to the object of a kind that a node names.
func (o *kubeObject) refer(edge recountv1.EdgeKind, kind string, name *yaml.Node, namespace string) {
	o.named(edge, kind, scalar(name), name, namespace)
}

func (o *kubeObject) named(edge recountv1.EdgeKind, kind, name string, at *yaml.Node, namespace string) {
	if name != "" && kind != "" {
		o.referTo(edge, o.in, kind+"/"+name, at, o.attributes(namespace))
	}
}

// selector refers to what has all the labels of a mapping.
func (o *kubeObject) selector(edge recountv1.EdgeKind, n *yaml.Node) {
	m, _ := mapOf(n)
	wanted := labels(m)
	if wanted == "" {
		return
	}
	attributes := map[string]string{"labels": wanted}
	if o.namespace != "" {
		attributes["namespace"] = extract.Clip(o.namespace, extract.MaxValue)
	}
	o.referTo(edge, o.in, "selector", n, attributes)
}

func (o *kubeObject) pod(spec yamlMap) {
	o.refer(extract.DependsOn, "ServiceAccount", spec.get("serviceAccountName"), "")
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range mapsIn(spec.get(list)) {
			if image := c.get("image"); scalar(image) != "" {
				o.referTo(extract.Deploys, o.in, extract.ImagePath+scalar(image), image, nil)
			}
			o.runs(o.in, c.get("command"))
			for _, e := range mapsIn(c.get("env")) {
				o.setVariable(o.in, e.text("name"), e.text("value"), e.get("name"))
				o.refer(extract.Configures, "ConfigMap", e.get("valueFrom", "configMapKeyRef", "name"), "")
				o.refer(extract.Configures, "Secret", e.get("valueFrom", "secretKeyRef", "name"), "")
			}
			for _, e := range mapsIn(c.get("envFrom")) {
				o.refer(extract.Configures, "ConfigMap", e.get("configMapRef", "name"), "")
				o.refer(extract.Configures, "Secret", e.get("secretRef", "name"), "")
			}
		}
	}
	for _, v := range mapsIn(spec.get("volumes")) {
		o.refer(extract.Configures, "ConfigMap", v.get("configMap", "name"), "")
		o.refer(extract.Configures, "Secret", v.get("secret", "secretName"), "")
		o.refer(extract.DependsOn, "PersistentVolumeClaim", v.get("persistentVolumeClaim", "claimName"), "")
		for _, s := range mapsIn(v.get("projected", "sources")) {
			o.refer(extract.Configures, "ConfigMap", s.get("configMap", "name"), "")
			o.refer(extract.Configures, "Secret", s.get("secret", "name"), "")
		}
	}
	for _, s := range mapsIn(spec.get("imagePullSecrets")) {
		o.refer(extract.Configures, "Secret", s.get("name"), "")
	}
}

// backends are the services of an Ingress, of either version.
func (o *kubeObject) backends(spec yamlMap) {
	backend := func(b yamlMap) {
		o.refer(extract.Exposes, "Service", b.get("service", "name"), "")
		o.refer(extract.Exposes, "Service", b.get("serviceName"), "")
	}
	backend(spec.lookup("defaultBackend"))
	backend(spec.lookup("backend"))
	for _, rule := range mapsIn(spec.get("rules")) {
		for _, path := range mapsIn(rule.get("http", "paths")) {
			backend(path.lookup("backend"))
		}
	}
	for _, t := range mapsIn(spec.get("tls")) {
		o.refer(extract.Configures, "Secret", t.get("secretName"), "")
	}
}

// destinations are the services that a mesh's or a gateway's routes lead to.
func (o *kubeObject) destinations(spec *yaml.Node) {
	walkYAML(spec, 0, func(n *yaml.Node) {
		m, ok := mapOf(n)
		if !ok {
			return
		}
		if host := m.get("destination", "host"); scalar(host) != "" {
			name, rest, _ := strings.Cut(scalar(host), ".")
			namespace, _, _ := strings.Cut(rest, ".")
			o.named(extract.Exposes, "Service", name, host, namespace)
		}
		for _, b := range mapsIn(m.get("backendRefs")) {
			if kind := b.text("kind"); kind == "" || kind == "Service" {
				o.refer(extract.Exposes, "Service", b.get("name"), b.text("namespace"))
			}
		}
	})
}

// kustomization names the files and folders that it unites.
func (y *yamlFile) kustomization(doc yamlMap) {
	kind := doc.text("kind")
	name := doc.text("metadata", "name")
	if name == "" {
		name = "kustomization"
	}
	in, decl := y.declareNode(extract.KindResource, kind+"/"+name, kind+" "+name, 0, doc.key(), nil)
	decl.Attributes = map[string]string{"kind": kind}
	for _, list := range []string{"resources", "bases", "components", "patchesStrategicMerge", "crds", "configurations"} {
		for _, c := range items(doc.get(list)) {
			if path := scalar(c); path != "" && !strings.Contains(path, "\n") {
				y.referTo(extract.DependsOn, in, extract.FilePath+path, c, nil)
			}
		}
	}
	for _, list := range []string{"patches", "patchesJson6902"} {
		for _, p := range mapsIn(doc.get(list)) {
			if path := p.get("path"); scalar(path) != "" {
				y.referTo(extract.DependsOn, in, extract.FilePath+scalar(path), path, nil)
			}
		}
	}
}

// skaffold says which folder each image is built from.
func (y *yamlFile) skaffold(doc yamlMap) {
	for _, a := range mapsIn(doc.get("build", "artifacts")) {
		image := a.text("image")
		if image == "" {
			continue
		}
		in, decl := y.declareNode(extract.KindResource, "Artifact/"+image, "artifact "+image, 0, a.key(), nil)
		decl.End = y.Place(y.offset(a.get("image")) + uint32(len(image)))
		context := a.text("context")
		if context == "" {
			context = "."
		}
		decl.Attributes = map[string]string{"kind": "Artifact", "image": extract.Clip(image, extract.MaxValue), "build": extract.Clip(context, extract.MaxValue)}
		if f := a.text("docker", "dockerfile"); f != "" {
			decl.Attributes["dockerfile"] = extract.Clip(f, extract.MaxValue)
		}
		y.referTo(extract.Deploys, in, extract.ImagePath+image, a.get("image"), nil)
	}
	for _, c := range items(doc.get("manifests", "rawYaml")) {
		y.referTo(extract.DependsOn, 0, extract.FilePath+scalar(c), c, nil)
	}
	for _, c := range items(doc.get("manifests", "kustomize", "paths")) {
		y.referTo(extract.DependsOn, 0, extract.FilePath+scalar(c), c, nil)
	}
}

// labels are a mapping as "k=v,k=v", by key.
func labels(m yamlMap) string {
	var all []string
	for _, e := range m.entries {
		if v := scalar(e.value); v != "" && !strings.ContainsAny(e.name+v, ",=") {
			all = append(all, e.name+"="+v)
		}
	}
	sort.Strings(all)
	return extract.Clip(strings.Join(all, ","), extract.MaxValue)
}
