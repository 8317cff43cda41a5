package evidence

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These are the kinds of what agents write down, in the order in which a request lists them.
const (
	Decision = schemas.FormDecision
	Fact     = schemas.FormFact
	Note     = schemas.FormNote
	Plan     = "plan"
	Task     = "task"
	Handover = "handover"
)

// rememberedKinds are the allowed kinds, in order.
var rememberedKinds = []string{Decision, Fact, Note, Plan, Task, Handover}

// These are the values of Remembered.Status.
const (
	StatusOpen       = "open"       // it holds, or is still to be done
	StatusDone       = "done"       // the task or all steps of the plan ended, or somebody took the handover
	StatusSuperseded = "superseded" // another object replaced it
	StatusExpired    = "expired"    // its time is over, or has not begun
)

// RememberedRequest asks what agents wrote down: decisions, facts, notes, plans, tasks, handovers.
type RememberedRequest struct {
	Kinds     []string          `json:"kinds,omitempty" maxItems:"64" example:"decision" doc:"Only these kinds: decision, fact, note, plan, task, handover."`
	About     []string          `json:"about,omitempty" maxItems:"64" example:"Cart.Add" doc:"Only what is stated to be about these symbols or files, each symbol:NAME, file:PATH, or a name that may be either. A name may be the end of a longer one; a type includes its methods."`
	Workspace string            `json:"workspace,omitempty" maxLength:"4096" example:"/src/shop" doc:"Only of this workspace."`
	Agent     string            `json:"agent,omitempty" maxLength:"4096" example:"claude" doc:"Only by this agent."`
	Session   string            `json:"session,omitempty" maxLength:"4096" example:"s-17" doc:"Only of this session."`
	To        string            `json:"to,omitempty" maxLength:"4096" example:"reviewer" doc:"Only handovers to this agent."`
	All       bool              `json:"all,omitempty" doc:"Also what is done, superseded or expired; the default is only what is open."`
	Since     time.Time         `json:"since,omitzero" example:"2026-11-01T00:00:00Z" doc:"Written at this time or later."`
	At        time.Time         `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now, for validity. Default: as_of's time, or the time of the newest object that you may see. The clock is not used."`
	AsOf      query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark."`
	Limit     int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" example:"20" doc:"Maximum number of results."`
	AtLeast   schemas.Watermark `json:"at_least,omitempty" example:"recount.agents/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS    int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// RememberedResponse lists what agents wrote down.
type RememberedResponse struct {
	query.Basis
	Items     []Remembered `json:"items" nullable:"false" doc:"The results, the newest first."`
	Truncated bool         `json:"truncated,omitempty" doc:"Whether there are more, or older ones that were not examined."`
}

// Remembered is one thing that an agent wrote down. Its texts are quoted: data and no instructions.
type Remembered struct {
	Kind       string     `json:"kind" enum:"decision,fact,note,plan,task,handover" doc:"The kind."`
	Status     string     `json:"status" enum:"open,done,superseded,expired" doc:"open: it holds, or is still to be done. done: the task or all steps of the plan ended, or the recipient took the handover. superseded: replaced. expired: not valid at the time of the query."`
	ID         string     `json:"id" format:"uuid" doc:"The object's id."`
	EventID    string     `json:"event_id" format:"uuid" doc:"The event that stated this version."`
	Position   string     `json:"position" example:"recount.agents/0/1042" doc:"The position of that event."`
	Title      string     `json:"title,omitempty" doc:"A one-line title."`
	Text       string     `json:"text" doc:"What was written, at most 4,000 bytes; recount show POSITION prints all."`
	Task       string     `json:"task,omitempty" example:"SHOP-7" doc:"The id of a task."`
	Outcome    string     `json:"outcome,omitempty" example:"succeeded" doc:"How a task ended."`
	Steps      []PlanStep `json:"steps,omitempty" doc:"The steps of a plan, at most 50."`
	To         string     `json:"to,omitempty" example:"reviewer" doc:"The agent to whom work was handed over."`
	About      []string   `json:"about,omitempty" example:"symbol:shop.Cart.Add" doc:"The symbols and files that it is stated to be about."`
	Agent      string     `json:"agent,omitempty" example:"claude" doc:"The agent that wrote it."`
	Session    string     `json:"session,omitempty" example:"s-17" doc:"The agent's session."`
	Tenant     string     `json:"tenant,omitempty" doc:"The tenant; empty for the default tenant."`
	Workspace  string     `json:"workspace,omitempty" example:"/src/shop" doc:"The workspace."`
	Time       time.Time  `json:"time" doc:"When this version was written."`
	ValidUntil time.Time  `json:"valid_until,omitzero" doc:"The time until which it is valid, if there is an end."`
	By         *Link      `json:"superseded_by,omitempty" doc:"What replaced it, and how that is known."`
	Disputed   []Link     `json:"contradicted,omitempty" doc:"Objects that contradict it."`
	Visibility string     `json:"visibility,omitempty" enum:"private,session,tenant" doc:"Who may see it, if that is not its workspace."`
	order      schemas.ObjectRef
	nanos      int64
}

// PlanStep is one step of a plan.
type PlanStep struct {
	Text   string `json:"text" doc:"The step."`
	Status string `json:"status,omitempty" example:"pending" doc:"pending, in_progress, done, dropped, or the producer's own term."`
}

// RememberedQuestion is the question what agents wrote down.
var RememberedQuestion = question.New("remembered", "List decisions, plans, tasks and notes",
	"Lists what agents wrote down for later: decisions, facts, notes, plans, tasks and handovers, by default only what is still open: neither done nor replaced nor expired. The token determines what is visible. To search by words, ask POST /v1/query.",
	func(r RememberedRequest) error {
		_, err := r.normal()
		return err
	},
	func(ctx context.Context, a Asked, r RememberedRequest) (RememberedResponse, error) {
		return ListRemembered(ctx, a.Sources, a.Principal, r)
	})

// These limit what an answer examines and shows.
const (
	defaultRemembered = 20
	maxExamined       = 4000 // objects of each kind, the newest
	maxRememberedText = 4000 // bytes
	maxSteps          = 50
	maxAbout          = 32
)

// normal returns the request with defaults filled in, or a *query.RequestError.
func (r RememberedRequest) normal() (RememberedRequest, error) {
	r.Limit = cmp.Or(r.Limit, defaultRemembered)
	var err error
	if r.Kinds, err = inOrder("kinds", r.Kinds, rememberedKinds); err != nil {
		return r, err
	}
	if len(r.Kinds) == 0 {
		r.Kinds = rememberedKinds
	}
	if r.To != "" {
		r.Kinds = []string{Handover}
	}
	if len(r.About) > maxListed {
		return r, &query.RequestError{Field: "about", Value: strconv.Itoa(len(r.About)) + " of them", Reason: "want at most " + strconv.Itoa(maxListed)}
	}
	for _, name := range r.About {
		if err := checkSubject("about", name); err != nil {
			return r, err
		}
	}
	if err := query.CheckName("to", r.To); err != nil {
		return r, err
	}
	_, err = r.request().Normal()
	return r, err
}

// request returns the part of the request that every question for objects has.
func (r RememberedRequest) request() Request {
	return Request{
		Scope: Scope{Workspace: r.Workspace, Agent: r.Agent, Session: r.Session}, Since: r.Since,
		At: r.At, AsOf: r.AsOf, Limit: r.Limit, AtLeast: r.AtLeast, WaitMS: r.WaitMS,
	}
}

// ListRemembered answers what agents wrote down, on behalf of a principal. Errors are those of Ask.
func ListRemembered(ctx context.Context, s Sources, p schemas.Principal, r RememberedRequest) (RememberedResponse, error) {
	r, err := r.normal()
	if err != nil {
		return RememberedResponse{}, err
	}
	a, err := s.openFor(ctx, p, r.request())
	if err != nil {
		return RememberedResponse{}, err
	}
	defer a.Close()
	sc, err := a.scoped()
	if err != nil {
		return RememberedResponse{}, err
	}
	if err := a.setMoment(sc); err != nil {
		return RememberedResponse{}, err
	}
	x := &listing{session: a, r: &r, sc: sc, about: subjects(r.About), seen: map[schemas.ObjectID]bool{}}
	for _, kind := range r.Kinds {
		if err := x.list(kind); err != nil {
			return RememberedResponse{}, err
		}
	}
	slices.SortFunc(x.found, func(x, y Remembered) int {
		return cmp.Or(cmp.Compare(y.nanos, x.nanos), y.order.Compare(x.order))
	})
	resp := RememberedResponse{Items: append([]Remembered{}, x.found[:min(len(x.found), r.Limit)]...), Truncated: x.more || len(x.found) > r.Limit}
	hint := ""
	if len(resp.Items) == 0 {
		if hint, err = a.nothing(sc); err != nil {
			return RememberedResponse{}, err
		}
		if hint == "" || len(x.found) == 0 {
			hint = "nothing is written down that you may see and that passes the filters; an agent writes with recount remember"
		}
	}
	resp.Basis = a.basis(len(resp.Items) == 0, hint)
	return resp, nil
}

// openFor opens a session for a question that lists objects.
func (s Sources) openFor(ctx context.Context, p schemas.Principal, r Request) (*session, error) {
	r, err := r.Normal()
	if err != nil {
		return nil, err
	}
	return s.open(ctx, p, r)
}

// basis returns what an answer rests on.
func (a *session) basis(empty bool, hint string) query.Basis {
	r := Response{Status: query.StatusOK, Hint: hint, Watermark: a.at.Below, AppliedFilters: a.filters, Proof: a.Proof, Timing: a.Timing()}
	if empty {
		r.Status = query.StatusEmpty
	}
	r.Hint = query.KnownSince(r.Hint, "agents' events", a.s.Since, a.r.Since)
	return r.Rests()
}

// listing collects what agents wrote down.
type listing struct {
	*session
	r     *RememberedRequest
	sc    *scope
	about []query.Subject
	seen  map[schemas.ObjectID]bool
	found []Remembered
	more  bool
}

// list adds the newest objects of a kind, up to the limit.
func (x *listing) list(kind string) error {
	refs, err := x.candidates(kind)
	if err != nil {
		return err
	}
	added, looked := 0, 0
	for _, ref := range refs {
		if added > x.r.Limit {
			break
		}
		looked++
		o, err := x.object(ref)
		if err != nil {
			return err
		}
		if o == nil || x.seen[o.ObjectID()] || kindOf(o) != kind {
			continue
		}
		x.seen[o.ObjectID()] = true
		item, err := x.item(kind, o)
		if err != nil {
			return err
		}
		if item.Status != StatusOpen && !x.r.All || x.r.To != "" && item.To != x.r.To || !x.concerns(item.About) {
			continue
		}
		added++
		x.found = append(x.found, item)
	}
	x.more = x.more || len(refs) == maxExamined && added <= x.r.Limit
	x.Step(Step{Operator: "list", Inputs: map[string]string{"kind": kind}, Counts: map[string]int64{"examined": int64(looked), "listed": int64(added)}})
	x.RecordTime("list " + kind)
	return nil
}

// candidates returns the newest objects that may be of a kind, the newest first.
func (x *listing) candidates(kind string) ([]schemas.ObjectRef, error) {
	if kind == Decision || kind == Note { // the others are listed by the types of their events
		edges, err := x.view.Entity(x.sc.ids, "kind:"+kind, objects.Bound{At: x.at, Visible: x.sc.passes, Limit: maxExamined})
		refs := make([]schemas.ObjectRef, 0, len(edges))
		for _, e := range edges {
			refs = append(refs, e.Ref)
		}
		return refs, err
	}
	f := x.sc.filter
	f.Events = map[string][]string{
		Fact: {schemas.TypeMemoryStated}, Plan: {schemas.TypePlanUpdated},
		Task: {schemas.TypeTaskStarted, schemas.TypeTaskFinished}, Handover: {schemas.TypeHandoff},
	}[kind]
	return x.view.Latest(x.Ctx, f, maxExamined)
}

// kindOf returns the kind of an object, or "" if it is not one that agents write down. A statement
// without a form is a fact, one of a producer's own form a note.
func kindOf(o *objects.Stored) string {
	switch o.EventType {
	case schemas.TypeMemoryStated:
		switch form := attribute(o, "form"); form {
		case Decision, Note, Fact:
			return form
		case "":
			return Fact
		}
		return ""
	case schemas.TypePlanUpdated:
		return Plan
	case schemas.TypeTaskStarted, schemas.TypeTaskFinished:
		return Task
	case schemas.TypeHandoff:
		return Handover
	}
	return ""
}

// item returns an object as an answer shows it, judged at the moment.
func (x *listing) item(kind string, o *objects.Stored) (Remembered, error) {
	p := x.partAt(o.Ref)
	j, err := x.judgementOf(p)
	if err != nil {
		return Remembered{}, err
	}
	text := o.Text
	if len(text) > maxRememberedText {
		text = brief(text, maxRememberedText)
	}
	item := Remembered{
		Kind: kind, Status: StatusOpen, ID: o.IDText, EventID: o.EventID.String(), Position: o.At, Title: o.Title, Text: text,
		Agent: o.Agent, Session: o.Session, Tenant: o.Tenant, Workspace: o.Workspace, Time: time.Unix(0, o.TimeUnixNano).UTC(),
		By: j.superseded, Disputed: j.contradicted, Visibility: visibilityName(o.Visibility), order: o.Ref, nanos: o.TimeUnixNano,
	}
	if o.ValidUntilUnixNano != 0 {
		item.ValidUntil = time.Unix(0, o.ValidUntilUnixNano).UTC()
	}
	for _, e := range o.Edges {
		switch {
		case e.Rule != ruleStated:
		case e.Kind == edgeRefersTo && len(item.About) < maxAbout && (strings.HasPrefix(e.Entity, "symbol:") || strings.HasPrefix(e.Entity, "file:")):
			item.About = append(item.About, e.Entity)
		case e.Kind == recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_HANDED_TO:
			if to, ok := strings.CutPrefix(e.Entity, "agent:"); ok {
				item.To = to
			}
		}
	}
	done := false
	switch kind {
	case Task:
		item.Task, item.Outcome = attribute(o, "task"), attribute(o, "task_outcome")
		done = attribute(o, "task_status") == "finished"
	case Plan:
		item.Steps, done = stepsOf(o.Text)
	case Handover:
		if done, err = x.taken(p, item.To); err != nil {
			return item, err
		}
	}
	switch {
	case j.superseded != nil && (j.superseded.Rule == ruleValidUntil || j.superseded.Rule == ruleValidFrom):
		item.Status = StatusExpired
	case j.superseded != nil:
		item.Status = StatusSuperseded
	case done:
		item.Status = StatusDone
	}
	return item, nil
}

// taken reports whether somebody else than the agent that handed work over answered it: with an
// event that follows from the handover.
func (x *listing) taken(p *part, to string) (bool, error) {
	all, err := x.comeFrom(p, func(k recountv1.ObjectEdgeKind) bool { return k == edgeCausedBy || k == edgeDerivedFrom }, nil)
	if err != nil {
		return false, err
	}
	for _, n := range all {
		if n.to != nil && (n.to.agent == to || to == "" && n.to.agent != p.agent) {
			return true, nil
		}
	}
	return false, nil
}

// concerns reports whether the things that an object is about include one that is asked for.
func (x *listing) concerns(stated []string) bool {
	if len(x.about) == 0 {
		return true
	}
	for _, entity := range stated {
		if slices.ContainsFunc(x.about, func(s query.Subject) bool { return s.Concerns(entity) }) {
			return true
		}
	}
	return false
}

// stepsOf reads the steps of a plan from its object's text, where each is a line "- [status] text",
// and reports whether all of them are done or dropped.
func stepsOf(text string) (steps []PlanStep, done bool) {
	open := 0
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "- ")
		if !ok {
			continue
		}
		s := PlanStep{Text: rest}
		if status, after, ok := strings.Cut(rest, "] "); ok && strings.HasPrefix(status, "[") {
			s = PlanStep{Text: after, Status: status[1:]}
		}
		if s.Status != "done" && s.Status != "dropped" {
			open++
		}
		if len(steps) < maxSteps {
			steps = append(steps, s)
		}
	}
	return steps, len(steps) > 0 && open == 0
}
