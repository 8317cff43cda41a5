package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
)

// A kept graph that an older version wrote was opened as an empty one.
func TestKeptGraphOfAnotherVersion(t *testing.T) {
	ctx := t.Context()
	m := mirror{filepath.Join(t.TempDir(), "work")}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-C", m.dir}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(name string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(m.dir, name+".go"), []byte("package engine\n\nfunc "+name+"() {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "--quiet", "-m", name)
		return git("rev-parse", "HEAD")
	}
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet")
	first := commit("Analyse")

	dir := filepath.Join(t.TempDir(), "graph")
	check := func(what, symbol string, commits ...string) os.FileInfo {
		t.Helper()
		set, err := importGraph(ctx, m, "ada/engine", commits, dir)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer set.Close()
		r := code.SymbolsRequest{Scope: code.Scope{Repo: "ada/engine", At: commits[len(commits)-1]}, Text: symbol}
		resp, err := code.Symbols(ctx, code.Sources{Set: set, Graphs: code.NewCache(0)}, r)
		if err != nil || len(resp.Symbols) == 0 {
			t.Errorf("%s: no symbol %s, %v", what, symbol, err)
		}
		info, err := os.Stat(filepath.Join(dir, "clone"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	imported := check("imported", "Analyse", first)
	if again := check("kept", "Analyse", first); !os.SameFile(again, imported) {
		t.Error("a kept graph of this version was imported again")
	}
	generation, err := os.Stat(filepath.Join(dir, "graph/code/gen-000001"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "done")); err != nil {
		t.Fatal(err)
	}
	check("interrupted before it was done", "Analyse", first)
	if now, err := os.Stat(filepath.Join(dir, "graph/code/gen-000001")); err != nil || !os.SameFile(now, generation) {
		t.Errorf("an interrupted import did not go on: %v", err)
	}
	for _, name := range []string{"done", "graph/code/gen-000001/VERSION"} {
		path := filepath.Join(dir, name)
		stamp, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		older := strings.Replace(string(stamp), fmt.Sprint(snapshots.Version), fmt.Sprint(snapshots.Version-1), 1)
		if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("of an older version", "Analyse", first)
	check("with a further commit", "Tabulate", first, commit("Tabulate"))
}
