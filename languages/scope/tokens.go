package scope

import (
	"regexp"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// tokens is what ASP.NET Core puts for [controller], [action] and [area] into the templates of routes.
type tokens struct {
	// transforms are the conventions that change what is put, transformers the classes that do, and named the
	// actions with another name than their method.
	transforms   []transform
	transformers map[*Decl]*recountv1.RouteFact
	named        map[*Decl]string
	roots        int // applications that are made
}

// transform is a convention that a file sets.
type transform struct {
	m *Module
	r *recountv1.RouteFact
}

func newTokens() tokens {
	return tokens{transformers: map[*Decl]*recountv1.RouteFact{}, named: map[*Decl]string{}}
}

// note notes what a fact says of tokens.
func (t *tokens) note(m *Module, r *recountv1.RouteFact) {
	switch d := m.Decl(r.In); {
	case r.Role == "transform" && !m.Test:
		t.transforms = append(t.transforms, transform{m, r})
	case r.Role == "transformer" && d != nil:
		t.transformers[d] = r
	case r.Role == "named" && d != nil:
		t.named[d] = r.Pattern
	}
}

// token matches a token; [area=X] is one whose text is said.
var token = regexp.MustCompile(`(?i)\[(controller|action|area=[^\]]*)\]`)

// spelled returns a path with its tokens replaced, unknown if something unknown is put for them.
func (rt *Routing) spelled(m *Module, r *recountv1.RouteFact, path prefix, action *Decl) prefix {
	class := path.class
	path.class = nil
	if r.Framework != "aspnetcore" || !strings.Contains(path.text, "[") {
		return path
	}
	if class == nil && action != nil {
		class = action.Outer.Decl
	}
	if class == nil || action == nil {
		return path
	}
	put, known := rt.transformed(class.Mod)
	if at := token.FindAllStringIndex(path.text, -1); !known && len(at) > 0 {
		return prefix{text: path.text[at[len(at)-1][1]:], unknown: true}
	}
	path.text = token.ReplaceAllStringFunc(path.text, func(of string) string {
		kind, said, _ := strings.Cut(of[1:len(of)-1], "=")
		switch strings.ToLower(kind) {
		case "controller":
			said = strings.TrimSuffix(class.Name, "Controller")
		case "action":
			if said = rt.tokens.named[action]; said == "" {
				said = strings.TrimSuffix(action.Name, "Async")
			}
		}
		return put(said)
	})
	return path
}

// transformed returns what the application of a module makes of what stands for tokens; known is false if that is not
// known.
func (rt *Routing) transformed(m *Module) (put func(string) string, known bool) {
	best := -1
	for i, t := range rt.tokens.transforms {
		if dir := DirOf(t.m.File.Path); dir == "" || strings.HasPrefix(m.File.Path, dir+"/") {
			if best < 0 || len(dir) > len(DirOf(rt.tokens.transforms[best].m.File.Path)) {
				best = i
			}
		}
	}
	same := func(text string) string { return text }
	switch all := rt.tokens.transforms; {
	case len(all) == 0:
		return same, true
	case best < 0 && len(all) == 1 && rt.tokens.roots < 2:
		best = 0
	case best < 0:
		return same, false
	}
	t := rt.tokens.transforms[best]
	for _, of := range rt.know.Routers(t.m, t.r.In, t.m.Path(t.r.Handler)) {
		c, ok := of.(ClassRouter)
		fact := rt.tokens.transformers[c.Class]
		if !ok || fact == nil {
			continue
		}
		pattern, err := regexp.Compile(fact.Pattern)
		if err != nil { // a pattern that only .NET has
			return same, false
		}
		with := inReplacement.ReplaceAllString(fact.Method, "$${$1}")
		return func(text string) string {
			if fact.Pattern != "" {
				text = pattern.ReplaceAllString(text, with)
			}
			if fact.Handler == "lower" {
				text = strings.ToLower(text)
			}
			return text
		}, true
	}
	return same, false
}

// inReplacement matches a group in a replacement, whose digits may be followed by letters.
var inReplacement = regexp.MustCompile(`\$([0-9]+)`)
