package code

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestValidText(t *testing.T) {
	wrong := &recountv1.FileFacts{Path: "a\xff.go", Declarations: []*recountv1.Declaration{{Name: "f\xfe\xfd", Attributes: map[string]string{"image": "a\xff", "\xfe": "b", "kind": "Pod"}}, {Name: "ok"}}}
	if _, err := proto.Marshal(wrong); err == nil {
		t.Fatal("protobuf stores what is not UTF-8")
	}
	if _, _, err := encodeFacts(&recountv1.StoredFacts{Facts: wrong}); err == nil {
		t.Fatal("facts whose texts are not UTF-8 are stored")
	}
	right := validText(wrong)
	if _, _, err := encodeFacts(&recountv1.StoredFacts{Facts: right}); err != nil {
		t.Fatal(err)
	}
	if right.Path != "a\uFFFD.go" || right.Declarations[0].Name != "f\uFFFD" || right.Declarations[1].Name != "ok" || right.Declarations[0].Attributes["image"] != "a\uFFFD" || right.Declarations[0].Attributes["\uFFFD"] != "b" || len(right.Declarations[0].Attributes) != 3 || wrong.Path != "a\xff.go" {
		t.Errorf("got %v from %v", right, wrong)
	}
}

// TestTextThatIsNotUTF8DoesNotStop applies a file with such a name among its facts.
func TestTextThatIsNotUTF8DoesNotStop(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	h := newHistory(nil, &shard, "repo")
	h.add(&recountv1.FileFacts{Repository: "repo", Path: "a.toy", Blob: id("blob", 1), Language: "toy", Declarations: []*recountv1.Declaration{
		{Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: "f\xff", Start: &recountv1.Place{Line: 1}, End: &recountv1.Place{Line: 2}},
	}})
	h.add(&recountv1.CommitRecorded{
		Repository: "repo", Commit: id("commit", 1), Scope: recountv1.Scope_SCOPE_FULL,
		Changes: []*recountv1.FileChange{{Path: "a.toy", Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: id("blob", 1)}},
	})
	if err := open(t).Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
}
