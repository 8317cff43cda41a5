package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// suspect is a possible cause while it is examined. The sum of its evidence is the logarithm of its
// odds against the failure having a cause that nothing recorded shows.
type suspect struct {
	SpanCause
	// live is when it took effect: for a commit, when it was deployed.
	live time.Time
	// role is the part that its service has in the failure.
	role role
	// words are the identifiers that it changes or names.
	words map[string]bool
	// linked reports that something other than its time connects it with the failure.
	linked bool
	// hollow reports that a commit changes nothing that runs, such as comments.
	hollow bool
}

// role is the part that a service has in a failure.
type role int

const (
	roleNone   role = iota
	roleCaller      // it called the service that failed
	roleCalled      // it was called by the service that failed
	roleOwn         // it failed
)

// causes is the search for what led to a span.
type causes struct {
	j           *joiner
	all         []span
	at          int
	span        *span
	from, until time.Time
	days        time.Duration
	slow        *slowness // nil if the span failed

	of     *Subject
	handle int // the index of the subject's span
	kind   recountv1.RuntimeKind
	rates  map[int64]rate       // by end time, from the beginning of the searched days
	onsets map[uint64]time.Time // by the number of failures before

	sym    *symptom
	roles  map[string]role
	called []operation // what the subject called, as its callees name it
	acts   []act       // the commands of the searched days that do something, the newest first
	starts map[string][]start

	folders map[string]*Home  // what homeFor found
	places  map[string]string // what place found
}

// prior is the logarithm of the odds that a suspect of a kind is the cause before any evidence.
var prior = map[string]float64{"commit": -2, "configuration": -2, "deploy": -3, "command": -3, "version": -3, "dependency": 0}

// misleading is the share of even the best evidence that misleads, so that no cause is certain.
const misleading = 0.02

// find returns the possible causes, the most probable first, and the probability that none of them
// is the cause.
func (c *causes) find() (all []SpanCause, unexplained float64, err error) {
	c.sym = symptomOf(c.all, c.at)
	if c.slow != nil {
		c.sym.class = classSlow
	}
	if err := c.assignRoles(); err != nil {
		return nil, 0, err
	}
	if err := c.readCommands(); err != nil {
		return nil, 0, err
	}
	commits, err := c.commits()
	if err != nil {
		return nil, 0, err
	}
	suspects := slices.Concat(commits, c.commands(commits), c.versions(commits))
	c.compareWords(suspects)
	for _, x := range suspects {
		if !x.linked {
			continue
		}
		picky := 0.1
		if x.Commit != nil || x.Version != nil || c.sym.class == classFull || c.sym.class == classMemory {
			picky = 0.5 // and what runs out does so after a while
		}
		if err := c.timing(x, picky); err != nil {
			return nil, 0, err
		}
	}
	if d := c.dependency(); d != nil {
		suspects = append(suspects, d)
	}
	suspects = slices.DeleteFunc(suspects, func(x *suspect) bool { return !x.linked })
	sum := 0.0
	odds := make(map[*suspect]float64, len(suspects))
	for _, x := range suspects {
		weights := 0.0
		for _, e := range x.Evidence {
			weights += e.Weight
		}
		odds[x] = math.Exp(weights)
		sum += odds[x]
	}
	nothing := 1 + misleading*sum
	total := nothing + sum
	for _, x := range suspects {
		x.Score = round(odds[x] / total)
	}
	slices.SortStableFunc(suspects, func(x, y *suspect) int {
		return cmp.Or(cmp.Compare(odds[y], odds[x]), y.Time.Compare(x.Time), cmp.Compare(x.Kind, y.Kind))
	})
	step := query.Step{Operator: "rank", Inputs: map[string]string{"symptom": c.sym.class}, Counts: map[string]int64{"causes": int64(len(suspects))}}
	for name, w := range prior {
		step.Inputs[name] = fmt.Sprintf("%g", w)
	}
	for i, x := range suspects {
		all = append(all, x.SpanCause)
		if p := x.position(); p != nil && len(step.Hits) < maxHits {
			step.Hits = append(step.Hits, query.Evidence{Position: *p, Rank: i + 1, Score: x.Score})
		}
	}
	c.j.a.Step(step)
	c.j.a.RecordTime("rank")
	return all, round(nothing / total), nil
}

