package evidence_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// TestSymbolsOfSeveralRepositories checks that a text finds symbols in all repositories, and that a
// name in several of them means that of the workspace's repository, or else none.
func TestSymbolsOfSeveralRepositories(t *testing.T) {
	const shop, copied = "example.org/acme/shop", "example.org/acme/copy"
	for _, tt := range []struct {
		name, first, second string
		named               []string
	}{
		{"one", shop, "", []string{"symbol:" + shop + " carts.load"}},
		{"the workspace's and a copy", shop, copied, []string{"symbol:" + shop + " carts.load"}},
		{"two that the workspace may be of", shop, "example.org/globex/shop", nil},
		{"two that it is none of", "example.org/acme/fork", copied, nil},
		{"one that it is not of", copied, "", []string{"symbol:" + copied + " carts.load"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, apply := shopWorld(t, func(log map[schemas.TopicPartition][]schemas.LogRecord) {
				at := schemas.TopicPartition{Topic: "recount.commits"}
				events := log[at]
				log[at] = nil
				for _, repo := range []string{tt.first, tt.second} {
					if repo == "" {
						continue
					}
					for _, e := range events {
						e.Headers = slices.Clone(e.Headers)
						for i := range e.Headers {
							if e.Headers[i].Key == "ce_id" {
								e.Headers[i].Value = []byte(schemas.NewCanon("test").String(repo).Bytes(e.Headers[i].Value).ID().String())
							}
						}
						e.Key, e.Value = []byte(repo), bytes.ReplaceAll(e.Value, []byte(shop), []byte(repo))
						e.Position.Offset = int64(len(log[at]))
						log[at] = append(log[at], e)
					}
				}
			})
			apply(schemas.TopicAgents)
			apply(schemas.TopicCommits)
			r := w.ask(operator, evidence.Request{Text: "carts.load", Limit: 2, Kinds: []string{"objects", "symbols"}})
			var found, named []string
			for _, o := range r.Objects {
				if o.Kind == evidence.KindSymbols {
					found = append(found, o.ID)
				}
			}
			for _, e := range r.Edges {
				if e.Kind == "names" && !slices.Contains(named, e.To) {
					named = append(named, e.To)
				}
			}
			want := 1
			if tt.second != "" {
				want = 2
			}
			if len(found) != want {
				t.Errorf("the text found %q, want %d", found, want)
			}
			if !slices.Equal(named, tt.named) {
				t.Errorf("the memory names %q, want %q", named, tt.named)
			}
		})
	}
}
