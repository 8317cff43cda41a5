package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
)

// AnnouncedRequest asks who is working on what.
type AnnouncedRequest struct {
	About     []string          `json:"about,omitempty" maxItems:"64" example:"Cart.Add" doc:"Only what concerns these symbols or files, each symbol:NAME, file:PATH, or a name that may be either. A name may be the end of a longer one; a type includes its methods."`
	Workspace string            `json:"workspace,omitempty" maxLength:"4096" example:"/src/shop" doc:"Only of this workspace."`
	Agent     string            `json:"agent,omitempty" maxLength:"4096" example:"claude" doc:"Only by this agent."`
	Session   string            `json:"session,omitempty" maxLength:"4096" example:"s-17" doc:"Only by this session."`
	At        time.Time         `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now: announcements that end by then are over. Default: as_of's time, or the time of the newest object that you may see. The clock is not used."`
	AsOf      query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark."`
	Limit     int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50" example:"50" doc:"Maximum number of announcements."`
	AtLeast   schemas.Watermark `json:"at_least,omitempty" example:"recount.agents/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS    int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// AnnouncedResponse lists who is working on what.
type AnnouncedResponse struct {
	query.Basis
	Now           time.Time            `json:"now,omitzero" doc:"The time against which the announcements were measured."`
	Announcements []query.Announcement `json:"announcements" nullable:"false" doc:"The announcements that hold, the newest first."`
	Truncated     int                  `json:"truncated" example:"0" doc:"The number of further ones."`
}

// AnnouncedQuestion is the question who is working on what.
var AnnouncedQuestion = question.New("announced", "Ask who is working on what",
	"Lists what agents have announced to be working on (work_announced): symbols and files that somebody is about to change, with the reason and how long the announcement holds. An announcement holds until its time is over, or until the agent ends it (work_ended). The token determines what is visible.",
	func(r AnnouncedRequest) error {
		_, err := r.normal()
		return err
	},
	func(ctx context.Context, a Asked, r AnnouncedRequest) (AnnouncedResponse, error) {
		return Announced(ctx, a.Sources, a.Principal, r)
	})

// defaultAnnounced is the default number of announcements in an answer, maxAnnounced the number of
// the newest events that are examined.
const (
	defaultAnnounced = 50
	maxAnnounced     = 5000
	maxWhy           = 240
)

// normal returns the request with defaults filled in, or a *query.RequestError.
func (r AnnouncedRequest) normal() (AnnouncedRequest, error) {
	r.Limit = cmp.Or(r.Limit, defaultAnnounced)
	if len(r.About) > maxListed {
		return r, &query.RequestError{Field: "about", Value: strconv.Itoa(len(r.About)) + " of them", Reason: "want at most " + strconv.Itoa(maxListed)}
	}
	for _, name := range r.About {
		if err := checkSubject("about", name); err != nil {
			return r, err
		}
	}
	_, err := r.request().Normal()
	return r, err
}

// request returns the part of the request that every question for objects has.
func (r AnnouncedRequest) request() Request {
	return Request{
		Scope: Scope{Workspace: r.Workspace, Agent: r.Agent, Session: r.Session},
		At:    r.At, AsOf: r.AsOf, Limit: r.Limit, AtLeast: r.AtLeast, WaitMS: r.WaitMS,
		Events: []string{schemas.TypeWorkAnnounced, schemas.TypeWorkEnded},
	}
}

// Announced answers who is working on what, on behalf of a principal. Errors are those of Ask.
func Announced(ctx context.Context, s Sources, p schemas.Principal, r AnnouncedRequest) (AnnouncedResponse, error) {
	r, err := r.normal()
	if err != nil {
		return AnnouncedResponse{}, err
	}
	a, err := s.openFor(ctx, p, r.request())
	if err != nil {
		return AnnouncedResponse{}, err
	}
	defer a.Close()
	about := subjects(r.About)
	concerned := func(subject string) bool {
		return len(about) == 0 || slices.ContainsFunc(about, func(s query.Subject) bool { return s.Concerns(subject) })
	}
	all, err := a.announced(concerned)
	if err != nil {
		return AnnouncedResponse{}, err
	}
	resp := AnnouncedResponse{Announcements: all[:min(len(all), r.Limit)], Truncated: max(0, len(all)-r.Limit)}
	if a.moment != 0 {
		resp.Now = time.Unix(0, a.moment).UTC()
	}
	hint := ""
	if len(all) == 0 {
		hint = "nobody has announced work that is still going on; an agent announces it with recount announce or an event " + schemas.TypeWorkAnnounced
		if len(r.About) > 0 {
			hint = "nobody has announced work on " + strings.Join(r.About, ", ") + " that is still going on"
		}
		if r.Workspace != "" {
			a.r.Scope.Workspace = ""
			elsewhere, err := a.announced(concerned)
			if err != nil {
				return AnnouncedResponse{}, err
			}
			if a.r.Scope.Workspace = r.Workspace; len(elsewhere) > 0 {
				hint = fmt.Sprintf("%s in this workspace; without it there would be %d", strings.SplitN(hint, ";", 2)[0], len(elsewhere))
			}
		}
	}
	resp.Basis = a.basis(len(all) == 0, hint)
	return resp, nil
}

// announced returns the announcements that hold at the moment and whose subjects pass, the newest
// first.
func (a *session) announced(passes func(subject string) bool) ([]query.Announcement, error) {
	sc, err := a.scoped()
	if err != nil {
		return nil, err
	}
	if err := a.setMoment(&scope{filter: a.everything()}); err != nil {
		return nil, err
	}
	f := sc.filter
	f.Since = max(1, a.moment-int64(schemas.MaxAnnounced)) // older ones do not hold
	refs, err := a.view.Latest(a.Ctx, f, maxAnnounced)
	if err != nil {
		return nil, err
	}
	all := []query.Announcement{}
	seen := map[schemas.ObjectID]bool{}
	for _, ref := range refs {
		o, err := a.object(ref)
		if err != nil {
			return nil, err
		}
		if o == nil || seen[o.ObjectID()] || !o.Versioned {
			continue
		}
		if o.TimeUnixNano > a.moment {
			continue // it was announced after the moment that is asked about
		}
		seen[o.ObjectID()] = true // versions come newest first
		subject := attribute(o, "subject")
		if o.Removed || o.ValidUntilUnixNano <= a.moment || !passes(subject) {
			continue
		}
		why := o.Text
		if i := strings.Index(why, "\n\n"); i >= 0 {
			why = strings.Join(strings.Fields(why[i:]), " ")
		} else {
			why = ""
		}
		all = append(all, query.Announcement{
			Subject: subject, Why: brief(why, maxWhy), Agent: o.Agent, Session: o.Session, Tenant: o.Tenant, Workspace: o.Workspace,
			Since: time.Unix(0, o.TimeUnixNano).UTC(), Until: time.Unix(0, o.ValidUntilUnixNano).UTC(), Position: o.At, EventID: o.EventID.String(),
		})
	}
	a.Step(Step{Operator: "announced", Inputs: map[string]string{"since": time.Unix(0, f.Since).UTC().Format(time.RFC3339Nano)}, Counts: map[string]int64{"events": int64(len(refs)), "hold": int64(len(all))}})
	a.RecordTime("announced")
	return all, nil
}

// subjects returns what names mean: symbol:NAME, file:PATH, or a name that may be either.
func subjects(names []string) []query.Subject {
	all := make([]query.Subject, len(names))
	for i, name := range names {
		switch kind, rest, ok := strings.Cut(name, ":"); {
		case ok && kind == "symbol":
			all[i] = query.Subject{Symbol: rest}
		case ok && kind == "file":
			all[i] = query.Subject{File: rest}
		default:
			all[i] = query.Subject{Symbol: name, File: name}
		}
	}
	return all
}

// Around returns what a request is about, and with each symbol its file, and with each file those of its
// symbols on which somebody has announced work: who changes one should know of the other. Where symbols
// are declared is asked of repo's code at HEAD; without it nothing is added.
func Around(ctx context.Context, of question.Answerer, repo string, r AnnouncedRequest) []string {
	if len(r.About) == 0 {
		return nil
	}
	about, wide := slices.Clone(r.About), subjects(r.About)
	add := func(name string) {
		if len(about) < maxListed && !slices.Contains(about, name) {
			about = append(about, name)
		}
	}
	declaring := func(symbol string) (files []string) {
		found, _ := code.SymbolsQuestion.Ask(ctx, of, code.SymbolsRequest{Scope: code.Scope{Repo: repo}, Text: symbol, Limit: 20})
		for _, h := range found.Symbols {
			if (h.Match == "name" || h.Match == "exact") && h.Kind != "file" {
				files = append(files, h.File)
			}
		}
		return files
	}
	for _, s := range wide {
		if s.Symbol == "" {
			continue
		}
		for _, file := range declaring(s.Symbol) {
			add("file:" + file)
		}
	}
	if !slices.ContainsFunc(wide, func(s query.Subject) bool { return s.File != "" }) {
		return about
	}
	r.About, r.Limit = nil, 1000
	all, _ := AnnouncedQuestion.Ask(ctx, of, r)
	for _, x := range all.Announcements {
		symbol, ok := strings.CutPrefix(x.Subject, "symbol:")
		if !ok {
			continue
		}
		for _, file := range declaring(symbol) {
			if slices.ContainsFunc(wide, func(s query.Subject) bool { return query.Subject{File: s.File}.Concerns("file:" + file) }) {
				add(x.Subject)
			}
		}
	}
	return about
}

// AnnounceIn adds to an answer about symbols who has announced work on them, as far as the principal
// may see it. now is the time to measure against; zero means that of the newest visible object.
func AnnounceIn(ctx context.Context, s Sources, p schemas.Principal, now time.Time, answer query.SubjectsAnswer) error {
	about := answer.Subjects()
	if len(about) == 0 {
		return nil
	}
	r := AnnouncedRequest{At: now}
	s.Turns = nil // it is a small part of another question
	a, err := s.openFor(ctx, p, r.request())
	if err != nil {
		return err
	}
	defer a.Close()
	all, err := a.announced(func(subject string) bool {
		return slices.ContainsFunc(about, func(s query.Subject) bool { return s.Concerns(subject) })
	})
	// An agent need not be told of its own work; a token without a session cannot tell its own
	// sessions apart.
	all = slices.DeleteFunc(all, func(x query.Announcement) bool {
		return p.Agent != "" && x.Agent == p.Agent && (x.Session == "" || len(p.Sessions) == 1 && p.Sessions[0] == x.Session)
	})
	if err != nil || len(all) == 0 {
		return err
	}
	answer.Announce(all[:min(len(all), defaultAnnounced)])
	answer.AddStep(query.Step{
		Operator: "announced", Inputs: map[string]string{"now": time.Unix(0, a.moment).UTC().Format(time.RFC3339Nano), "below": a.at.Below.String()},
		Counts: map[string]int64{"hold": int64(len(all))},
	})
	return nil
}

// attribute returns the value of an object's attribute, or "".
func attribute(o *objects.Stored, key string) string {
	for _, x := range o.Attributes {
		if x.Key == key {
			return x.Value
		}
	}
	return ""
}

// checkSubject refuses a name of a symbol or file that is empty or too long.
func checkSubject(field, name string) error {
	if strings.TrimSpace(name) == "" {
		return &query.RequestError{Field: field, Value: `""`, Reason: "want a symbol or a file"}
	}
	return query.CheckName(field, name)
}
