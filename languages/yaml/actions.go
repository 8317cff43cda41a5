package yaml

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// GitHub Actions: workflows with their jobs and steps, and actions of their own. A
// step is called by its id, its name, or its number.

func isActions(doc yamlMap) bool {
	if doc.text("runs", "using") != "" {
		return true
	}
	if doc.get("on") == nil && doc.get("true") == nil {
		return false
	}
	for _, e := range doc.lookup("jobs").entries {
		if j, ok := mapOf(e.value); ok && (j.get("runs-on") != nil || j.get("steps") != nil || j.get("uses") != nil) {
			return true
		}
	}
	return false
}

const secretPath = "secret:"

func (y *yamlFile) actions(doc yamlMap) {
	y.Facts.Package = extract.Clip(extract.OneLine(doc.text("name")), extract.MaxName)
	y.setEnv(0, doc.get("env"))
	if doc.get("runs") != nil {
		y.steps(0, doc.get("runs", "steps"), nil)
	}
	for _, e := range doc.lookup("jobs").entries {
		job, ok := mapOf(e.value)
		if !ok {
			continue
		}
		end := e.end(doc, "jobs")
		in, decl := y.declareNode(recountv1.SymbolKind_SYMBOL_KIND_JOB, e.name, "job "+extract.FirstOf(job.text("name"), e.name), 0, e.key, end)
		if on := job.text("runs-on"); on != "" {
			decl.Attributes = map[string]string{"runs-on": extract.Clip(extract.OneLine(on), extract.MaxValue)}
		}
		for _, n := range append(items(job.get("needs")), job.get("needs")) {
			if scalar(n) != "" {
				y.referTo(extract.DependsOn, in, scalar(n), n, nil)
			}
		}
		y.uses(in, job.get("uses"))
		y.setEnv(in, job.get("env"))
		for _, image := range []*yaml.Node{job.get("container"), job.get("container", "image")} {
			if scalar(image) != "" {
				y.referTo(extract.DependsOn, in, extract.ImagePath+scalar(image), image, nil)
			}
		}
		for _, s := range job.lookup("services").entries {
			if m, ok := mapOf(s.value); ok && m.text("image") != "" {
				y.referTo(extract.DependsOn, in, extract.ImagePath+m.text("image"), m.get("image"), nil)
			}
		}
		y.steps(in, job.get("steps"), end)
		y.secrets(in, e.value)
	}
}

func (y *yamlFile) steps(in uint32, list, end *yaml.Node) {
	all := items(list)
	for i, n := range all {
		step, ok := mapOf(n)
		if !ok {
			continue
		}
		behind := end
		if i+1 < len(all) {
			behind = all[i+1]
		}
		name := extract.FirstOf(extract.FirstOf(step.text("id"), step.text("name")), fmt.Sprintf("step %d", i+1))
		inner, _ := y.declareNode(recountv1.SymbolKind_SYMBOL_KIND_STEP, name, strings.TrimSpace("step "+extract.FirstOf(step.text("name"), step.text("uses"))), in, n, behind)
		y.uses(inner, step.get("uses"))
		y.setEnv(inner, step.get("env"))
		y.runs(inner, step.get("run"))
	}
}

// uses refers to an action or a workflow: of the repository by its path, of
// elsewhere by its name without the version.
func (y *yamlFile) uses(in uint32, n *yaml.Node) {
	name, version, _ := strings.Cut(scalar(n), "@")
	switch {
	case name == "":
	case strings.HasPrefix(name, "./"):
		y.referTo(extract.DependsOn, in, extract.FilePath+"/"+strings.TrimPrefix(name, "./"), n, nil)
	case strings.HasPrefix(name, "docker://"):
		y.referTo(extract.DependsOn, in, extract.ImagePath+strings.TrimPrefix(scalar(n), "docker://"), n, nil)
	default:
		y.referTo(extract.DependsOn, in, "action:"+name, n, map[string]string{"version": extract.Clip(version, extract.MaxValue)})
	}
}

var secretUse = regexp.MustCompile(`\bsecrets\.([A-Za-z_][A-Za-z0-9_]*)`)

// secrets notes the repository's secrets that a job reads.
func (y *yamlFile) secrets(in uint32, job *yaml.Node) {
	walkYAML(job, 0, func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "${{") {
			return
		}
		for _, m := range secretUse.FindAllStringSubmatch(extract.Clip(n.Value, 8<<10), 16) {
			y.referTo(extract.ReadsEnv, in, secretPath+m[1], n, map[string]string{"variable": m[1]})
		}
	})
}
