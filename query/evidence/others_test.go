package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// run appends commands, each a WORKSPACE, SESSION and COMMAND, in the first minutes.
func (w *world) run(commands ...[3]string) {
	w.t.Helper()
	const topic = "recount." + schemas.TopicCommands
	var recs []schemas.LogRecord
	for i, c := range commands {
		e := schemas.Event{
			Type: schemas.TypeCommandExecuted, Source: "test", Time: epoch.Add(time.Duration(i) * time.Minute), ContentType: schemas.ContentJSON,
			Payload: []byte(`{"workspace":"` + c[0] + `","session":"` + c[1] + `","command":"` + c[2] + `","exit_code":1}`),
		}
		e.ID = e.DeriveID()
		recs = append(recs, schemas.LogRecord{Position: schemas.Position{Topic: topic, Offset: int64(i)}, Headers: e.Headers(), Value: e.Payload})
	}
	records, err := processors.Records(w.t.Context(), recs, processors.DefaultChain())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.set.Apply(w.t.Context(), schemas.Batch{Topic: topic, Records: records, Next: int64(len(recs))}); err != nil {
		w.t.Fatal(err)
	}
}

func TestCallsMeetTheirCommands(t *testing.T) {
	set, err := projections.Open(t.TempDir(), projections.Options{}, objects.Kind, lexical.Kind, vector.Kind(vector.Options{}), segment.Kind(segment.Options{}), narrative.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	hash := embed.NewHash()
	w := &world{t: t, set: set, next: schemas.Watermark{}, src: evidence.Sources{Set: set, Embedder: hash, Commands: commands.Sources{Set: set, Embedder: hash}}}
	w.add(0, shop()...)
	w.run([3]string{"shop", "s1", "go test ./cart"}, [3]string{"web", "s9", "go test ./cart"}, [3]string{"web", "s9", "npm run checkout"}, [3]string{"shop", "s1", "kubectl rollout undo checkout"})

	ask := evidence.Request{Text: "checkout test cart", Kinds: []string{"objects", "commands"}}
	commands := func(r evidence.Response) (all []string) {
		for _, o := range r.Objects {
			if o.Kind == evidence.KindCommands {
				all = append(all, strings.Join(strings.Fields(o.Workspace+" "+o.Role+" "+o.Snippet), " "))
			}
		}
		slices.Sort(all)
		return all
	}
	ran := func(r evidence.Response) []evidence.Edge {
		return slices.DeleteFunc(slices.Clone(r.Edges), func(e evidence.Edge) bool { return e.Kind != "ran" })
	}
	r := w.ask(operator, ask)
	if edges := ran(r); len(edges) != 1 || edges[0].Rule != "command_session" || edges[0].From != find(t, r, "run").ID || len(edges[0].Evidence) != 2 {
		t.Errorf("ran: %+v", edges)
	}
	if got := commands(r); !slices.Contains(got, "shop joined go test ./cart") || !slices.Contains(got, "web npm run checkout") {
		t.Errorf("commands: %q", got)
	}
	near := w.ask(operator, evidence.Request{Text: "what did the gateway say", Kinds: ask.Kinds, Mode: evidence.ModeObjects})
	if got := commands(near); slices.Contains(got, "web npm run checkout") {
		t.Errorf("commands that are only near: %q", got)
	}
	if _, both := r.Watermark[schemas.TopicPartition{Topic: "recount.commands"}]; !both {
		t.Errorf("it rests on %s", r.Watermark)
	}
	shop := schemas.Principal{Workspaces: []string{"shop"}, Sessions: []string{"*"}, Grants: []string{schemas.GrantCommands}}
	r = w.ask(shop, ask)
	if got, want := commands(r), []string{"shop joined go test ./cart", "shop kubectl rollout undo checkout"}; !slices.Equal(got, want) {
		t.Errorf("who belongs to shop: %q, want %q", got, want)
	}
	shop.Grants = nil
	if got := commands(w.ask(shop, ask)); got != nil {
		t.Errorf("who is not granted commands: %q", got)
	}
	r = w.ask(schemas.Principal{Tenant: "acme", Workspaces: []string{"*"}, Grants: []string{schemas.GrantCommands}}, ask)
	if got := commands(r); got != nil {
		t.Errorf("another tenant: %q", got)
	}
	ask.AsOf = query.AsOf{Offsets: schemas.Watermark{{Topic: topic}: 8}}
	if got := commands(w.ask(operator, ask)); got != nil {
		t.Errorf("as of positions that leave commands out: %q", got)
	}
	// A kind that this server does not keep is reported as omitted.
	r = w.ask(operator, evidence.Request{Text: "checkout", Kinds: []string{"objects", "symbols"}})
	if !slices.ContainsFunc(r.Proof, func(s evidence.Step) bool { return s.Path == "symbols" && s.Operator == "leave out" }) {
		t.Errorf("proof: %+v", r.Proof)
	}
}