func newSuspect(kind string, at time.Time, shows string) *suspect {
	x := &suspect{live: at, words: map[string]bool{}}
	x.Kind, x.Time = kind, at
	x.Evidence = append(x.Evidence, CauseEvidence{Shows: shows, Weight: prior[kind], Rule: "prior"})
	return x
}

func (x *suspect) add(rule string, weight float64, shows string) {
	x.Evidence = append(x.Evidence, CauseEvidence{Shows: shows, Weight: round(weight), Rule: rule})
}

// link adds evidence that connects a suspect with the failure, instead of weaker evidence of this
// kind that it has.
func (x *suspect) link(rule string, weight float64, shows string) {
	for i, e := range x.Evidence {
		if linkRules[e.Rule] {
			if weight > e.Weight {
				x.Evidence[i] = CauseEvidence{Shows: shows, Weight: round(weight), Rule: rule}
			}
			return
		}
	}
	x.linked = true
	x.add(rule, weight, shows)
}

// linkRules has the rules among which only the strongest counts.
var linkRules = map[string]bool{
	"raised": true, "frame": true, "handler": true, "callee": true, "file": true, "configuration": true, "manifest": true,
	"stopped": true, "edited": true, "named file": true, "about": true, "resource": true, "upgrade": true, "network": true, "version": true, "data": true,
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// assignRoles finds the services that take part in the failure.
func (c *causes) assignRoles() error {
	c.roles = map[string]role{}
	for i := c.at; i >= 0; i = c.all[i].up {
		c.roles[c.all[i].service] = roleCaller
	}
	add := func(o operation) {
		if c.roles[o.service] == roleNone {
			c.roles[o.service] = roleCalled
		}
		if c.roles[o.service] == roleCalled && !slices.Contains(c.called, o) {
			c.called = append(c.called, o)
		}
	}
	c.roles[c.span.service] = roleOwn
	c.sym.used = map[string]bool{}
	for down := []int{c.handle}; len(down) > 0; down = down[1:] {
		for _, b := range c.all[down[0]].below {
			down = append(down, b)
			s := &c.all[b]
			addWords(c.sym.used, s.seen.Operation)
			for _, kv := range s.raw.GetAttributes() {
				if strings.HasPrefix(kv.Key, "db.") {
					addWords(c.sym.used, textOf(kv.Value, 0))
				}
			}
			if s.service != c.span.service && s.seen.Side == recountv1.Side_SIDE_CALLED {
				add(operation{s.service, s.seen.Kind, s.seen.Operation, s.seen.Templated})
			}
		}
	}
	return c.assignPeers(add)
}

// assignPeers adds the callees whose spans are missing in the trace. Earlier calls show who they
// were; of a callee that does not continue traces only the name is known.
func (c *causes) assignPeers(add func(operation)) error {
	peers := map[string]bool{}
	for down := []int{c.handle}; len(down) > 0; down = down[1:] {
		s := &c.all[down[0]]
		down = append(down, s.below...)
		answered := slices.ContainsFunc(s.below, func(i int) bool { return c.all[i].service != s.service })
		if s.service == c.span.service && s.seen.Side == recountv1.Side_SIDE_CALLER && s.seen.Peer != "" && !answered {
			peers[s.seen.Peer] = true
		}
	}
	if len(peers) == 0 {
		return nil
	}
	rows, err := c.j.a.view.Counts().Calls(c.j.a.Ctx, c.j.a.within, c.span.service)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Caller == c.span.service && peers[r.Peer] && r.Callee != r.Caller {
			add(operation{r.Callee, r.Kind, r.Operation, r.Templated})
			if r.Peer == c.sym.peer && !slices.Contains(c.sym.aliases, r.Callee) {
				c.sym.aliases = append(c.sym.aliases, r.Callee)
			}
		}
	}
	for _, peer := range slices.Sorted(maps.Keys(peers)) {
		host, _, _ := strings.Cut(peer, ":")
		name, _, _ := strings.Cut(host, ".")
		if _, sends := c.j.homes.observers[name]; !sends || c.roles[name] != roleNone {
			continue
		}
		served, err := c.j.a.view.Counts().ServerSums(c.j.a.Ctx, c.j.a.within, name)
		if err != nil {
			return err
		}
		for _, r := range served[:min(len(served), maxServed)] {
			add(operation{r.Service, r.Kind, r.Operation, r.Templated})
		}
	}
	return nil
}

