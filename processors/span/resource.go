package span

import (
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	serviceName attr = iota
	serviceNamespace
	serviceVersion
	serviceInstance
	environment
	repository
	revision
	resourceAttrs
)

var resourcePlaces = index([][]string{
	serviceName:      {"service.name"},
	serviceNamespace: {"service.namespace"},
	serviceVersion:   {"service.version"},
	serviceInstance:  {"service.instance.id", "k8s.pod.name", "container.name", "container.id", "host.name"},
	environment:      {"deployment.environment.name", "deployment.environment"},
	repository:       {"vcs.repository.url.full", "vcs.repository.url", "git.repository_url"},
	revision:         {"vcs.ref.head.revision", "vcs.repository.ref.revision", "git.commit.sha"},
})

// identity is an Observer in a comparable form.
type identity [resourceAttrs]string

// naming reads a resource. Of several names for a service the one with the highest precedence
// counts.
type naming struct {
	id    identity
	ranks [resourceAttrs]uint8
}

func (n *naming) add(key string, v value) {
	p, known := resourcePlaces[key]
	if !known || n.id[p.attr] != "" && n.ranks[p.attr] <= p.rank {
		return
	}
	if s := strings.TrimSpace(v.asText()); s != "" {
		n.id[p.attr], n.ranks[p.attr] = clean(s, maxName), p.rank
	}
}

// identity returns the resource's identity, after all its attributes were read.
func (n *naming) identity() identity {
	id := n.id
	if id[serviceName] == "" {
		id[serviceName] = schemas.UnknownService
	}
	if url := id[repository]; url != "" {
		if !strings.Contains(url, ":") {
			url = "https://" + url // often given as github.com/acme/shop
		}
		id[repository] = clean(schemas.CanonicalURL(url), maxName)
	}
	if id[revision] = strings.ToLower(id[revision]); !isRevision(id[revision]) {
		id[revision] = ""
	}
	return id
}

// isRevision accepts git's object ids, including abbreviated ones.
func isRevision(s string) bool {
	if len(s) < 7 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func (id identity) observer() *recountv1.Observer {
	return &recountv1.Observer{
		Service: id[serviceName], Namespace: id[serviceNamespace], Version: id[serviceVersion],
		Instance: id[serviceInstance], Environment: id[environment],
		Repository: id[repository], Revision: id[revision],
	}
}
