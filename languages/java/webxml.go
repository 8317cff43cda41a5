package java

import (
	"encoding/xml"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webXML matches the descriptor of a web application.
var webXML = regexp.MustCompile(`(^|/)WEB-INF/web\.xml$`)

// descriptor has the servlets and filters of a web.xml, and where they are mapped to.
type descriptor struct {
	Servlets []struct {
		Name  string `xml:"servlet-name"`
		Class string `xml:"servlet-class"`
	} `xml:"servlet"`
	Mappings []struct {
		Name     string   `xml:"servlet-name"`
		Patterns []string `xml:"url-pattern"`
	} `xml:"servlet-mapping"`
}

// mappings reads the prefixes that a web.xml gives to what the servlets of JAX-RS and Spring serve: /api of /api/*. It is
// unknown if they are mapped to several.
func mappings(src []byte, b *extract.Builder) {
	var d descriptor
	if xml.Unmarshal(src, &d) != nil {
		return
	}
	classes := map[string]string{}
	for _, s := range d.Servlets {
		classes[strings.TrimSpace(s.Name)] = strings.TrimSpace(s.Class)
	}
	prefixes := map[string][]string{}
	for _, m := range d.Mappings {
		name := strings.TrimSpace(m.Name)
		if framework := servletOf(name, classes[name]); framework != "" {
			for _, p := range m.Patterns {
				if prefix, all := strings.CutSuffix(strings.TrimSpace(p), "*"); all || prefix == "/" {
					prefixes[framework] = append(prefixes[framework], strings.TrimSuffix(prefix, "/"))
				}
			}
		}
	}
	for _, framework := range []string{"jax-rs", "spring"} {
		switch all := prefixes[framework]; {
		case len(all) == 1 && all[0] != "":
			b.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: all[0], Framework: framework}, 0)
		case len(all) > 1:
			b.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: "${}", Framework: framework}, 0)
		}
	}
}

// servletOf returns the framework whose servlet has a name and a class: that of JAX-RS may be named as the class of its
// application.
func servletOf(name, class string) string {
	for _, of := range []string{class, name} {
		switch of[strings.LastIndexByte(of, '.')+1:] {
		case "ServletContainer", "HttpServletDispatcher", "HttpServlet30Dispatcher", "CXFNonSpringJaxrsServlet":
			return "jax-rs"
		case "Application":
			if strings.HasSuffix(of, ".ws.rs.core.Application") {
				return "jax-rs"
			}
		case "DispatcherServlet":
			return "spring"
		}
	}
	return ""
}
