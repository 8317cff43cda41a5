package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/git/gittest"
)

// TestImportIntoARestoredLog checks that the state of an import belongs to one log: with another
// log of the same length, the whole repository is imported again.
func TestImportIntoARestoredLog(t *testing.T) {
	w := newWorld(t)
	g := gittest.Init(t)
	dir := filepath.Join(w.dir, "d")
	run := func(script string) string {
		t.Helper()
		out, code := w.sh("D=" + dir + "; " + script + " 2>&1")
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", script, code, out)
		}
		return out
	}
	imports := "recount --data-dir $D import git " + g.Dir + " --repo shop"
	g.Commit("one", "a.go", "package a\n")
	run(imports)
	run("cp -a $D/log $D.log")
	g.Commit("two", "a.go", "package b\n")
	run(imports)
	run("cp -a $D/imports $D.imports")
	if out := run(imports); !strings.Contains(out, "nothing new") {
		t.Errorf("again: %s", out)
	}
	// The earlier log, which another import makes longer than it was.
	run("rm -r $D/log $D/imports && cp -a $D.log $D/log")
	g.Commit("three", "a.go", "package c\n")
	g.Commit("four", "a.go", "package d\n")
	run(imports)
	run("rm -r $D/imports && cp -a $D.imports $D/imports")
	if out := run(imports); !strings.Contains(out, "importing everything again") {
		t.Errorf("with what another log left: %s", out)
	}
	if out := run(imports); !strings.Contains(out, "nothing new") {
		t.Errorf("and again: %s", out)
	}
	if out := run("recount --data-dir $D verify"); strings.Contains(out, "DIFFERS") {
		t.Errorf("verify: %s", out)
	}
}

// TestImportOfAnAccessLogIntoARestoredLog checks the same for access logs.
func TestImportOfAnAccessLogIntoARestoredLog(t *testing.T) {
	w := newWorld(t)
	run := func(script string) string {
		t.Helper()
		out, code := w.sh("cd " + w.dir + "; " + script + " 2>&1")
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", script, code, out)
		}
		return out
	}
	line := `127.0.0.1 - - [20/Nov/2026:10:00:0%d +0000] "GET / HTTP/1.1" 200 12\n`
	imports := "recount --data-dir d import access-log --service shop access.log"
	run("printf '" + line + "' 1 > access.log; " + imports + "; cp -a d/log log")
	run("printf '" + line + "' 2 >> access.log; " + imports)
	run("rm -r d/log; cp -a log d/log")
	if out := run(imports); !strings.Contains(out, "importing everything again") {
		t.Errorf("into an older log: %s", out)
	}
	if out := run(imports); strings.Contains(out, "again") {
		t.Errorf("and again: %s", out)
	}
}
