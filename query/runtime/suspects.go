package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// reached is a symbol that takes part in the failure, with what a change of it would mean.
type reached struct {
	code.Handled
	distance int
	role     role
	service  string
	rule     string
	weight   float64
	shows    string
}

const (
	farther    = 0.8
	reachDepth = 3
	// maxReached is the maximum number of symbols whose commits are examined.
	maxReached = 400
	// maxCompared is the number of commits whose content is compared.
	maxCompared = 60
)

// commits returns the commits of the searched days that changed the code or the configuration of a
// service that takes part in the failure.
func (c *causes) commits() ([]*suspect, error) {
	by := map[string]*suspect{}
	var all []*suspect
	get := func(ch code.Changed) *suspect {
		k := ch.Repo + "@" + ch.Commit
		if by[k] == nil {
			x := newSuspect("commit", ch.Time, "a commit")
			x.Commit = &ch
			by[k] = x
			all = append(all, x)
		}
		return by[k]
	}
	symbols := c.reach()
	handled := make([]code.Handled, len(symbols))
	for i := range symbols {
		handled[i] = symbols[i].Handled
	}
	changes, err := c.j.c.Changes(handled, maxCommits)
	if err != nil {
		return nil, err
	}
	for i := range symbols {
		for _, ch := range changes[i] {
			if ch.Time.Before(c.from) || ch.Time.After(c.until) {
				continue
			}
			c.linkSymbol(get(ch), &symbols[i], ch.By)
		}
	}
	if err := c.commitFiles(get); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y *suspect) int { return y.Time.Compare(x.Time) })
	for i, x := range all {
		if i < maxCompared && x.linked {
			if err := c.compareContent(x); err != nil {
				return nil, err
			}
		}
		c.deploy(x)
	}
	c.j.a.Step(query.Step{Operator: "changes", Counts: map[string]int64{"symbols": int64(len(symbols)), "commits": int64(len(all))}})
	c.j.a.RecordTime("changes")
	return all, nil
}

func (c *causes) linkSymbol(x *suspect, s *reached, by string) {
	weight, shows := s.weight, s.shows
	if by == code.ByFile {
		weight *= 0.5
		shows = "changed the file of " + s.Name + "; which symbols is not known"
	}
	best := math.Inf(-1)
	for _, e := range x.Evidence {
		if linkRules[e.Rule] {
			best = e.Weight
		}
	}
	if weight > best {
		x.Symbol, x.Distance, x.role = &s.Symbol, s.distance, s.role
	}
	x.link(s.rule, weight, shows)
}

// reach returns the symbols that take part in the failure: those of the stack trace and what they
// call, and the handlers of the operations and what they call.
func (c *causes) reach() []reached {
	in := &involved{seen: map[string]int{}}
	framed := c.reachFrames(in)
	own, weight := c.span.service, 2.2
	if framed {
		weight = 0.5
	}
	if c.of != nil {
		c.reachHandler(in, c.of.Code, roleOwn, own, weight)
	}
	c.reachHandler(in, c.j.ofSpan(c.span), roleOwn, own, weight)
	late := c.sym.class == classTimeout || c.slow != nil
	for _, o := range c.called {
		weight := 1.4
		switch {
		case late:
			weight = 2.4
		case c.sym.answered >= 500:
			weight = 2 // it failed by itself
		}
		c.reachHandler(in, c.j.joinOf(o), roleCalled, o.service, weight)
	}
	for i := c.span.up; i >= 0; i = c.all[i].up {
		if s := &c.all[i]; s.service != own && s.seen.Side == recountv1.Side_SIDE_CALLED {
			weight := -2.8 // it may have sent what the failing service cannot take
			if c.sym.class != "" {
				weight = -4
			}
			c.reachHandler(in, c.j.ofSpan(s), roleCaller, s.service, weight)
		}
	}
	return in.all
}

// involved collects symbols, each with its largest weight.
type involved struct {
	all  []reached
	seen map[string]int // indexes in all
}

func (in *involved) add(r reached) {
	k := r.Repo + "\x00" + string(r.Key)
	if i, ok := in.seen[k]; ok {
		if r.weight > in.all[i].weight {
			in.all[i] = r
		}
	} else if len(in.all) < maxReached {
		in.seen[k] = len(in.all)
		in.all = append(in.all, r)
	}
}

