package schemas_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/recountdb/recount/schemas"
)

func TestObjectRef(t *testing.T) {
	ref := func(topic string, partition int32, offset int64, index uint32) schemas.ObjectRef {
		return schemas.ObjectRef{Position: schemas.Position{Topic: topic, Partition: partition, Offset: offset}, Index: index}
	}
	ascending := []schemas.ObjectRef{
		ref("recount.agents", 0, 9, 0), ref("recount.agents", 3, 1042, 0), ref("recount.agents", 3, 1042, 1),
		ref("recount.agents", 3, 1043, 0), ref("recount.z#1", 0, 0, 4294967295),
	}
	if !slices.IsSortedFunc(ascending, schemas.ObjectRef.Compare) {
		t.Errorf("%v: not in the order of Compare", ascending)
	}
	if got, want := ascending[2].String(), "recount.agents/3/1042#1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, r := range ascending {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back schemas.ObjectRef
		if err := json.Unmarshal(b, &back); err != nil || back != r {
			t.Errorf("%s comes back as %v, %v", b, back, err)
		}
	}
	for _, bad := range []string{"", "#", "recount.agents/3/1042", "recount.agents/3#1", "recount.agents/3/1042#-1", "recount.agents/3/1042#4294967296", "recount.agents/3/1042#"} {
		if got, err := schemas.ParseObjectRef(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}
