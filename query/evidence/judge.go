package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The rules by which something is known to have lost its place, or to be disputed.
// docs/decisions has the reasons (how evidence is ranked).
const (
	ruleStated     = "stated"      // an event says so
	ruleVersion    = "version"     // a later event made another version of the thing
	ruleValidUntil = "valid_until" // it says itself until when it holds
	ruleValidFrom  = "valid_from"  // it says itself that it holds only later
	ruleRestated   = "restated"    // the same agent states another value of the same later
	ruleOtherAgent = "other_agent" // another agent states another value of the same
)

// maxRelated is how many audiences what is said in one workspace is compared over;
// maxClaims and maxSame are how many of each, the newest, are looked at; maxUses
// is how many tellings of use are looked at, the newest; maxLinks is how many of those who
// say otherwise are told.
const (
	maxRelated = 64
	maxClaims  = 256
	maxSame    = 1000
	maxUses    = 256
	maxLinks   = 5
)

// judgement is what is known of how an object stands.
type judgement struct {
	holds bool
	// superseded says what took its place, or why it does not hold; by is that, if it is
	// an object.
	superseded   *Link
	by           schemas.ObjectRef
	contradicted []Link
	// support counts those who say the same, itself included, agents their agents.
	support, agents int
	positions       []string
	// uses are how many nanoseconds before the moment it was of use.
	uses     []int64
	versions []*objects.Stored // of a thing that has several, the newest first
}

// judgementOf judges an object by what may be known of it at the moment. The first rule
// that says that it lost its place is told: what was stated, a later version, its own
// interval, a restatement. It is read only where memory does not tell; who says the same
// (support) is counted of what is shown.
func (a *session) judgementOf(p *part) (judgement, error) {
	j := judgement{holds: true}
	disputes, err := a.disputes(p)
	if err != nil {
		return j, err
	}
	for i := range disputes {
		n := &disputes[i]
		if n.to == nil {
			continue
		}
		other, err := a.object(n.to.ref)
		if err != nil {
			return j, err
		}
		says := Link{Rule: ruleStated, Confidence: n.confidence, Evidence: []string{p.at}}
		if n.back {
			says.Evidence[0] = n.to.at
		}
		switch {
		case n.kind == edgeSupersedes && n.back:
			j.lose(other, says)
		case n.kind == edgeContradicts && len(j.contradicted) < maxLinks:
			j.contradicted = append(j.contradicted, linkTo(other, says))
		}
	}
	if p.versioned {
		if j.versions, err = a.view.Versions(p.id, a.bound(a.versionsShown()+1)); err != nil {
			return j, err
		}
		if newest := a.keep(j.versions)[0]; newest.Ref != p.ref {
			j.lose(newest, Link{Rule: ruleVersion, Confidence: 1, Evidence: []string{newest.At}})
		}
	}
	if p.conditional {
		if err := a.ownTerms(p, &j); err != nil {
			return j, err
		}
	}
	j.uses, err = a.usesOf(p)
	return j, err
}

// ownTerms judges an object by what it says of itself: when it holds, and what it claims.
func (a *session) ownTerms(p *part, j *judgement) error {
	o, err := a.object(p.ref)
	if err != nil {
		return err
	}
	own := []string{o.At}
	switch {
	case o.ValidUntilUnixNano != 0 && o.ValidUntilUnixNano <= a.moment:
		j.lose(nil, Link{Rule: ruleValidUntil, Confidence: 1, Time: time.Unix(0, o.ValidUntilUnixNano).UTC(), Evidence: own})
	case o.ValidFromUnixNano > a.moment && o.ValidFromUnixNano > o.TimeUnixNano:
		j.lose(nil, Link{Rule: ruleValidFrom, Confidence: 1, Time: time.Unix(0, o.ValidFromUnixNano).UTC(), Evidence: own})
	}
	if o.Claim != nil {
		return a.compareClaims(o, j)
	}
	return nil
}

// versionsShown is how many versions of a thing are told.
func (a *session) versionsShown() int {
	if a.r.includes(IncludeVersions) {
		return maxVersions
	}
	return newestVersions
}

// lose notes that the object lost its place, unless a rule before said so.
func (j *judgement) lose(to *objects.Stored, l Link) {
	if !j.holds {
		return
	}
	j.holds = false
	if to != nil {
		j.by = to.Ref
		l = linkTo(to, l)
	}
	j.superseded = &l
}

// linkTo completes a link with what the other object is.
func linkTo(o *objects.Stored, l Link) Link {
	l.ID, l.Agent, l.Time = o.IDText, o.Agent, time.Unix(0, o.TimeUnixNano).UTC()
	if o.Claim != nil {
		l.Value = brief(o.Claim.Value, 120)
	}
	return l
}