// reachFrames adds the symbols of the stack trace, and what the first of them calls. It reports whether
// there are any.
func (c *causes) reachFrames(in *involved) (framed bool) {
	own := c.span.service
	home := c.homeFor(own)
	if home == nil {
		return false
	}
	for n, f := range c.sym.frames {
		path := c.place(home, f.file)
		if path == "" {
			continue
		}
		weight := []float64{3.2, 1.8, 0.9}[min(n, 2)]
		if slices.Contains([]string{classFull, classPermission, classMemory, classMissing}, c.sym.class) {
			weight *= 0.6 // the code met what it did not make
		}
		for _, h := range c.j.c.InFile(home.Repo, path, f.function, f.line) {
			if framed {
				in.add(reached{h, n, roleOwn, own, "frame", weight, fmt.Sprintf("changed %s, in the stack trace at %s:%d", h.Name, path, f.line)})
				continue
			}
			framed = true
			in.add(reached{h, n, roleOwn, own, "raised", weight, fmt.Sprintf("changed %s, which raised the error at %s:%d", h.Name, path, f.line)})
			callees, far := c.j.c.Reach(h, 2)
			for i, k := range callees {
				if far[i] > 0 {
					in.add(reached{k, far[i], roleOwn, own, "callee", 2.4 * math.Pow(farther, float64(far[i]-1)), fmt.Sprintf("changed %s, %s from what raised the error", k.Name, callsAway(far[i]))})
				}
			}
		}
	}
	return framed
}

// reachHandler adds the symbol that handles an operation, and what that calls.
func (c *causes) reachHandler(in *involved, j *Join, r role, service string, weight float64) {
	if j == nil || j.handled == nil {
		return
	}
	some, far := c.j.c.Reach(*j.handled, reachDepth)
	for i, h := range some {
		if far[i] == 0 {
			in.add(reached{h, 0, r, service, "handler", weight, "changed what handles it: " + h.Name})
			continue
		}
		w := min(weight, weight*math.Pow(farther, float64(far[i])))
		in.add(reached{h, far[i], r, service, "callee", w, fmt.Sprintf("changed %s, %s from what handles it", h.Name, callsAway(far[i]))})
	}
}

// homeFor returns a service's home, or else the repository that has its handler. The folder of a service that shares its repository with others is the one with its name, if
// nothing else says which.
func (c *causes) homeFor(service string) *Home {
	if h, ok := c.folders[service]; ok {
		return h
	}
	h := c.j.homes.homeOf(service)
	if h == nil {
		h = c.handlerHome(service)
	}
	if h != nil && h.Dir == "" {
		with := *h
		with.Dir = c.j.c.Folder(h.Repo, service)
		h = &with
	}
	c.folders[service] = h
	return h
}

// place returns the file of a service's repository that a frame names, or "".
func (c *causes) place(home *Home, seen string) string {
	k := home.Repo + "\x00" + home.Dir + "\x00" + seen
	path, ok := c.places[k]
	if !ok {
		path = c.j.c.Place(home.Repo, home.Dir, seen)
		c.places[k] = path
	}
	return path
}

func (c *causes) handlerHome(service string) *Home {
	if service == c.span.service && c.of != nil && c.of.Code != nil && c.of.Code.handled != nil {
		return &Home{Repo: c.of.Code.handled.Repo}
	}
	return nil
}

// libraryFiles list the libraries of a program.
var libraryFiles = []string{"requirements.txt", "pyproject.toml", "Pipfile", "setup.py", "package.json", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "Gemfile", "composer.json", "packages.config"}

// commitFiles links commits by the files that they changed: configuration and manifests, and other
// files of the services.
func (c *causes) commitFiles(get func(code.Changed) *suspect) error {
	repos := map[string]bool{}
	for s := range c.roles {
		if h := c.homeFor(s); h != nil {
			repos[h.Repo] = true
		}
	}
	for _, repo := range c.j.c.Repositories() {
		if !repos[repo] {
			continue
		}
		found, paths, err := c.j.c.CommitsBetween(repo, c.from, c.until, maxCommits)
		if err != nil {
			return err
		}
		for i, ch := range found {
			for _, p := range paths[i] {
				c.linkFile(repo, p, func() *suspect { return get(ch) })
			}
		}
	}
	return nil
}

