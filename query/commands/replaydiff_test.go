package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/replays"
)

func TestPartingLine(t *testing.T) {
	long := strings.Repeat("compiled part one of the program\n", 300)
	for name, test := range map[string]struct {
		was, now string
		a, b     string
	}{
		"equal":                    {"built in 3.2s\nok\n", "built in 12s\nok\n", "", ""},
		"another path":             {"wrote /home/alice/a\n", "wrote /home/alice/b\n", "wrote /home/alice/a", "wrote /home/alice/b"},
		"a count":                  {"5 passed in 0.31s\n", "3 passed in 0.2s\n", "5 passed in 0.31s", "3 passed in 0.2s"},
		"a time of day":            {"Mon Nov 23 21:44:40 UTC 2026\n", "Tue Nov 24 01:02:03 UTC 2026\n", "", ""},
		"a log's time":             {"2026-11-23T10:00:00.1Z up\n", "2026-11-24T11:30:00Z up\n", "", ""},
		"a process":                {"started, pid 4711\n[1] 4711\n", "started, pid 99\n[1] 99\n", "", ""},
		"a hash":                   {"[main 3fa1b2c] first\n", "[main 77ce01d] first\n", "", ""},
		"a word that is no hash":   {"defaced\n", "effaced\n", "defaced", "effaced"},
		"a temporary file":         {"in /tmp/tmp.aX1\n", "in /tmp/tmp.bY2\n", "", ""},
		"a progress bar":           {"10%\r50%\rdone\n", "33%\rdone\n", "", ""},
		"colours":                  {"\x1b[32mok\x1b[0m\n", "ok\n", "", ""},
		"an error":                 {"compiling\nok\n", "compiling\nerror: no space\n", "ok", "error: no space"},
		"a line more":              {"ok\n", "ok\nwarning: slow\n", "", "warning: slow"},
		"a line less":              {"ok\nwarning: slow\n", "ok\n", "warning: slow", ""},
		"cut at different places":  {long[100:], long[7:], "", ""},
		"cut, and different later": {long + "ok\n", long + "failed\n", "ok", "failed"},
	} {
		a, b, differs := partingLine(test.was, test.now)
		if a != test.a || b != test.b || differs != (test.a != test.b) {
			t.Errorf("%s: %q, %q, %v", name, a, b, differs)
		}
	}
}

