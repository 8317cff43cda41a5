package agent

import (
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// FuzzObjects checks that any input becomes an object that can be stored, and the same object when
// processed again.
func FuzzObjects(f *testing.F) {
	for _, k := range schemas.Kinds() {
		if k.Topic == schemas.TopicAgents {
			f.Add(k.Type, "It broke in commit 9fceb02: see `shop.Cart` in src/cart.go, issue #12 🛒", "make test > /tmp/x", "acme/shop")
		}
	}
	f.Add("\x97", "", "", "")
	f.Add("dream_had", "```\na\n```\nhttps://github.com/a/b/pull/1) trace 5b8efff798038103d269b633813fc60c", "", "")
	f.Fuzz(func(t *testing.T, typ, text, line, name string) {
		if !utf8.ValidString(typ) || !utf8.ValidString(text) || !utf8.ValidString(line) || !utf8.ValidString(name) {
			return // rejected by the event decoder and by protobuf
		}
		m := &recountv1.AgentEvent{
			Workspace: name, Agent: name, Session: name, Text: text, Thought: line, ParentEventId: name,
			Relations: []*recountv1.Relation{{Kind: name, Ref: line}},
			Tool:      &recountv1.Tool{Name: name, CallId: name, Command: line, Arguments: text, Result: text},
			Plan:      &recountv1.Plan{Id: name, Steps: []*recountv1.PlanStep{{Text: text}}},
			State:     &recountv1.StateChange{Key: name, Value: text},
			Artifact:  &recountv1.ArtifactProduced{Uri: name, Content: text},
			Task:      &recountv1.Task{Id: name, Title: line}, Handoff: &recountv1.Handoff{ToAgent: name, Reason: text},
			Memory: &recountv1.Statement{Subject: name, Predicate: line, Value: text},
		}
		e := schemas.Event{ID: schemas.EventID{1}, Type: typ, Source: "fuzz", Time: at, Topic: schemas.TopicAgents}
		var made [2][]byte
		for i := range made {
			rec := &recountv1.Record{}
			if err := Objects(e, m, rec); err != nil {
				return
			}
			b := rec.GetObjects()
			Embed(b, embed.NewHash())
			o := b.Objects[0]
			var parts []textRange
			for _, p := range o.Parts {
				parts = append(parts, textRange{int(p.Start), int(p.End)})
			}
			checkParts(t, o.Text, parts, 0)
			if len(o.Id) != 16 || len(o.Title) > maxTitle || len(b.Edges) > 300 {
				t.Fatalf("id %x, title %q, %d edges", o.Id, o.Title, len(b.Edges))
			}
			for _, edge := range b.Edges {
				if string(edge.From) != string(o.Id) || edge.Kind == 0 || edge.Rule == "" {
					t.Fatalf("edge %v", edge)
				}
				if ends := btoi(edge.Entity != "") + btoi(len(edge.EventId) == 16) + btoi(len(edge.ObjectId) == 16); ends != 1 {
					t.Fatalf("edge %v leads to %d things", edge, ends)
				}
			}
			var err error
			if made[i], err = (proto.MarshalOptions{Deterministic: true}).Marshal(rec); err != nil {
				t.Fatal(err)
			}
		}
		if string(made[0]) != string(made[1]) {
			t.Fatal("another record the second time")
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
