package plan

import "strings"

// repeated returns the index of an earlier run of the same build with no write in between, -1 if there
// is none, or if a file grew meanwhile.
func (w *world) repeated(a *act) int {
	if !a.Built || len(a.Opaque) == 0 {
		return -1
	}
	for i := len(w.opaque) - 1; i >= 0; i-- {
		o := w.opaque[i]
		if o.gone >= 0 || o.thing.Name != a.Opaque[0] || o.thing.Repo != product(a) {
			continue
		}
		for _, b := range w.acts[o.act+1 : a.at] {
			if len(b.writes) > 0 {
				return -1
			}
		}
		if w.grows(a, o.act) {
			return -1
		}
		return o.act
	}
	return -1
}

// grows reports whether a build was seen to add to a file that an earlier run of it left, though nothing but it wrote
// meanwhile: each run adds to a log.
func (w *world) grows(a *act, earlier int) bool {
	before := w.acts[earlier].seen
	if a.seen == nil || before == nil {
		return false
	}
	for _, b := range w.acts[earlier+1 : a.at] {
		if len(b.writes) > 0 && !(b.Built && product(b) == product(a)) {
			return false
		}
	}
	for name, f := range a.seen.Files {
		was, ok := before.Files[name]
		if ok && was.Is != "" && f.Is != "" && f.Was != f.Is && a.seen.Sizes[name] > before.Sizes[name] && !cached(name) && !strings.Contains(name, "/.git/") {
			return true
		}
	}
	return false
}