func TestCompareStep(t *testing.T) {
	zero, two := int32(0), int32(2)
	for name, test := range map[string]struct {
		step replays.Step
		want []string
	}{
		"the same":      {replays.Step{State: replays.StateDone, ExitCode: &zero, Output: "ok\n"}, nil},
		"failed":        {replays.Step{State: replays.StateFailed, ExitCode: &two, Output: "denied\n"}, []string{"exit", "output"}},
		"timed out":     {replays.Step{State: replays.StateStopped, Reason: "timeout"}, []string{"state"}},
		"was there":     {replays.Step{State: replays.StateSatisfied}, nil},
		"left out":      {replays.Step{State: replays.StateSkipped, Reason: replays.ReasonOmitted}, nil},
		"not agreed to": {replays.Step{State: replays.StateSkipped, Reason: "dangerous"}, []string{"state"}},
		"not come back": {replays.Step{State: replays.StateUnfinished}, []string{"state"}},
		"not started":   {replays.Step{State: replays.StateFailed, Reason: "program not found", Output: "ok\n"}, []string{"state"}},
		"slow":          {replays.Step{State: replays.StateDone, ExitCode: &zero, Output: "ok\n", Duration: time.Minute}, []string{"time"}},
		"a bit slow":    {replays.Step{State: replays.StateDone, ExitCode: &zero, Output: "ok\n", Duration: 5 * time.Second}, nil},
	} {
		took := int64(time.Second)
		b := ReplayedStep{Original: &Intent{ExitCode: &zero, Duration: &took}}
		compare(&b, "ok\n", test.step)
		var got []string
		for _, d := range b.Differs {
			got = append(got, d.What)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCompareFiles(t *testing.T) {
	m := mappings{{"path", "/home/ann/app", "/home/bob/app"}, {"user", "ann", "bob"}}
	was := func(name, hash string) replays.File { return replays.File{Path: name, SHA256: hash, Size: 4} }
	left := map[string]replays.File{}
	now := []replays.File{
		was("/home/bob/app/same", "aa"), was("/home/bob/app/other", "cc"), was("/home/bob/app/more", "dd"),
		{Path: "/home/bob/app/gone", Removed: true},
		{Path: "/home/bob/app/removed", Removed: true},
		was("/home/bob/app/large", ""),
	}
	for _, f := range append(now, was("/home/bob/app/before", "ee")) {
		left[f.Path] = f
	}
	got := map[string]string{}
	for _, f := range compareFiles([]replays.File{
		was("/home/ann/app/same", "aa"), was("/home/ann/app/other", "bb"), was("/home/ann/app/missing", "aa"), was("/etc/kept", "aa"),
		was("/home/ann/app/gone", "aa"),
		{Path: "/home/ann/app/removed", Removed: true},
		was("/home/ann/app/before", "ee"), was("/home/ann/app/large", ""),
	}, now, m, left) {
		got[f.Path] = f.State
	}
	want := map[string]string{
		"/home/bob/app/same": FileSame, "/home/bob/app/other": FileOther, "/home/bob/app/missing": FileMissing, "/etc/kept": FileUnchanged,
		"/home/bob/app/gone": FileOther, "/home/bob/app/removed": FileSame, "/home/bob/app/before": FileSame, "/home/bob/app/large": FileUnknown,
		"/home/bob/app/more": FileOnly,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestComparable has what changed while a make ran that names none of its files.
func TestComparable(t *testing.T) {
	file := func(name, hash string) replays.File { return replays.File{Path: name, SHA256: hash, Size: 4} }
	p := planned{mappings: mappings{{"path", "/home/ann/app", "/home/bob/app"}}}
	if err := json.Unmarshal([]byte(`[{"background": true, "outputs": ["/home/bob/app/server.log"]}, {"outputs": ["/home/bob/app/stale"]}]`), &p.Steps); err != nil {
		t.Fatal(err)
	}
	now := []replays.File{file("/home/bob/app/made", "bb"), file("/home/bob/app/server.log", "bb"), file("/home/bob/app/.git/index", "bb"), file("/home/bob/app/__pycache__/a.pyc", "bb"), {Path: "/home/bob/app/gone", Removed: true}}
	left := map[string]replays.File{}
	for _, f := range append(now, file("/home/bob/app/stale", "bb"), file("/home/bob/app/others", "bb")) {
		left[f.Path] = f
	}
	var meanwhile []replays.File
	for _, name := range []string{"made", "stale", "others", "server.log", ".git/index", "__pycache__/a.pyc", "gone", "never"} {
		meanwhile = append(meanwhile, file("/home/ann/app/"+name, "aa"))
	}
	var got []string
	for _, f := range comparable(meanwhile, now, 1, p, left) {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"/home/ann/app/made", "/home/ann/app/stale"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMappedText(t *testing.T) {
	m := mappings{{"path", "/home/ann/app", "/srv/app"}, {"path", "/home/ann", "/home/bob"}, {"port", "8080", "9090"}, {"user", "ann", "bob"}}
	for was, want := range map[string]string{
		"wrote /home/ann/app/bin and /home/ann/x.": "wrote /srv/app/bin and /home/bob/x.",
		"/home/ann/application /home/ann/app.bak":  "/home/bob/application /home/bob/app.bak",
		"ann on 8080, not 18080, hannah":           "bob on 9090, not 18080, hannah",
		"saved in /home/ann/app.":                  "saved in /srv/app.",
	} {
		if got := m.text(was); got != want {
			t.Errorf("%q: got %q, want %q", was, got, want)
		}
	}
}
