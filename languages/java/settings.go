package java

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// settings reads application.properties and application.yml of Spring Boot, Quarkus and Micronaut, and web.xml: the prefixes
// that they give to all routes, and the settings that are paths, which mappings may name (${app.base}). No other values are kept: such
// files contain secrets.
var settings = extract.Language{Name: "settings", Version: 3, Matches: isSettings, Extract: func(content []byte, facts *recountv1.FileFacts) {
	if len(content) > extract.MaxParsed {
		facts.Skipped = "large: settings of more than 1 MiB"
		return
	}
	src, _ := extract.ValidText(content)
	b := extract.NewBuilder(facts, src)
	if webXML.MatchString(facts.Path) {
		mappings(src, b)
		return
	}
	all := propertiesIn(src)
	if !strings.HasSuffix(facts.Path, ".properties") {
		all = yamlSettings(src)
	}
	profile := ""
	if stem, _, _ := strings.Cut(extract.Base(facts.Path), "."); stem != "application" {
		profile = "profile"
	}
	outer := map[string]map[string]string{} // framework, key, value, of what holds in this profile
	for _, s := range all {
		if s.profile {
			note(b, "profile", s)
		} else if profile != "" {
			note(b, profile, s)
		} else {
			for _, framework := range prefixing[s.key] {
				if outer[framework] == nil {
					outer[framework] = map[string]string{}
				}
				outer[framework][s.key] = s.value
			}
		}
		if strings.HasPrefix(s.value, "/") && len(s.value) < 128 && !strings.ContainsAny(s.value, " ${}") {
			b.AddRoute(&recountv1.RouteFact{Group: true, Role: "setting", Handler: s.key, Pattern: s.value}, s.at)
		}
	}
	for _, framework := range []string{"spring", "jax-rs", "micronaut"} {
		path := ""
		for _, key := range prefixOrder {
			if value, ok := outer[framework][key]; ok {
				path = joined(path, value)
			}
		}
		if path != "" {
			b.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Method: scope.Outside, Pattern: path, Framework: framework}, 0)
		}
	}
}}

// note notes a prefix that holds in a profile only.
func note(b *extract.Builder, profile string, s setting) {
	for _, framework := range prefixing[s.key] {
		b.AddRoute(&recountv1.RouteFact{
			Group: true, Role: "app", Method: scope.Outside, Handler: profile, Pattern: joined("", s.value), Framework: framework,
		}, s.at)
	}
}

// joined returns a prefix with a setting after it; what is computed is unknown.
func joined(path, value string) string {
	if strings.Contains(value, "${") {
		return "${}"
	}
	if value = strings.Trim(value, "/"); value == "" {
		return path
	}
	return path + "/" + value
}

// prefixing has the settings that are prefixes, with the frameworks whose routes have them; prefixOrder has them from
// the outermost.
var (
	prefixing = map[string][]string{
		"server.servlet.context-path": {"spring", "jax-rs"}, "server.servlet.contextPath": {"spring", "jax-rs"}, "server.context-path": {"spring", "jax-rs"},
		"spring.webflux.base-path": {"spring"}, "spring.mvc.servlet.path": {"spring"}, "spring.jersey.application-path": {"jax-rs"},
		"micronaut.server.context-path": {"micronaut"}, "quarkus.http.root-path": {"jax-rs"}, "quarkus.rest.path": {"jax-rs"}, "quarkus.resteasy.path": {"jax-rs"}, "quarkus.resteasy-reactive.path": {"jax-rs"},
	}
	prefixOrder = []string{
		"server.servlet.context-path", "server.servlet.contextPath", "server.context-path", "quarkus.http.root-path", "micronaut.server.context-path",
		"spring.webflux.base-path", "spring.mvc.servlet.path", "spring.jersey.application-path",
		"quarkus.rest.path", "quarkus.resteasy.path", "quarkus.resteasy-reactive.path",
	}
	settingsName = regexp.MustCompile(`(^|/)(src/main/resources/(config/)?|config/)?application(-[A-Za-z0-9_-]+)?\.(properties|ya?ml)$`)
)

// isSettings reports whether a path is one of an application's settings, or its web.xml, and not those of its tests.
func isSettings(path string) bool {
	return (settingsName.MatchString(path) || webXML.MatchString(path)) && !strings.Contains("/"+path, "/src/test/")
}

// setting is a key with its value; profile is set if it holds in one only.
type setting struct {
	key, value string
	profile    bool
	at         uint32
}

// propertiesIn reads lines of key=value. A key that begins with %dev. holds in that profile of Quarkus.
func propertiesIn(src []byte) (all []setting) {
	at := uint32(0)
	profile := false
	for line := range bytes.Lines(src) {
		text := strings.TrimSpace(string(line))
		switch key, value, ok := cutAny(text, "=:"); {
		case strings.HasPrefix(text, "#---") || strings.HasPrefix(text, "!---"):
			profile = true
		case text == "" || text[0] == '#' || text[0] == '!' || !ok:
		default:
			one := setting{strings.TrimSpace(key), strings.TrimSpace(value), profile, at}
			if strings.HasPrefix(one.key, "%") {
				_, one.key, _ = strings.Cut(one.key, ".")
				one.profile = true
			}
			all = append(all, one)
		}
		at += uint32(len(line))
	}
	return all
}

func cutAny(s, separators string) (before, after string, found bool) {
	if i := strings.IndexAny(s, separators); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// yamlSettings reads the keys with plain values, nested by their indentation. Documents after the first are those of
// profiles, and so is what Quarkus has below "%dev".
func yamlSettings(src []byte) (all []setting) {
	type level struct {
		indent int
		key    string
	}
	var open []level
	at := uint32(0)
	profile, begun := false, false
	for line := range bytes.Lines(src) {
		raw := strings.TrimRight(string(line), " \t\r\n")
		text := strings.TrimLeft(raw, " ")
		here := at
		at += uint32(len(line))
		switch {
		case strings.HasPrefix(raw, "---"):
			profile, open = profile || begun, nil
			continue
		case text == "" || text[0] == '#' || text[0] == '-':
			continue
		}
		key, value, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		begun = true
		indent := len(raw) - len(text)
		for len(open) > 0 && open[len(open)-1].indent >= indent {
			open = open[:len(open)-1]
		}
		open = append(open, level{indent, strings.Trim(key, `"' `)})
		value, _, _ = strings.Cut(value, " #")
		if value = strings.Trim(strings.TrimSpace(value), `"'`); value == "" {
			continue
		}
		one := setting{value: value, profile: profile, at: here}
		for i, l := range open {
			if strings.HasPrefix(l.key, "%") {
				one.profile = true
			} else if one.key != "" && i > 0 {
				one.key += "." + l.key
			} else {
				one.key = l.key
			}
		}
		all = append(all, one)
	}
	return all
}
