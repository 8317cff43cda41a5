package script

import (
	"encoding/json"
	"maps"
	slash "path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// config is what a tsconfig.json and those that it extends say of the places of modules.
type config struct {
	// base is the directory below which names are looked up, if based is set.
	base  string
	based bool
	paths []pathMapping
	// references has the configurations that one without settings of its own refers to.
	references []string
}

// pathMapping is an entry of "paths": a pattern with at most one star, and the paths below dir to
// try for it.
type pathMapping struct {
	pattern string
	targets []string
	dir     string
}

// readConfigs reads the configurations of a repository, by path.
func readConfigs(manifests []scope.Manifest) map[string]*config {
	files := map[string][]byte{}
	for _, m := range manifests {
		if slash.Base(m.Path) != "package.json" {
			files[m.Path] = m.Content
		}
	}
	all := map[string]*config{}
	for path := range files {
		all[path] = readConfig(files, path, 0)
	}
	return all
}

// readConfig reads a configuration and those that it extends. It returns nil if the file is
// missing or is no configuration.
func readConfig(files map[string][]byte, path string, depth int) *config {
	content, ok := files[path]
	if !ok || depth > scope.MaxDepth {
		return nil
	}
	var read struct {
		Extends  json.RawMessage
		Compiler struct {
			BaseURL *string `json:"baseUrl"`
			Paths   map[string][]string
		} `json:"compilerOptions"`
		References []struct{ Path string }
	}
	if json.Unmarshal(plainJSON(content), &read) != nil {
		return nil
	}
	c := &config{}
	dir := scope.DirOf(path)
	for _, of := range oneOrMore(read.Extends) {
		if !strings.HasPrefix(of, ".") {
			continue // it is in a package
		}
		up := readConfig(files, configPath(dir, of), depth+1)
		if up == nil {
			continue
		}
		if up.based {
			c.base, c.based = up.base, true
		}
		if up.paths != nil {
			c.paths = up.paths
		}
	}
	if read.Compiler.BaseURL != nil {
		c.base, c.based = slash.Join(dir, *read.Compiler.BaseURL), true
	}
	if read.Compiler.Paths != nil {
		from := dir
		if c.based {
			from = c.base
		}
		c.paths = nil
		for _, pattern := range slices.Sorted(maps.Keys(read.Compiler.Paths)) {
			c.paths = append(c.paths, pathMapping{pattern, read.Compiler.Paths[pattern], from})
		}
		// An exact name comes before patterns, and the pattern with the longest text before its
		// star comes first.
		slices.SortStableFunc(c.paths, func(a, b pathMapping) int { return b.weight() - a.weight() })
	}
	if !c.based && len(c.paths) == 0 {
		for _, r := range read.References {
			c.references = append(c.references, configPath(dir, r.Path), slash.Join(dir, r.Path, "tsconfig.json"))
		}
	}
	return c
}

func configPath(dir, of string) string {
	if !strings.HasSuffix(of, ".json") {
		of += ".json"
	}
	return slash.Join(dir, of)
}

// oneOrMore reads a string or a list of strings.
func oneOrMore(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var all []string
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

func (m pathMapping) weight() int {
	before, _, star := strings.Cut(m.pattern, "*")
	if !star {
		return 1 << 20
	}
	return len(before)
}

// matches returns what the star of a pattern stands for in a name.
func (m pathMapping) matches(name string) (star string, ok bool) {
	before, after, found := strings.Cut(m.pattern, "*")
	if !found {
		return "", name == m.pattern
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], true
}

// configOf returns the nearest configuration above a file.
func (l *layout) configOf(file string) *config {
	for dir := scope.DirOf(file); ; dir = scope.DirOf(dir) {
		for _, name := range []string{"tsconfig.json", "jsconfig.json"} {
			c := l.configs[slash.Join(dir, name)]
			if c == nil {
				continue
			}
			for _, other := range c.references {
				if o := l.configs[other]; o != nil && (o.based || len(o.paths) > 0) {
					return o
				}
			}
			return c
		}
		if dir == "" {
			return nil
		}
	}
}

// configured finds a name that is no relative path by the configuration. ours reports whether a
// pattern for names of the repository matches it.
func (l *layout) configured(from, name string) (place string, found, ours bool) {
	c := l.configOf(from)
	if c == nil {
		return "", false, false
	}
	for _, m := range c.paths {
		star, ok := m.matches(name)
		if !ok {
			continue
		}
		for _, target := range m.targets {
			if place, found = l.module(slash.Join(m.dir, strings.Replace(target, "*", star, 1))); found {
				return place, true, true
			}
		}
		ours = ours || m.pattern != "*"
		break
	}
	if c.based {
		place, found = l.file(slash.Join(c.base, name))
	}
	return place, found, found || ours
}

// plainJSON removes comments and trailing commas, which tsconfig.json may contain.
func plainJSON(content []byte) []byte {
	out := make([]byte, 0, len(content))
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			end := i + 1
			for end < len(content) && content[end] != '"' {
				if content[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(content))
			out = append(out, content[i:end]...)
			i = end - 1
		case c == '/' && i+1 < len(content) && content[i+1] == '/':
			for i < len(content) && content[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(content) && content[i+1] == '*':
			for i += 2; i < len(content) && (content[i] != '/' || content[i-1] != '*'); i++ {
			}
		case c == ']' || c == '}':
			end := len(out)
			for end > 0 && (out[end-1] <= ' ' || out[end-1] == ',') {
				end--
			}
			out = append(out[:end], c)
		default:
			out = append(out, c)
		}
	}
	return out
}
