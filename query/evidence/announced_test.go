package evidence_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func asRequestError(err error, to **query.RequestError) bool { return errors.As(err, to) }

// announces returns an announcement that holds for some minutes; 0 leaves that to the default.
func announces(id string, minute, minutes int, agent, session, subject, why string) said {
	m := &recountv1.AgentEvent{Workspace: "shop", Agent: agent, Session: session, Text: why, Announcement: &recountv1.Announcement{Subject: subject}}
	if minutes > 0 {
		m.ValidUntil = timestamppb.New(epoch.Add(time.Duration(minute+minutes) * time.Minute))
	}
	return said{id: id, typ: schemas.TypeWorkAnnounced, minute: minute, AgentEvent: m}
}

func ends(id string, minute int, agent, session, subject string) said {
	s := announces(id, minute, 0, agent, session, subject, "")
	s.typ = schemas.TypeWorkEnded
	return s
}

func (w *world) announced(p schemas.Principal, r evidence.AnnouncedRequest) []string {
	w.t.Helper()
	resp, err := evidence.Announced(context.Background(), w.src, p, r)
	if err != nil {
		w.t.Fatalf("announced %+v: %v", r, err)
	}
	for _, subject := range r.About {
		if len(resp.Announcements) == 0 && !strings.Contains(resp.Hint, subject) {
			w.t.Errorf("about %s: %q does not say of what nobody works", subject, resp.Hint)
		}
	}
	if (resp.Status == query.StatusEmpty) != (len(resp.Announcements) == 0) {
		w.t.Errorf("status %q with %d announcements", resp.Status, len(resp.Announcements))
	}
	all := []string{}
	for _, x := range resp.Announcements {
		all = append(all, x.Agent+"/"+x.Session+" "+x.Subject+" until "+x.Until.Format("15:04")+": "+x.Why)
	}
	return all
}