func (c *causes) linkFile(repo, path string, get func() *suspect) {
	for service, r := range c.roles {
		home := c.homeFor(service)
		if home == nil || home.Repo != repo {
			continue
		}
		inside := home.holds(repo, path)
		manifest := !inside && (path == cutLine(home.Evidence) || home.Dir != "" && code.Configuration(path) && hasWord(path, last(home.Dir)) || code.Configuration(path) && hasWord(path, service))
		library := inside && slices.Contains(libraryFiles, last(path))
		rule, weight := "", 0.0
		switch {
		case library:
			rule, weight = "upgrade", map[role]float64{roleOwn: 1.5, roleCalled: 0.8, roleCaller: -2.8}[r]
			if r == roleOwn && len(c.sym.frames)+len(c.sym.libraries) > 0 {
				weight++
			}
		case manifest:
			rule, weight = "manifest", map[role]float64{roleOwn: 1.2, roleCalled: 0.8, roleCaller: -2.8}[r]
		case inside && code.Configuration(path):
			rule, weight = "configuration", map[role]float64{roleOwn: 1.5, roleCalled: 1, roleCaller: -2.8}[r]
			if r == roleCalled && c.sym.unreachable() {
				weight++
			}
		case inside && !document(path):
			rule, weight = "file", map[role]float64{roleOwn: 0.6, roleCalled: 0.4, roleCaller: -3}[r]
			if r == roleOwn && len(c.sym.frames) > 0 {
				weight = -0.5 // the stack trace names other files
			}
		default:
			continue
		}
		x := get()
		if rule == "configuration" || rule == "manifest" {
			if !slices.Contains(x.Files, path) {
				x.Files = append(x.Files, path)
			}
			if x.Symbol == nil {
				x.Kind = "configuration"
			}
		}
		x.role = max(x.role, r)
		x.link(rule, weight, "changed "+path+" of "+service)
	}
}

func cutLine(place string) string {
	path, _, _ := strings.Cut(place, ":")
	return path
}

