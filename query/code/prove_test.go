package code_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// proofs are one of each sort, as files.
func proofs(t *testing.T) map[string][]byte {
	m := newShop(t)
	m.commit(shop, "Bob", "second, so that there is a parent\n-- other.toy --\npackage github.com/acme/shop/other\nfunction other\n")
	files := map[string][]byte{}
	for name, r := range map[string]code.ProveRequest{
		"present": {From: "Client.Produce", To: "Client.flush"},
		"absent":  {From: "Client.Produce", To: "Client.Close", Absent: true},
		"outside": {From: "conn.Write", To: "net.Dial"},
		"kind":    {From: "conn", To: "kgo.Writer", Edge: "implements"},
	} {
		resp, err := code.Prove(t.Context(), m.s, r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := json.Marshal(resp.Evidence)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 4096 {
			t.Errorf("%s: %d bytes", name, len(b))
		}
		files[name] = b
		if resp.Evidence.Snapshot != resp.Revision.Snapshot {
			t.Errorf("%s is about another snapshot", name)
		}
	}
	return files
}

func TestProofsHold(t *testing.T) {
	for name, b := range proofs(t) {
		v, err := code.VerifyProof(b, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (v.Known == nil) != (name == "absent") || v.Known != nil && v.Known.ConfidencePermille != 980 {
			t.Errorf("%s: known as %v", name, v.Known)
		}
		if _, err := code.VerifyProof(b, &v.Snapshot); err != nil {
			t.Errorf("%s under its snapshot: %v", name, err)
		}
		if _, err := code.VerifyProof(b, &schemas.Hash{1}); !errors.Is(err, code.ErrNotProved) {
			t.Errorf("%s under another snapshot: %v", name, err)
		}
		if _, err := code.VerifyProof(append(b, '1'), nil); !errors.Is(err, code.ErrNotProved) {
			t.Errorf("%s with something behind it: %v", name, err)
		}
	}
}

// Every single field that is other than it was is refused.
func TestForgeriesAreRefused(t *testing.T) {
	for name, b := range proofs(t) {
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		tried := 0
		forge(tree, name, func(what string) {
			tried++
			forged, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := code.VerifyProof(forged, nil); !errors.Is(err, code.ErrNotProved) {
				t.Errorf("%s: %v", what, err)
			}
		}, func(any) {})
		if tried < 30 {
			t.Errorf("%s: only %d forgeries", name, tried)
		}
		if again, _ := json.Marshal(tree); true {
			if _, err := code.VerifyProof(again, nil); err != nil {
				t.Errorf("%s was not put back: %v", name, err)
			}
		}
	}
}

// forge changes each leaf and each list of a JSON value, one at a time, and puts it
// back.
func forge(v any, where string, try func(what string), set func(any)) {
	with := func(what string, other any) {
		set(other)
		try(where + ": " + what)
		set(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, field := range v {
			forge(field, where+"."+k, try, func(other any) { v[k] = other })
			delete(v, k)
			if field != 0.0 && field != "" { // left out, it is that
				try(where + "." + k + ": left out")
			}
			v[k] = field
		}
		v["extra"] = 1
		try(where + ": a field more")
		delete(v, "extra")
	case []any:
		for i, e := range v {
			forge(e, fmt.Sprintf("%s[%d]", where, i), try, func(other any) { v[i] = other })
		}
		if len(v) > 0 {
			with("one less", v[:len(v)-1])
		}
		with("one more", append(append([]any{}, v...), v...))
	case string:
		with("longer", v+"A")
		if v != "" {
			flip := "b"
			if strings.HasPrefix(v, flip) {
				flip = "c"
			}
			with("other", flip+v[1:])
			with("empty", "")
		}
	case float64:
		with("more", v+1)
		with("less", v-1)
	case bool:
		with("not", !v)
	}
}

func TestProveWhatIsNotSo(t *testing.T) {
	m := newShop(t)
	var nf *query.NotFoundError
	for _, r := range []code.ProveRequest{
		{From: "Client.Produce", To: "Client.Close"},
		{From: "Client.Produce", To: "Client.flush", Absent: true},
		{From: "Client.Produce", To: "nobody"},
	} {
		if _, err := code.Prove(t.Context(), m.s, r); !errors.As(err, &nf) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	var re *query.RequestError
	if _, err := code.Prove(t.Context(), m.s, code.ProveRequest{From: "a", To: "b", Edge: "likes"}); !errors.As(err, &re) {
		t.Error(err)
	}
}
