package scope

import "slices"

// mounting is a router and the framework that joins its prefix with the patterns below it.
type mounting struct {
	router    *router
	framework string
}

// maxPlaces is the maximum number of routers on the ways from one to the application: routers that are mounted on
// each other have more ways than can be followed.
const maxPlaces = 5000

// prefixes returns what comes before the patterns of a router's routes, one for each place where it
// is mounted.
func (rt *Routing) prefixes(o *router, framework string) []prefix {
	key := mounting{o, framework}
	all, known := rt.before[key]
	if !known {
		all = rt.prefixesOn(o, framework, &visits{open: map[*router]bool{}, left: maxPlaces})
		rt.before[key] = all
	}
	return all
}

// visits has the routers between one that is asked for and one that it is mounted on, and how many may still be looked at.
type visits struct {
	open map[*router]bool
	left int
}

func (rt *Routing) prefixesOn(o *router, framework string, v *visits) []prefix {
	own := slices.Clone(o.own)
	if len(own) == 0 {
		own = []prefix{{}}
	}
	for _, more := range o.more {
		for i := range own {
			own[i] = more.join(framework, own[i])
		}
	}
	if v.left--; v.open[o] || v.left < 0 {
		return []prefix{{unknown: true}}
	}
	if len(o.mounts) == 0 {
		if o.part {
			return belowPrefixes([]prefix{{unknown: true}}, own, framework)
		}
		return own
	}
	if o.chosen && o.mountedApart() {
		return []prefix{{unknown: true}}
	}
	v.open[o] = true
	defer delete(v.open, o)
	var out []prefix
	mounts := o.mounts
	if served := slices.DeleteFunc(slices.Clone(mounts), func(m mount) bool { return m.test }); len(served) > 0 {
		mounts = served // a test mounts a part of the application where it likes
	}
	for _, m := range mounts {
		before := []prefix{{unknown: true}}
		if m.root {
			before = []prefix{{}}
		} else if len(m.on) > 0 {
			before = nil
		}
		for _, on := range m.on {
			before = append(before, rt.prefixesOn(on, m.framework, v)...)
		}
		before = belowPrefixes(before, []prefix{m.pattern}, m.framework)
		if !m.instead {
			before = belowPrefixes(before, own, m.framework)
		}
		for _, b := range before {
			if len(out) < maxPatterns && !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

func belowPrefixes(before, patterns []prefix, framework string) (all []prefix) {
	for _, b := range before {
		for _, p := range patterns {
			all = append(all, b.join(framework, p))
		}
	}
	return all
}