// document reports whether a path is that of something that does not run.
func document(path string) bool {
	for _, s := range []string{".md", ".rst", ".txt", ".adoc", ".png", ".svg", "LICENSE", "_test.go", ".test.js", ".test.ts", ".spec.ts", ".spec.js"} {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	return strings.HasPrefix(last(path), "test_") || strings.Contains("/"+path, "/tests/") || strings.Contains("/"+path, "/test/") || strings.HasPrefix(path, ".github/")
}

// deploy finds when a commit took effect.
func (c *causes) deploy(x *suspect) {
	service := ""
	for s, r := range c.roles {
		if r == x.role && (service == "" || s < service) && c.holdsCommit(s, x) {
			service = s
		}
	}
	if service == "" {
		return
	}
	at, deployed, known := c.takesEffect(service, x)
	switch {
	case deployed:
		x.live = at.at
		x.add("deployed", 0.2, "went live with: "+at.shows)
	case known:
		x.add("not deployed", -3, "no deploy of "+service+" came between it and the failure")
	}
}

// holdsCommit reports whether a commit changed something of a service.
func (c *causes) holdsCommit(service string, x *suspect) bool {
	h := c.homeFor(service)
	if h == nil || h.Repo != x.Commit.Repo {
		return false
	}
	if x.Symbol != nil {
		return h.holds(h.Repo, x.Symbol.File)
	}
	return true
}

// versions returns the versions of the failing service that were first seen in the searched days,
// except the very first, and those that carry a suspected commit.
func (c *causes) versions(commits []*suspect) (all []*suspect) {
	versions := versionsOf(c.j.homes.observers[c.span.service].Observers)
	for i, v := range versions {
		older := slices.ContainsFunc(versions, func(o Version) bool { return o.First.Before(v.First) })
		if v.First.Before(c.from) || v.First.After(c.until) || v.Version+v.Revision == "" || !older {
			continue
		}
		if slices.ContainsFunc(commits, func(x *suspect) bool { return x.linked && !x.hollow && !x.live.After(v.First) && c.carries(v, x) }) {
			continue
		}
		x := newSuspect("version", v.First, "a version that was not seen before")
		x.Version = &versions[i]
		x.role = roleOwn
		x.link("version", 1.5, "spans of "+c.span.service+" say "+cmp.Or(v.Version, v.Revision)+" from then on")
		all = append(all, x)
	}
	return all
}

// carries reports whether a version carries a commit: it names the commit, or the commit took
// effect when the version was first seen, or by the deploy before that.
func (c *causes) carries(v Version, x *suspect) bool {
	for _, name := range []string{v.Revision, v.Version} {
		if len(name) >= 7 && strings.HasPrefix(x.Commit.Commit, name) {
			return true
		}
	}
	for _, s := range c.starts[c.span.service] {
		if s.at.After(x.live) && s.at.Before(v.First) {
			return false // another start came between
		}
	}
	return true
}

// compareContent compares the content of the files that a commit changed: what it says that the
// failure says too, and whether it changed anything that runs.
func (c *causes) compareContent(x *suspect) error {
	files, err := c.j.c.Revisions(x.Commit.Repo, x.Commit.Commit, maxCompared)
	if err != nil || len(files) == 0 {
		return err
	}
	changed, running := 0, 0
	for _, f := range files {
		if document(f.Path) && !slices.Contains(libraryFiles, last(f.Path)) {
			continue
		}
		before, err := c.lines(f.Before)
		if err != nil {
			return err
		}
		after, err := c.lines(f.After)
		if err != nil {
			return err
		}
		if before == nil && after == nil {
			running++ // its content is not known
			continue
		}
		had := map[string]int{}
		for _, l := range before {
			had[strings.TrimSpace(l)]++
		}
		var new []string
		for _, l := range after {
			if l = strings.TrimSpace(l); had[l] > 0 {
				had[l]--
			} else {
				new = append(new, l)
			}
		}
		removed := map[string]int{}
		for l, n := range had {
			removed[uncommented(l)] += n
		}
		var lines []string // what was added or removed besides comments behind code
		for _, l := range new {
			if text := uncommented(l); removed[text] > 0 {
				removed[text]--
				changed++
			} else {
				lines = append(lines, l)
			}
		}
		for l, n := range removed {
			if n > 0 {
				lines = append(lines, l)
			}
		}
		for _, l := range lines {
			if l == "" {
				continue
			}
			changed++
			if !comment(l) {
				running++
				addWords(x.words, l)
			}
		}
		c.raisedHere(x, f.Path, new)
	}
	if changed > 0 && running == 0 {
		x.hollow = true
		x.add("comments", -3, "changed only comments")
	}
	return nil
}

// raisedHere adds evidence if a commit wrote the line that raised the error.
func (c *causes) raisedHere(x *suspect, path string, lines []string) {
	if len(c.sym.frames) == 0 {
		return
	}
	f, home := c.sym.frames[0], c.homeFor(c.span.service)
	if f.source != "" && home != nil && slices.Contains(lines, f.source) && c.place(home, f.file) == path {
		x.add("raising line", 1.5, "wrote the line that raised the error: "+brief(f.source))
	}
}

// trailing matches a comment behind code. What stands before it has no quotes that are open.
var trailing = lazyregexp.New("^((?:[^\"'`]|\"[^\"]*\"|'[^']*'|`[^`]*`)*?\\S)\\s+(?://|#\\s).*$")

// uncommented returns a line without the comment behind its code.
func uncommented(l string) string {
	if m := trailing.FindStringSubmatch(l); m != nil {
		return m[1]
	}
	return l
}

// comment reports whether a line is a comment in the common languages.
func comment(l string) bool {
	for _, p := range []string{"#", "//", "/*", "* ", "*/", "--", `"""`, "'''", "<!--", ";"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// lines returns the content of a file from its event, or nil if the event has none.
func (c *causes) lines(at *schemas.Position) ([]string, error) {
	if at == nil {
		return nil, nil
	}
	lr, err := c.j.a.s.Event(c.j.a.Ctx, *at)
	if err != nil {
		return nil, fmt.Errorf("read the event at %s: %w", at, err)
	}
	content, err := code.ContentOf(lr, code.MaxContent)
	if err != nil {
		return nil, fmt.Errorf("event at %s: %w", at, err)
	}
	if content == nil {
		return nil, nil
	}
	return strings.Split(string(content), "\n"), nil
}
