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

// These are the rules by which an object is superseded or disputed. docs/decisions has the reasons
// (how evidence is ranked).
const (
	ruleStated     = "stated"      // an event states it
	ruleVersion    = "version"     // a later event made another version of the object
	ruleValidUntil = "valid_until" // its own validity has ended
	ruleValidFrom  = "valid_from"  // its own validity begins later
	ruleRestated   = "restated"    // the same agent later stated another value of the same property
	ruleOtherAgent = "other_agent" // another agent stated another value of the same property
)

// maxRelated is the maximum number of audiences over which statements of one workspace are
// compared. maxClaims and maxSame limit the claims and duplicates examined per audience, maxUses
// the records of use; the newest are examined. maxLinks is the maximum number of contradictions
// shown.
const (
	maxRelated = 64
	maxClaims  = 256
	maxSame    = 1000
	maxUses    = 256
	maxLinks   = 5
)

// judgement is the status of an object.
type judgement struct {
	holds bool
	// superseded describes what replaced it, or why it does not hold; by is the replacement, if it
	// is an object.
	superseded   *Link
	by           schemas.ObjectRef
	contradicted []Link
	// support is the number of objects with the same content, including itself; agents is the
	// number of their agents.
	support, agents int
	positions       []string
	// uses are the times at which it was used, in nanoseconds before the moment.
	uses     []int64
	versions []*objects.Stored // of an object with several versions, the newest first
}

// judgementOf judges an object by what is visible at the moment. The first rule by which it is superseded
// is reported, in the order stated, version, validity, restated. The object is read only if memory
// does not suffice. support is counted later, for hits only.
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

// ownTerms judges an object by its own validity and claim.
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

// versionsShown returns the maximum number of versions shown per object.
func (a *session) versionsShown() int {
	if a.r.includes(IncludeVersions) {
		return maxVersions
	}
	return newestVersions
}

// lose records that the object is superseded, unless an earlier rule did.
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

// linkTo fills in a link with the properties of the other object.
func linkTo(o *objects.Stored, l Link) Link {
	l.ID, l.Agent, l.Time = o.IDText, o.Agent, time.Unix(0, o.TimeUnixNano).UTC()
	if o.Claim != nil {
		l.Value = brief(o.Claim.Value, 120)
	}
	return l
}

// compareClaims compares an object's claim with other claims of the same subject and predicate in
// its workspace. The newest claim of each agent counts. If it has another value, it supersedes an
// older claim of the same agent, and contradicts that of another agent. Claims whose validity does
// not overlap are not compared.
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

// confidence returns that of an object's claim.
func confidence(o *objects.Stored) float32 { return o.Claim.Confidence }

// sameValue reports whether two claims have the same value, ignoring case and white space.
func sameValue(x, y *objects.Stored) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	return x.Claim.Value == y.Claim.Value || fold(x.Claim.Value) == fold(y.Claim.Value)
}

// overlap reports whether the validity of two objects overlaps.
func overlap(x, y *objects.Stored) bool {
	ends := func(o *objects.Stored, before int64) bool {
		return o.ValidUntilUnixNano != 0 && o.ValidUntilUnixNano <= before
	}
	return !ends(x, y.ValidFromUnixNano) && !ends(y, x.ValidFromUnixNano)
}

// support counts the objects with the same content, over the audiences of the object's workspace.
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

// usesOf returns how long before the moment an object was last used, as far as that is visible:
// once for each session, and for each agent outside of a session.
func (a *session) usesOf(p *part) (ages []int64, err error) {
	if _, used := a.view.MayHaveEdgesTo(p.node, disputing); !used {
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
		if by.Workspace != o.Workspace { // it may mean another object with the same event id
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

// related returns the audiences over which an object's workspace is compared: its own, and those of
// the principal that have the same tenant and are of the workspace, of the whole tenant, or of an
// agent.
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
		// The order is: tenant and workspace, then sessions, then agents.
		slices.SortStableFunc(list, func(x, y schemas.Audience) int { return cmp.Compare(y.Visibility, x.Visibility) })
		all = ids(list[:min(len(list), maxRelated)])
		a.relations[where] = all
	}
	if own := o.AudienceID; !slices.Contains(all, own) {
		return append(slices.Clone(all), own)
	}
	return all
}
