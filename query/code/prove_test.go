package code_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// proofs returns one proof of each sort, as files.
func proofs(t *testing.T, m *memory) map[string][]byte {
	m.commit(shop, "Bob", "second, so that there is a parent\n-- other.toy --\npackage github.com/acme/shop/other\nfunction other\n")
	files := map[string][]byte{}
	for name, r := range map[string]code.ProveRequest{
		"present":        {From: "Client.Produce", To: "Client.flush"},
		"absent":         {From: "Client.Produce", To: "Client.Close", Absent: true},
		"outside":        {From: "conn.Write", To: "net.Dial"},
		"kind":           {From: "conn", To: "kgo.Writer", Edge: "implements"},
		"absent outside": {From: "conn.Write", To: "log.Print", Absent: true},
	} {
		resp, err := code.Prove(t.Context(), m.s, r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := resp.Evidence.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 8192 {
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
	for name, b := range proofs(t, newShop(t)) {
		v, err := code.VerifyProof(b, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (v.Known == nil) != strings.HasPrefix(name, "absent") || v.Known != nil && v.Known.ConfidencePermille != 980 {
			t.Errorf("%s: known as %v", name, v.Known)
		}
		if _, err := code.VerifyProof(b, &v.Snapshot); err != nil {
			t.Errorf("%s under its snapshot: %v", name, err)
		}
		if _, err := code.VerifyProof(b, &schemas.Hash{1}); !errors.Is(err, code.ErrNotProved) {
			t.Errorf("%s under another snapshot: %v", name, err)
		}
		if _, err := code.VerifyProof(append(bytes.Clone(b), '\n'), nil); err != nil {
			t.Errorf("%s as a line: %v", name, err)
		}
		if _, err := code.VerifyProof(append(b, '1'), nil); !errors.Is(err, code.ErrNotProved) {
			t.Errorf("%s with something behind it: %v", name, err)
		}
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

// TestClaimsNameBothEnds checks that claims include kind and language, so that no two are the same.
func TestClaimsNameBothEnds(t *testing.T) {
	m := newShop(t)
	for want, r := range map[string]code.ProveRequest{
		"pkg/kgo/client.toy:Client.Produce (method) calls pkg/kgo/client.toy:Client.flush (method)":          {From: "Client.Produce", To: "Client.flush"},
		"pkg/kgo/client.toy:Client.Produce (method) has no edge calls to pkg/kgo/client.toy:Client (struct)": {From: "Client.Produce", To: "kgo.Client", Absent: true},
		"pkg/kgo/conn.toy:conn.Write (method) calls github.com/acme/net.Dial (toy, elsewhere)":               {From: "conn.Write", To: "net.Dial"},
		"pkg/kgo/conn.toy:conn.Write (method) has no edge calls to log.Print (toy, elsewhere)":               {From: "conn.Write", To: "log.Print", Absent: true},
		"cmd/main.toy:main (function) has no edge calls to cmd/main.toy (file)":                              {From: "cmd.main", To: "cmd/main.toy", Absent: true},
	} {
		resp, err := code.Prove(t.Context(), m.s, r)
		if err != nil || resp.Claim != want {
			t.Errorf("%q %v, want %q", resp.Claim, err, want)
		}
	}
	odd := code.NodeName{File: "a.go:f (function) has no edge calls to b.go", Name: "g", Kind: "function"}
	if got, want := odd.String(), `"a.go:f (function) has no edge calls to b.go":g (function)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOlderProofsAreRefused checks that the error for an older proof says what to do.
func TestOlderProofsAreRefused(t *testing.T) {
	for _, b := range proofs(t, newShop(t)) {
		old := bytes.Replace(b, []byte(`"recount_proof":3`), []byte(`"recount_proof":2`), 1)
		if _, err := code.VerifyProof(old, nil); !errors.Is(err, code.ErrNotProved) || !strings.Contains(err.Error(), "the proof has version 2, this program reads version 3: prove it again") {
			t.Errorf("%v", err)
		}
	}
}