func TestWhoIsWorkingOnWhat(t *testing.T) {
	w := newWorld(t)
	w.add(0,
		announces("a1", 0, 60, "claude", "s1", "symbol:shop.Cart.Add", "moving it to Postgres"),
		announces("a2", 5, 60, "claude", "s2", "symbol:shop.Cart.Add", "adding a test"),
		announces("a3", 6, 0, "codex", "c1", "file:./src/cart.go", ""),
		announces("a4", 10, 30, "bob", "", "symbol:shop.Cart", "renaming it"),
		announces("a5", 20, 90, "claude", "s1", "symbol:shop.Cart.Add", "still moving it"),
		ends("e1", 30, "claude", "s2", "symbol:shop.Cart.Add"),
	)
	at := func(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }
	renewed := "claude/s1 symbol:shop.Cart.Add until 10:50: still moving it"
	file := "codex/c1 file:src/cart.go until 11:06: "
	bob := "bob/ symbol:shop.Cart until 09:40: renaming it"
	first := "claude/s1 symbol:shop.Cart.Add until 10:00: moving it to Postgres"
	second := "claude/s2 symbol:shop.Cart.Add until 10:05: adding a test"
	for _, c := range []struct {
		name string
		r    evidence.AnnouncedRequest
		want []string
	}{
		{"as of the newest event", evidence.AnnouncedRequest{}, []string{renewed, bob, file}},
		{"before the first", evidence.AnnouncedRequest{At: at(-1)}, nil},
		{"before it was renewed and ended", evidence.AnnouncedRequest{At: at(15)}, []string{bob, file, second, first}},
		{"known then", evidence.AnnouncedRequest{AsOf: query.AsOf{Time: at(15)}}, []string{bob, file, second, first}},
		{"when one is over", evidence.AnnouncedRequest{At: at(40)}, []string{renewed, file}},
		{"when all are over", evidence.AnnouncedRequest{At: at(126)}, nil},
		{"a method, by its end", evidence.AnnouncedRequest{About: []string{"Cart.Add"}}, []string{renewed, bob}},
		{"a type includes its methods", evidence.AnnouncedRequest{About: []string{"symbol:Cart"}}, []string{renewed, bob}},
		{"another method of the type", evidence.AnnouncedRequest{About: []string{"shop.Cart.Remove"}}, []string{bob}},
		{"part of a word", evidence.AnnouncedRequest{About: []string{"art.Add"}}, nil},
		{"a file by a longer path", evidence.AnnouncedRequest{About: []string{"/work/shop/src/cart.go"}}, []string{file}},
		{"one agent", evidence.AnnouncedRequest{Agent: "codex"}, []string{file}},
		{"one session", evidence.AnnouncedRequest{Agent: "claude", Session: "s2"}, nil},
		{"another workspace", evidence.AnnouncedRequest{Workspace: "other"}, nil},
		{"at most one", evidence.AnnouncedRequest{Limit: 1}, []string{renewed}},
	} {
		if got := w.announced(operator, c.r); !slices.Equal(got, append([]string{}, c.want...)) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestOthersDoNotSeeWhatIsAnnounced checks tenants, workspaces and private announcements.
func TestOthersDoNotSeeWhatIsAnnounced(t *testing.T) {
	w := newWorld(t)
	private := announces("p", 1, 60, "claude", "s1", "symbol:Secret", "private")
	private.Visibility = recountv1.Visibility_VISIBILITY_PRIVATE
	theirs := announces("b", 2, 60, "claude", "s1", "symbol:Theirs", "of beta")
	theirs.Tenant = "beta"
	w.add(0, announces("a", 0, 60, "claude", "s1", "symbol:Ours", "of the default tenant"), private, theirs)
	for name, c := range map[string]struct {
		p    schemas.Principal
		want string
	}{
		"the agent":           {schemas.Principal{Workspaces: []string{"shop"}, Agent: "claude"}, "symbol:Secret symbol:Ours"},
		"another agent":       {schemas.Principal{Workspaces: []string{"shop"}, Agent: "bob"}, "symbol:Ours"},
		"another workspace":   {schemas.Principal{Workspaces: []string{"other"}, Agent: "bob"}, ""},
		"another tenant":      {schemas.Principal{Tenant: "beta", Workspaces: []string{"*"}, Agent: "bob"}, "symbol:Theirs"},
		"a tenant without it": {schemas.Principal{Tenant: "gamma", Workspaces: []string{"*"}, Sessions: []string{"*"}, Agent: "claude"}, ""},
	} {
		var got []string
		for _, line := range w.announced(c.p, evidence.AnnouncedRequest{}) {
			got = append(got, strings.Fields(line)[1])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s sees %q, want %q", name, got, c.want)
		}
	}
}

// answer is an answer about symbols.
type answer struct {
	about []query.Subject
	got   []query.Announcement
	step  query.Step
}

func (a *answer) Subjects() []query.Subject         { return a.about }
func (a *answer) Announce(all []query.Announcement) { a.got = all }
func (a *answer) AddStep(s query.Step)              { a.step = s }

func TestAnAnswerAboutASymbolNamesWhoWorksOnIt(t *testing.T) {
	w := newWorld(t)
	w.add(0, announces("a", 0, 60, "claude", "s1", "symbol:shop.Cart.Add", "moving it"), announces("b", 1, 60, "codex", "", "file:src/cart.go", "formatting"))
	ask := func(p schemas.Principal, now time.Time, s query.Subject) (agents []string) {
		t.Helper()
		x := &answer{about: []query.Subject{s}}
		if err := evidence.AnnounceIn(context.Background(), w.src, p, now, x); err != nil {
			t.Fatal(err)
		}
		for _, g := range x.got {
			agents = append(agents, g.Agent)
		}
		if len(x.got) > 0 && (x.step.Inputs["now"] == "" || x.step.Inputs["below"] == "") {
			t.Errorf("the proof does not say when: %+v", x.step)
		}
		return agents
	}
	cart := query.Subject{Symbol: "shop.Cart.Add", File: "src/cart.go"}
	if got := ask(operator, time.Time{}, cart); !slices.Equal(got, []string{"codex", "claude"}) {
		t.Errorf("the operator sees %q", got)
	}
	if got := ask(operator, epoch.Add(2*time.Hour), cart); got != nil {
		t.Errorf("when they are over: %q", got)
	}
	if got := ask(operator, time.Time{}, query.Subject{Symbol: "shop.Order", File: "src/order.go"}); got != nil {
		t.Errorf("about another symbol: %q", got)
	}
	shop := []string{"shop"}
	if got := ask(schemas.Principal{Workspaces: shop, Agent: "codex"}, time.Time{}, cart); !slices.Equal(got, []string{"claude"}) {
		t.Errorf("codex is told %q", got)
	}
	if got := ask(schemas.Principal{Workspaces: shop, Agent: "claude", Sessions: []string{"s1"}}, time.Time{}, cart); !slices.Equal(got, []string{"codex"}) {
		t.Errorf("claude in s1 is told %q", got)
	}
	if got := ask(schemas.Principal{Workspaces: shop, Agent: "claude", Sessions: []string{"s2"}}, time.Time{}, cart); !slices.Equal(got, []string{"codex", "claude"}) {
		t.Errorf("claude in s2 is told %q", got)
	}
}

// TestWorkAnnouncedElsewhere checks that an answer of one workspace says that there are announcements of others, which an
// agent over HTTP that names no workspace makes.
func TestWorkAnnouncedElsewhere(t *testing.T) {
	w := newWorld(t)
	w.add(0, announces("a1", 0, 60, "claude", "s1", "symbol:shop.Cart.Add", ""))
	for _, c := range []struct {
		workspace, about string
		want             bool
	}{{"other", "", true}, {"other", "shop.Cart.Add", true}, {"other", "Nothing", false}, {"shop", "Nothing", false}} {
		r := evidence.AnnouncedRequest{Workspace: c.workspace}
		if c.about != "" {
			r.About = []string{c.about}
		}
		resp, err := evidence.Announced(t.Context(), w.src, schemas.Principal{Operator: true}, r)
		if err != nil || len(resp.Announcements) > 0 || strings.HasSuffix(resp.Hint, "in this workspace; without it there would be 1") != c.want {
			t.Errorf("%+v: %q, %v", c, resp.Hint, err)
		}
	}
}
