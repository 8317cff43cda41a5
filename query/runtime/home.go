package runtime

import (
	"strings"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query/code"
)

// Home is the repository that a service is built from.
type Home struct {
	Repo string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Dir  string `json:"dir,omitempty" example:"src/carts" doc:"The folder that the service is built from, if that is known and is not the root."`
	Rule string `json:"rule" enum:"configured,vcs,manifest" example:"manifest" doc:"The rule that found it. configured: services in the configuration. vcs: the spans have vcs.repository.url.full. manifest: a Kubernetes or Compose workload has the service's name."`
	// Confidence is that of the rule.
	Confidence float64 `json:"confidence" example:"0.9" doc:"Confidence, 0 to 1."`
	Evidence   string  `json:"evidence" example:"k8s/carts.yaml:4" doc:"The evidence: the setting, the attribute's value, or the manifest's place."`
}

// These are the rules that assign a service to a repository.
const (
	ruleConfigured = "configured"
	ruleVCS        = "vcs"
	ruleManifest   = "manifest"
)

// holds reports whether a path of a repository belongs to the service.
func (h Home) holds(repo, path string) bool {
	return h.Repo == repo && (h.Dir == "" || strings.HasPrefix(path, h.Dir+"/"))
}

// homes finds the homes of services.
type homes struct {
	c          *code.Codebase
	configured map[string]string
	observers  map[string]observed.Service
	known      map[string]*Home
}

// homeOf returns a service's home, or nil if it is unknown or ambiguous. The rules are tried in order
// homeOf reliability.
func (h *homes) homeOf(service string) *Home {
	if home, ok := h.known[service]; ok {
		return home
	}
	var home *Home
	for _, rule := range []func(string) *Home{h.fromConfig, h.fromVCS, h.fromManifests} {
		if home = rule(service); home != nil {
			break
		}
	}
	if home != nil && home.Dir == "" && home.Rule != ruleManifest {
		// Several services may share a repository; a manifest may name the folder.
		if m := h.fromManifests(service); m != nil && m.Repo == home.Repo {
			home.Dir = m.Dir
		}
	}
	h.known[service] = home
	return home
}

func (h *homes) fromConfig(service string) *Home {
	where, ok := h.configured[service]
	if !ok {
		return nil
	}
	name, dir, _ := strings.Cut(where, ":")
	repo, ok := h.c.Repository(name)
	if !ok {
		return nil
	}
	return &Home{Repo: repo, Dir: strings.Trim(dir, "/"), Rule: ruleConfigured, Confidence: 1, Evidence: service + ": " + where}
}

// fromVCS returns the repository that the service's spans named last.
func (h *homes) fromVCS(service string) *Home {
	for _, o := range h.observers[service].Observers { // the latest first
		if repo, ok := h.c.Repository(o.Repository); ok && o.Repository != "" {
			return &Home{Repo: repo, Rule: ruleVCS, Confidence: 0.95, Evidence: o.Repository}
		}
	}
	return nil
}

// fromManifests returns the home of the workloads with the service's name, if they agree. A
// workload that names what it is built from takes precedence over one that does not.
func (h *homes) fromManifests(service string) *Home {
	var best *Home
	built := false
	for _, d := range h.c.Deployments(service) {
		home := Home{Repo: d.Repo, Dir: d.Dir, Rule: ruleManifest, Confidence: min(0.9, 0.4+d.Confidence/2), Evidence: d.Manifest}
		switch {
		case best == nil || d.Built && !built:
			best, built = &home, d.Built
		case d.Built == built && (best.Repo != home.Repo || best.Dir != home.Dir):
			return nil
		case d.Built == built && home.Confidence > best.Confidence:
			best = &home
		}
	}
	return best
}

func (h *homes) index(services []observed.Service) {
	h.observers = make(map[string]observed.Service, len(services))
	for _, s := range services {
		h.observers[s.Name] = s
	}
}
