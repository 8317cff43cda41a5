package rust

import "strings"

// tomlFile is the part of a Cargo.toml that names crates and their paths: single values and
// inline tables on one line, by section. The tables of an array are separate sections.
type tomlFile struct{ sections []tomlSection }

type tomlSection struct {
	name   string
	keys   []string
	values map[string]string
}

func parseTOML(content []byte) tomlFile {
	t := tomlFile{[]tomlSection{{values: map[string]string{}}}}
	for line := range strings.SplitSeq(string(content), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if strings.HasPrefix(line, "[") {
			if end := strings.IndexByte(line, ']'); end > 0 {
				name := strings.Trim(line[:end], "[] ")
				t.sections = append(t.sections, tomlSection{name: name, values: map[string]string{}})
				continue
			}
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		s := &t.sections[len(t.sections)-1]
		key = strings.Trim(strings.TrimSpace(key), `"'`)
		if _, twice := s.values[key]; !twice {
			s.keys = append(s.keys, key)
		}
		s.values[key] = strings.TrimSpace(value)
	}
	return t
}

// unquote returns the string at the beginning of a value.
func unquote(value string) string {
	if len(value) < 2 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	text, _, _ := strings.Cut(value[1:], value[:1])
	return text
}

// text returns a string of a section.
func (t tomlFile) text(section, key string) string {
	for _, s := range t.sections {
		if s.name == section && s.values[key] != "" {
			return unquote(s.values[key])
		}
	}
	return ""
}

// lists returns the strings of a key in all tables of an array.
func (t tomlFile) lists(section, key string) []string {
	var all []string
	for _, s := range t.sections {
		if s.name == section && s.values[key] != "" {
			all = append(all, unquote(s.values[key]))
		}
	}
	return all
}

// dependencies returns the packages that a section names, including those for some targets only,
// by the names that the crate uses for them.
func (t tomlFile) dependencies(section string) map[string]string {
	all := map[string]string{}
	for _, s := range t.sections {
		if s.name == section || strings.HasPrefix(s.name, "target.") && strings.HasSuffix(s.name, "."+section) {
			for _, key := range s.keys {
				name, rest, _ := strings.Cut(key, ".")
				to := name
				if rest == "package" {
					to = unquote(s.values[key])
				} else if _, after, ok := strings.Cut(s.values[key], "package"); ok {
					if p := unquote(strings.TrimLeft(after, " =\t")); p != "" {
						to = p
					}
				}
				if all[name] == "" || to != name {
					all[name] = to
				}
			}
		} else if name, ok := strings.CutPrefix(s.name, section+"."); ok {
			all[name] = name
			if p := unquote(s.values["package"]); p != "" {
				all[name] = p
			}
		}
	}
	return all
}
