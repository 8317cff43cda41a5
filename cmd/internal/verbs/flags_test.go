package verbs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// TestAsOfTakesWhatSinceTakes checks that --as-of takes ages and days, and watermarks as before.
func TestAsOfTakesWhatSinceTakes(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"":                          "",
		"2h":                        "2026-11-20T10:00:00Z",
		"3d":                        "2026-11-17T12:00:00Z",
		"3 days ago":                "2026-11-17T12:00:00Z",
		"yesterday":                 "2026-11-19T00:00:00Z",
		"2026-11-01":                "2026-11-01T00:00:00Z",
		"2026-11-01T02:00:00+02:00": "2026-11-01T00:00:00Z",
		"recount.commands/0:7":      "recount.commands/0:7",
	} {
		flags := MomentFlags{AsOf: text}
		got, err := flags.Moment(now)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if said, err := got.AsOf.MarshalText(); err != nil || string(said) != want {
			t.Errorf("%q: got %s, %v, want %s", text, said, err, want)
		}
	}
	for _, text := range []string{"noon", "-2h", "recount.commands", "2026-13-01"} {
		flags := MomentFlags{AsOf: text}
		_, err := flags.Moment(now)
		if wrong := (usage.Error{}); !errors.As(err, &wrong) {
			t.Errorf("%q: got %v, want a usage error", text, err)
		}
	}
}

// TestWorkspaceOfThisDirectory checks that a workspace may be given as a path from here.
func TestWorkspaceOfThisDirectory(t *testing.T) {
	repo, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".git", "cmd"} {
		if err := os.Mkdir(filepath.Join(repo, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(repo, "cmd"))
	for text, want := range map[string]string{".": repo, "..": repo, "./x": repo, "../..": filepath.Dir(repo), "shop": "shop", "/src/app": "/src/app"} {
		w := Filters{f: ask.Filters{Workspace: text}}
		got, err := w.Filters(time.Now())
		if err != nil || got.Workspace != want {
			t.Errorf("%q: got %q, %v, want %q", text, got.Workspace, err, want)
		}
	}
}
