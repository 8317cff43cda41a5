package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// session is one session while events are counted.
type session struct {
	Session
	key         string
	seen        bool
	first, last int64
	newest      schemas.Position   // of its commands
	newestAt    int64              // when that started
	opening     *schemas.ObjectRef // the first message of a person, or the first task
	openedAt    int64
}

// counting is the state of one query.
type counting struct {
	query.Session[query.Step]
	r   Request
	all map[string]*session
}

// List answers a request on behalf of a principal. An error is a *query.RequestError, that of ctx, or
// that of a projection.
func List(ctx context.Context, s evidence.Sources, p schemas.Principal, r Request) (Response, error) {
	r, err := r.Normal()
	if err != nil {
		return Response{}, err
	}
	base, err := query.Begin[query.Step](ctx, s.Set, nil, 0)
	if err != nil {
		return Response{}, err
	}
	a := &counting{Session: base, r: r, all: map[string]*session{}}
	defer a.Close()
	a.Visible = schemas.Watermark{}
	// A list of the sessions of some workspaces would have to leave out parts of sessions.
	commands := p.Granted(schemas.GrantCommands) && p.InWorkspace("*") && s.Commands.Set != nil
	if r.Kind == KindAgents {
		commands = false
	}
	var rows *segment.Projection
	if commands {
		if rows, err = a.commands(s); err != nil {
			return Response{}, err
		}
	}
	var view *objects.View
	if r.Kind != KindCommands {
		if view, err = a.objects(s, p); err != nil {
			return Response{}, err
		}
	}
	resp := a.page()
	for i, x := range resp.page {
		if err := a.describe(x, rows, view); err != nil {
			return Response{}, err
		}
		resp.Sessions[i] = x.Session
	}
	a.RecordTime("describe")
	hint := ""
	switch {
	case len(resp.Sessions) == 0 && !commands && r.Kind == KindCommands:
		hint = "the token is not granted commands of all workspaces"
	case len(a.all) == 0 && len(r.filters()) == 0:
		hint = "there is no session that you may see yet"
	case len(a.all) == 0:
		hint = "no session that you may see passes the filters"
	}
	resp.Basis = query.BasisOf(&a.Session, len(resp.Sessions) == 0, hint, r.filters())
	return resp.Response, nil
}

// paged is a response, with the sessions that it is made from.
type paged struct {
	Response
	page []*session
}

// page returns the sessions of the requested page.
func (a *counting) page() paged {
	all := make([]*session, 0, len(a.all))
	for _, x := range a.all {
		all = append(all, x)
	}
	placeOf := func(x *session) place { return place{x.last, x.key} }
	slices.SortFunc(all, func(x, y *session) int { return placeOf(x).compare(placeOf(y)) })
	resp := paged{Response: Response{Total: len(all)}}
	if after, _ := parsePlace(a.r.After); after != nil {
		from, found := slices.BinarySearchFunc(all, *after, func(x *session, p place) int { return placeOf(x).compare(p) })
		if found {
			from++
		}
		all = all[from:]
	}
	if resp.Truncated = max(0, len(all)-a.r.Limit); resp.Truncated > 0 {
		all = all[:a.r.Limit]
		resp.Next = placeOf(all[len(all)-1]).String()
	}
	resp.page, resp.Sessions = all, make([]Session, len(all))
	return resp
}

// sessionOf returns the session of a key, which is new if it was not seen before.
func (a *counting) sessionOf(tenant, name, author, host string, agent bool) *session {
	key := keyOf(name, author, host, tenant)
	x := a.all[key]
	if x == nil {
		x = &session{key: strings.Clone(key)}
		x.Session = Session{Session: strings.Clone(name), Author: strings.Clone(author), Host: strings.Clone(host), Tenant: strings.Clone(tenant)}
		a.all[x.key] = x
	}
	x.Agent = x.Agent || agent
	return x
}

// happened adds a time to a session, and the workspace if nothing newer is known.
func (x *session) happened(at int64, workspace string) {
	if !x.seen {
		x.seen, x.first, x.last = true, at, at
	}
	x.first = min(x.first, at)
	if at >= x.last {
		x.last = at
		if workspace != x.Workspace {
			x.Workspace = strings.Clone(workspace)
		}
	}
}

