package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// scopeKinds are the kinds of names that restrict an answer, in the order in which they are read.
var scopeKinds = []string{"agent", "session"}

// scopeNames returns a text without its words agent:NAME and session:NAME, and the names by kind.
func scopeNames(text string) (rest string, names map[string][]string) {
	names = map[string][]string{}
	var kept []string
	for _, word := range strings.Fields(text) {
		kind, name, _ := strings.Cut(trimName(word), ":")
		if kind = strings.ToLower(kind); name == "" || !slices.Contains(scopeKinds, kind) {
			kept = append(kept, word)
			continue
		}
		if !slices.Contains(names[kind], name) {
			names[kind] = append(names[kind], name)
		}
	}
	if len(names) == 0 {
		return text, names
	}
	return strings.Join(kept, " "), names
}

// limitScope makes filters of agent:NAME and session:NAME in the text; the rest of the text is what is
// searched for. It returns why nothing can match, if the names contradict each other or the request.
func (a *session) limitScope() (impossible string) {
	rest, names := scopeNames(a.r.Text)
	a.r.Text, a.refs = rest, readRefs(rest)
	if len(names) == 0 {
		return ""
	}
	s := Step{Operator: "scope", Why: "the text names whose objects it is about", Inputs: map[string]string{}}
	for _, kind := range scopeKinds {
		into := map[string]*string{"agent": &a.r.Scope.Agent, "session": &a.r.Scope.Session}[kind]
		for _, name := range names[kind] {
			switch {
			case *into == "":
				*into = name
				s.Inputs[kind] = name
			case *into != name && impossible == "":
				impossible = fmt.Sprintf("every object has one %s, but both %s and %s were asked for: ask about one of them", kind, *into, name)
			}
		}
	}
	a.Step(s)
	return impossible
}
