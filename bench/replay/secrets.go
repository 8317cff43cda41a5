package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	placeholder = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)
	askedName   = regexp.MustCompile(`\$\{(RECOUNT_[A-Z0-9_]+)\}`)
)

// secrets returns what was redacted when the narrative was recorded, as NAME=VALUE: each under the name of the
// variable in which the plan asks for it, as a user gives it. The values are taken from the narrative's own text.
func (r *recorded) secrets() (env []string, err error) {
	p, err := r.planAs(r.env, "")
	if err != nil {
		return nil, err
	}
	text := map[string]string{}
	for i, h := range r.hits {
		text[h.ID.String()] = r.n.steps[i].text
	}
	given := map[string]string{}
	for _, s := range p.Steps {
		names := askedName.FindAllStringSubmatch(s.Command, -1)
		if len(names) == 0 {
			continue
		}
		var pattern strings.Builder
		at := 0
		for _, m := range placeholder.FindAllStringIndex(s.Original, -1) {
			pattern.WriteString(regexp.QuoteMeta(s.Original[at:m[0]]) + "(.+?)")
			at = m[1]
		}
		m := regexp.MustCompile("^(?s:" + pattern.String() + regexp.QuoteMeta(s.Original[at:]) + ")$").FindStringSubmatch(text[s.Intent.String()])
		if len(m) != len(names)+1 {
			return nil, fmt.Errorf("%s: %s: the plan asks for %d values, and %d were redacted", r.n.name, oneLine(s.Command), len(names), max(len(m)-1, 0))
		}
		for i, name := range names {
			if before, ok := given[name[1]]; ok && before != m[i+1] {
				given[fmt.Sprintf("%s_%d", name[1], s.Index+1)] = m[i+1] // another one, for this step alone
				continue
			}
			given[name[1]] = m[i+1]
		}
	}
	for name, value := range given {
		env = append(env, name+"="+value)
	}
	return env, nil
}
