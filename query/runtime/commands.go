package runtime

import (
	"cmp"
	"slices"
	"strings"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
)

// maxCommands is the maximum number of commands of a category that are examined.
const maxCommands = 50

// commands returns the newest commands of a category, or of all for "", in a time range, the newest
// first.
func (a *session) commands(category string, from, until time.Time, most int) ([]commands.Intent, error) {
	r, err := commands.Find(a.Ctx, a.s.Commands, commands.FindRequest{
		Filters: commands.Filters{Category: category, Since: from, Until: until}, Limit: most, Repeats: true,
	})
	if err != nil {
		return nil, err
	}
	a.rest(r.Watermark)
	step := query.Step{
		Operator: "commands",
		Inputs:   map[string]string{"category": category, "from": from.UTC().Format(time.RFC3339), "until": until.UTC().Format(time.RFC3339)},
		Counts:   map[string]int64{"commands": int64(len(r.Hits))},
	}
	var all []commands.Intent
	for _, h := range r.Hits {
		if all = append(all, h.Intent); len(step.Hits) == maxHits {
			continue
		}
		step.Hits = append(step.Hits, query.Evidence{Position: h.Position})
	}
	a.Step(step)
	a.RecordTime(strings.TrimSpace("commands " + category))
	slices.SortStableFunc(all, func(x, y commands.Intent) int {
		return cmp.Or(y.Time.Compare(x.Time), x.Position.Compare(y.Position))
	})
	return all, nil
}

// about describes how a command concerns a service: it names the service, or it ran in a folder
// with the name of the service's repository. It returns "" if neither holds.
func about(in commands.Intent, service string, home *Home) string {
	switch {
	case hasWord(in.Command, service):
		return "names " + service
	case home == nil:
	case home.Dir != "" && hasWord(in.Command, last(home.Dir)):
		return "names " + last(home.Dir)
	case slices.Contains(strings.Split(in.Cwd, "/"), last(home.Repo)):
		return "ran in " + last(home.Repo)
	}
	return ""
}

// concerns describes how a command concerns one of the services, or returns "". A command that names
// another of them concerns that one alone.
func concerns(in commands.Intent, service string, services map[string]observed.Service, homeOf func(string) *Home) string {
	by := about(in, service, homeOf(service))
	if !strings.HasPrefix(by, "names ") && namesAnother(in.Command, service, services, homeOf) {
		return ""
	}
	return by
}

// namesAnother reports whether a command names another service, or the folder of one that is built
// from another folder.
func namesAnother(command, service string, services map[string]observed.Service, homeOf func(string) *Home) bool {
	home := homeOf(service)
	for other := range services {
		if other == service {
			continue
		}
		o := homeOf(other)
		elsewhere := o != nil && o.Dir != "" && (home == nil || o.Dir != home.Dir || o.Repo != home.Repo)
		if hasWord(command, other) || elsewhere && hasWord(command, last(o.Dir)) {
			return true
		}
	}
	return false
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// hasWord reports whether a text contains a name that is not adjacent to a letter or digit.
func hasWord(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(name)
		if (begin == 0 || !wordByte(text[begin-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = begin + 1
	}
	return false
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_'
}

// unrelated is how long before a trace a deploy that does not concern its service may be.
const unrelated = 7 * 24 * time.Hour

// deploys finds the deploy that a service ran with at a time: the newest one before it that
// concerns the service, else the newest in the week before that names no other service.
type deploys struct {
	all   []commands.Intent
	homes *homes
	known map[string]*commands.Intent
}

func (d *deploys) before(service string, at time.Time) *commands.Intent {
	if c, ok := d.known[service]; ok {
		return c
	}
	var found *commands.Intent
	for i := range d.all {
		c := &d.all[i]
		if !c.Time.Before(at) {
			continue
		}
		if concerns(*c, service, d.homes.observers, d.homes.homeOf) != "" {
			found = c
			break
		}
		if found == nil && at.Sub(c.Time) <= unrelated && !namesAnother(c.Command, service, d.homes.observers, d.homes.homeOf) {
			found = c
		}
	}
	d.known[service] = found
	return found
}

// brief returns the beginning of a command's first line.
func brief(command string) string {
	const most = 60
	line, _, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if r := []rune(line); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return line
}
