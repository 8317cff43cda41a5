package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
)

var releaseDir = flag.String("release-dir", "", "TestReleaseFiles writes man pages and completions below this folder")

// TestReleaseFiles writes the files of a release for every verb besides the program: man pages and
// the completions of three shells. It is a test and not a verb, so that the program does not
// contain the generator:
//
//	go test ./cmd/recount -run '^TestReleaseFiles$' -release-dir "$PWD/bin/release"
//
// The pages carry the date in SOURCE_DATE_EPOCH.
func TestReleaseFiles(t *testing.T) {
	dir := *releaseDir
	if dir == "" {
		dir = t.TempDir()
	}
	a := &app{&connect.Connector{Terminal: &render.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Getenv: func(string) string { return "" }}}
	root := a.root()
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()

	man := filepath.Join(dir, "man")
	if err := os.MkdirAll(man, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "RECOUNT", Section: "1", Source: "Recount", Manual: "Recount"}, man); err != nil {
		t.Fatal(err)
	}
	var verbs func(c *cobra.Command)
	verbs = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.HasParent() || c.IsAdditionalHelpTopicCommand() {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(man, name))
		if err != nil || !bytes.Contains(page, []byte(".SH SYNOPSIS")) {
			t.Errorf("%s: no man page: %v\n%s", name, err, page)
		}
		for _, sub := range c.Commands() {
			verbs(sub)
		}
	}
	verbs(root)

	completions := filepath.Join(dir, "completions")
	if err := os.MkdirAll(completions, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		"recount.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_recount":     root.GenZshCompletion,
		"recount.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || !bytes.Contains(b.Bytes(), []byte("__complete")) {
			t.Errorf("%s: %v\n%s", name, err, b.Bytes())
		}
		if err := os.WriteFile(filepath.Join(completions, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