// compareClaims compares what an object states with what else is stated of the same
// subject and predicate in its workspace. Of each agent the newest statement stands: its
// own newest one takes the place of those with another value, and those of other agents
// contradict or support it. Statements of times that have nothing in common do neither.
func (a *session) compareClaims(o *objects.Stored, j *judgement) error {
	newest := map[string]*objects.Stored{}
	for _, who := range a.related(o) {
		list, err := a.view.Claims(who, o.Claim.Subject, o.Claim.Predicate, a.bound(maxClaims))
		if err != nil {
			return err
		}
		for _, x := range a.keep(list) {
			if x.Claim == nil || x.Tenant != o.Tenant || x.Workspace != o.Workspace || !overlap(o, x) {
				continue
			}
			if n := newest[x.Agent]; n == nil || newestFirst(x, n) < 0 {
				newest[x.Agent] = x
			}
		}
	}
	own := newest[o.Agent]
	if own != nil && own.Ref != o.Ref && newestFirst(own, o) < 0 && !sameValue(own, o) {
		j.lose(own, Link{
			Rule: ruleRestated, Confidence: float64(min(confidence(o), confidence(own))),
			Evidence: []string{o.At, own.At},
		})
	}
	var others []*objects.Stored
	for agent, x := range newest {
		if agent != o.Agent {
			others = append(others, x)
		}
	}
	slices.SortFunc(others, newestFirst)
	for _, x := range others {
		if !sameValue(x, o) && len(j.contradicted) < maxLinks {
			j.contradicted = append(j.contradicted, linkTo(x, Link{
				Rule: ruleOtherAgent, Confidence: float64(min(confidence(o), confidence(x))),
				Evidence: []string{o.At, x.At},
			}))
		}
	}
	return nil
}

// confidence is that of a statement.
func confidence(o *objects.Stored) float32 { return o.Claim.Confidence }

// sameValue says whether two statements say the same, but for case and white space.
func sameValue(x, y *objects.Stored) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	return x.Claim.Value == y.Claim.Value || fold(x.Claim.Value) == fold(y.Claim.Value)
}

// overlap says whether there is a moment at which both hold, by what they say.
func overlap(x, y *objects.Stored) bool {
	ends := func(o *objects.Stored, before int64) bool {
		return o.ValidUntilUnixNano != 0 && o.ValidUntilUnixNano <= before
	}
	return !ends(x, y.ValidFromUnixNano) && !ends(y, x.ValidFromUnixNano)
}

// support counts those who say the same, over the audiences of the object's workspace.
func (a *session) support(o *objects.Stored, j *judgement) error {
	j.support = 1
	if o.ContentHash == 0 {
		return nil
	}
	var agents map[string]bool
	for _, who := range a.related(o) {
		var refs []schemas.ObjectRef
		var err error
		if who == o.AudienceID {
			refs, err = a.view.SameAs(o, a.bound(maxSame))
		} else {
			refs, err = a.view.Same(who, o.ContentHash, a.bound(maxSame))
		}
		if err != nil {
			return err
		}
		for _, ref := range refs {
			if ref == o.Ref {
				continue
			}
			attr, _ := a.view.Attributes(ref)
			if attr.Workspace != o.Workspace {
				continue
			}
			j.support++
			if agents == nil {
				agents = map[string]bool{o.Agent: true}
			}
			agents[attr.Agent] = true
			j.positions = append(j.positions, ref.Position.String())
		}
	}
	j.agents = max(1, len(agents))
	return nil
}

// usesOf are how long before the moment an object was of use: in each session, or to each
// agent outside of any, the last time, as far as that may be known.
func (a *session) usesOf(p *part) (ages []int64, err error) {
	if _, used := a.view.Led(p.node, disputing); !used {
		return nil, nil
	}
	o, err := a.object(p.ref)
	if err != nil {
		return nil, err
	}
	told, err := a.view.Uses(o, a.bound(maxUses))
	if err != nil || len(told) == 0 {
		return nil, err
	}
	type who struct{ workspace, session, agent string }
	seen := map[who]bool{}
	for _, ref := range told {
		by, _ := a.view.Attributes(ref)
		w := who{by.Workspace, by.Session, by.Agent}
		if by.Session != "" {
			w.agent = ""
		}
		if ref == o.Ref || by.Tenant != o.Tenant || seen[w] {
			continue
		}
		if by.Workspace != o.Workspace { // it may mean another object of the same event's id
			if means, err := a.means(p, by.Tenant, by.Workspace); err != nil || !means {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		seen[w] = true
		ages = append(ages, a.moment-by.TimeUnixNano)
	}
	return ages, nil
}

// related are the audiences over which what is said in an object's workspace is compared:
// its own, and of those that the principal belongs to the ones of the same tenant that
// are of the workspace, of all of the tenant, or of an agent.
func (a *session) related(o *objects.Stored) []schemas.AudienceID {
	where := [2]string{o.Tenant, o.Workspace}
	all, known := a.relations[where]
	if !known {
		var list []schemas.Audience
		for _, who := range a.audiences {
			if who.Tenant == o.Tenant && (who.Workspace == o.Workspace || who.Visibility == recountv1.Visibility_VISIBILITY_TENANT || who.Visibility == recountv1.Visibility_VISIBILITY_PRIVATE) {
				list = append(list, who)
			}
		}
		// Those of all of the tenant and of the workspace first, then of sessions, of agents.
		slices.SortStableFunc(list, func(x, y schemas.Audience) int { return cmp.Compare(y.Visibility, x.Visibility) })
		all = ids(list[:min(len(list), maxRelated)])
		a.relations[where] = all
	}
	if own := o.AudienceID; !slices.Contains(all, own) {
		return append(slices.Clone(all), own)
	}
	return all
}