// commands counts the commands of all sessions.
func (a *counting) commands(s evidence.Sources) (*segment.Projection, error) {
	live, err := a.Acquire(s.Set, segment.Name)
	if err != nil {
		return nil, err
	}
	rows, ok := live.(*segment.Projection)
	if !ok {
		return nil, fmt.Errorf("the projection %s is a %T", segment.Name, live)
	}
	below := rows.Watermark()
	for tp, next := range below {
		a.Visible[tp] = next
	}
	read := int64(0)
	var last *session // consecutive rows are mostly of one session
	lastUser := ""
	err = rows.Each(a.Ctx, segment.Filter{From: a.r.Since, To: a.r.Until, Below: below, Workspace: a.r.Workspace}, func(v *segment.View) bool {
		name := v.Session()
		if name == "" {
			return true
		}
		read++
		author, user, host := v.Author(), v.User(), v.Host()
		agent := author != "" && author != user
		if agent {
			host = "" // an agent's session is also known by what it said, without a host
		} else {
			author = user
		}
		if a.r.Author != "" && author != a.r.Author {
			return true
		}
		if last == nil || last.Session.Session != name || last.Author != author || last.Host != host || lastUser != user {
			last, lastUser = a.sessionOf("", name, author, host, agent), strings.Clone(user)
		}
		last.Commands++
		at := v.UnixNano()
		last.happened(at, v.Workspace())
		if last.Commands == 1 || at >= last.newestAt {
			last.newest, last.newestAt = v.Position(), at
		}
		return true
	})
	a.Step(query.Step{Operator: "scan", Inputs: map[string]string{"of": "commands"}, Counts: map[string]int64{"read": read}})
	a.RecordTime("commands")
	return rows, err
}

// opens are the types of the events whose text says what a session is about.
var opens = []string{schemas.TypeUserMessage, schemas.TypeTaskStarted}

// objects counts what agents said and did, as far as the principal sees it.
func (a *counting) objects(s evidence.Sources, p schemas.Principal) (*objects.View, error) {
	live, err := a.Acquire(s.Set, objects.Name)
	if err != nil {
		return nil, err
	}
	store, ok := live.(*objects.Objects)
	if !ok {
		return nil, fmt.Errorf("the projection %s is a %T", objects.Name, live)
	}
	view, err := store.View()
	if err != nil {
		return nil, err
	}
	a.OnClose(func() { _ = view.Close() })
	below := view.Watermark()
	for tp, next := range below {
		a.Visible[tp] = next
	}
	f := objects.Filter{At: objects.At{Below: below}, Workspace: a.r.Workspace, Agent: a.r.Author}
	f.Audiences = []schemas.AudienceID{}
	for _, who := range view.Audiences(p, below) {
		f.Audiences = append(f.Audiences, who.ID())
	}
	if !a.r.Since.IsZero() {
		f.Since = schemas.UnixNano(a.r.Since)
	}
	if !a.r.Until.IsZero() {
		f.Until = schemas.UnixNano(a.r.Until)
	}
	read := int64(0)
	each := func(f objects.Filter, use func(x *session, ref schemas.ObjectRef, at int64, workspace string)) error {
		return view.Scan(a.Ctx, f, func(ref schemas.ObjectRef) error {
			o, known := view.Attributes(ref)
			if !known || o.Session == "" {
				return nil
			}
			read++
			use(a.sessionOf(o.Tenant, o.Session, o.Agent, "", true), ref, o.TimeUnixNano, o.Workspace)
			return nil
		})
	}
	err = each(f, func(x *session, _ schemas.ObjectRef, at int64, workspace string) {
		x.Objects++
		x.happened(at, workspace)
	})
	if err != nil {
		return nil, err
	}
	f.Events = opens
	err = each(f, func(x *session, ref schemas.ObjectRef, at int64, _ string) {
		if x.opening == nil || at < x.openedAt {
			x.opening, x.openedAt = &ref, at
		}
	})
	a.Step(query.Step{Operator: "scan", Inputs: map[string]string{"of": "objects"}, Counts: map[string]int64{"read": read}})
	a.RecordTime("objects")
	return view, err
}

// maxAbout is the maximum length of Session.About in characters.
const maxAbout = 160

// describe completes a session of the answer.
func (a *counting) describe(x *session, rows *segment.Projection, view *objects.View) error {
	x.First, x.Last = time.Unix(0, x.first).UTC(), time.Unix(0, x.last).UTC()
	text := ""
	switch {
	case x.opening != nil:
		o, err := view.Get(*x.opening)
		if err != nil {
			return err
		}
		if o != nil {
			text = o.Title
			if text == "" {
				text = o.Text
			}
			if o.EventType == schemas.TypeTaskStarted {
				text = strings.TrimSuffix(text, " started") // the title of a task is what it is about
			}
		}
	case x.Commands > 0:
		err := rows.ViewAt(a.Ctx, []schemas.Position{x.newest}, func(_ int, v *segment.View) error {
			text = strings.Clone(v.Command())
			return nil
		})
		if err != nil {
			return err
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxAbout {
		text = string(runes[:maxAbout-1]) + "…"
	}
	x.About = text
	return nil
}

// filters lists the filters of a request.
func (r Request) filters() []query.AppliedFilter {
	all := []query.AppliedFilter{}
	for _, f := range []struct{ field, op, value string }{
		{"since", "ge", moment(r.Since)}, {"until", "lt", moment(r.Until)}, {"author", "eq", r.Author}, {"workspace", "eq", r.Workspace}, {"kind", "eq", r.Kind},
	} {
		if f.value != "" {
			all = append(all, query.AppliedFilter{Field: f.field, Op: f.op, Value: f.value})
		}
	}
	return all
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
