package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// filled returns the configuration of a stopped node with 500 commands, sealed in segments of 50.
func filled(t *testing.T) node.Config {
	t.Helper()
	cfg := config(t.TempDir())
	node.SealEarly(&cfg, 50)
	r := start(t, cfg)
	r.append(t, many(500)...)
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	r.stop()
	return cfg
}

func verifyLocal(t *testing.T, cfg node.Config) api.VerifyReport {
	t.Helper()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	v, err := n.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parts...))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing matches %v: %v", parts, err)
	}
	slices.Sort(found)
	return found
}

func TestVerifyIsContentWithAnUntouchedState(t *testing.T) {
	v := verifyLocal(t, filled(t))
	if !v.OK || v.Projections[0].Files != 10 || v.Projections[1].Keys == 0 || v.Projections[3].Files != 10 || v.Events != 500 {
		t.Errorf("got %+v", v)
	}
}

func TestVerifyFindsAFlippedByte(t *testing.T) {
	cfg := filled(t)
	file := glob(t, cfg.DataDir, "projections", "segment", "gen-*", "*", "00000003.tbf")[0]
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) / 2
	b[at] ^= 0x10
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		// Damage that opening detects is reported at once, with how to fix it.
		if !strings.Contains(err.Error(), "00000003.tbf") {
			t.Fatalf("open: %v", err)
		}
		return
	}
	defer n.Close()
	v, err := n.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(v.Projections[0].Differences, func(d api.Difference) bool { return d.Kind == "file_differs" })
	if v.OK || i < 0 {
		t.Fatalf("got %+v", v)
	}
	if d := v.Projections[0].Differences[i]; d.Byte != int64(at) || !strings.HasSuffix(d.File, "00000003.tbf") || d.Live == d.Replayed {
		t.Errorf("got %+v, want byte %d", d, at)
	}
	if !slices.ContainsFunc(v.Projections[0].Differences, func(d api.Difference) bool {
		return d.Kind == "key_differs" && strings.Contains(d.Key, "segment")
	}) {
		t.Errorf("no key differs: %+v", v.Projections[0].Differences)
	}
	for _, p := range v.Projections[1:] {
		if p.Differing > 0 {
			t.Errorf("%s differs too", p.Name)
		}
	}
}

func TestVerifyFindsAMissingKey(t *testing.T) {
	cfg := filled(t)
	db, err := pebble.Open(glob(t, cfg.DataDir, "projections", "lexical", "gen-*")[0], &pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Postings are the most frequent keys, so the middle one is a posting.
	var keys [][]byte
	for ok := it.First(); ok; ok = it.Next() {
		keys = append(keys, slices.Clone(it.Key()))
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	gone := keys[len(keys)/2]
	if err := db.Delete(gone, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	v := verifyLocal(t, cfg)
	lexical := v.Projections[1]
	if v.OK || lexical.Live == lexical.Replayed || lexical.Differing != 1 || lexical.Differences[0].Kind != "key_missing" {
		t.Errorf("got %+v", lexical)
	}
	if v.Projections[0].Differing != 0 || v.Projections[2].Differing != 0 {
		t.Errorf("others differ too: %+v", v)
	}
}

// TestResetMendsDamage checks that Reset repairs damage that prevents a projection from opening.
func TestResetMendsDamage(t *testing.T) {
	cfg := filled(t)
	for _, file := range glob(t, cfg.DataDir, "projections", "segment", "gen-*", "*", "*.tbf") {
		if err := os.Truncate(file, 40); err != nil {
			t.Fatal(err)
		}
	}
	var damaged *node.DamagedError
	if n, err := node.OpenLocal(t.Context(), cfg, nil); err == nil {
		n.Close()
		t.Fatal("opened with every segment cut")
	} else if !errors.As(err, &damaged) || !strings.Contains(err.Error(), "recount rebuild") {
		t.Errorf("the error does not say what to do: %v", err)
	}
	if err := node.Reset(cfg.DataDir, []string{"segment"}); err != nil {
		t.Fatal(err)
	}
	if v := verifyLocal(t, cfg); !v.OK || v.Projections[0].Files != 10 {
		t.Errorf("got %+v", v)
	}
	if err := node.Reset(cfg.DataDir, []string{"../log"}); err == nil {
		t.Error("a name that is no projection: no error")
	}
}