// maxServed is the maximum number of a callee's operations that are examined if it is not known
// which of them was called.
const maxServed = 8

// compareWords adds to each suspect what it has in common with what the failure says. A word that
// fewer suspects have counts more.
func (c *causes) compareWords(suspects []*suspect) {
	having := map[string]float64{}
	for _, x := range suspects {
		for w := range x.words {
			having[w]++
		}
	}
	names := map[string]bool{}
	for s := range c.roles {
		addWords(names, s)
	}
	for _, x := range suspects {
		sum, best := 0.0, map[string]float64{}
		for w := range x.words {
			weight := 0.0
			switch {
			case names[w]:
			case c.sym.said[w]:
				weight = 1.2
			case x.Symbol == nil && (c.sym.quoted[w] || c.sym.used[w]): // code is compared by its frames
				weight = 0.5
			}
			if weight > 0 {
				best[w] = weight / having[w]
				sum += best[w]
			}
		}
		if sum < 0.3 {
			continue
		}
		shared := slices.SortedFunc(maps.Keys(best), func(a, b string) int {
			return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(a, b))
		})
		x.add("words", min(3, sum), "has in common with the failure: "+strings.Join(shared[:min(5, len(shared))], ", "))
		x.linked = x.linked || sum >= 1 && x.role != roleNone
	}
}

// dependency returns what the failing span called without success as a suspect of its own, or nil.
func (c *causes) dependency() *suspect {
	s := c.sym
	if s.peer == "" || s.served {
		return nil
	}
	if !s.unreachable() && s.answered == 0 && s.class != classSlow {
		return nil
	}
	x := newSuspect("dependency", c.until, "a dependency")
	x.Dependency = &Dependency{Name: s.peer, System: c.span.seen.System}
	for _, o := range c.called {
		if c.roles[o.service] == roleCalled {
			x.Dependency.Service = o.service
		}
	}
	x.linked = true
	weight := 1.5
	switch {
	case s.class == className:
		weight = 0.5
	case s.answered > 0 && x.Dependency.Service != "":
		weight = 0 // it sends spans, so what led to it may be recorded
	}
	x.add("dependency", weight, c.span.service+" called "+s.peer+": "+s.describe())
	return x
}

// callsAway says how many calls lie between.
func callsAway(n int) string {
	if n == 1 {
		return "1 call away"
	}
	return strconv.Itoa(n) + " calls away"
}

// ago formats how long before the failure something happened.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// position returns the position of the cause in the log, or nil for a version or a dependency,
// which many spans show.
func (x *SpanCause) position() *schemas.Position {
	switch {
	case x.Commit != nil:
		return &x.Commit.Position
	case x.Command != nil:
		return &x.Command.Position
	}
	return nil
}

// act is a command that may have changed something.
type act struct {
	commands.Intent
	// writes are the paths that it writes, as far as its text shows.
	writes []string
	stops  bool
	starts bool
}

// start is when a service began to run what it was given: by a deploy, or as a version that was not
// seen before.
type start struct {
	at    time.Time
	shows string
	id    schemas.EventID // of the command, if it was one
}
