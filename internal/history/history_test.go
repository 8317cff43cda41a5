package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var fileTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var opts = Options{User: "ada", Host: "lovelace", Time: fileTime}

// got holds the fields of an event that tests compare.
type got struct {
	Command string
	Unix    int64
	Took    time.Duration // -1 if unknown
	Untimed bool
}

// collect runs an importer to its end and returns skipped entries as texts.
func collect(t testing.TB, seq iter.Seq2[schemas.Event, error]) (events []schemas.Event, payloads []*recountv1.CommandExecuted, skipped []string) {
	t.Helper()
	for e, err := range seq {
		var skip *SkipError
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, skip.Error())
			continue
		case err != nil:
			t.Fatal(err)
		}
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatalf("%s: %v", e.Payload, err)
		}
		p, ok := m.(*recountv1.CommandExecuted)
		if !ok {
			t.Fatalf("payload %T", m)
		}
		events, payloads = append(events, e), append(payloads, p)
	}
	return events, payloads, skipped
}

func view(events []schemas.Event, payloads []*recountv1.CommandExecuted) []got {
	var gs []got
	for i, p := range payloads {
		g := got{Command: p.Command, Unix: events[i].Time.Unix(), Took: -1, Untimed: strings.HasSuffix(events[i].Source, "/untimed")}
		if p.Duration != nil {
			g.Took = p.Duration.AsDuration()
		}
		gs = append(gs, g)
	}
	return gs
}

// unknown is the second that contains the times of untimed entries.
const unknown = 0

func TestShells(t *testing.T) {
	for _, c := range []struct {
		why, format, in string
		want            []got
		skipped         []string
	}{
		{why: "bash without times", format: "bash", in: "ls\n\ngit status\nls\n# 12 monkeys\n#1234\n", want: []got{
			{"ls", unknown, -1, true},
			{"git status", unknown, -1, true},
			{"ls", unknown, -1, true},
			{"# 12 monkeys", unknown, -1, true},
			{"#1234", unknown, -1, true},
		}},
		{why: "bash with times and a command of three lines", format: "bash", in: "#1700000000\nls\n#1700000007\nfor i in 1 2\ndo echo $i\ndone\n", want: []got{
			{"ls", 1700000000, -1, false}, {"for i in 1 2\ndo echo $i\ndone", 1700000007, -1, false},
		}},
		{why: "bash where times began later", format: "bash", in: "old\n#1700000000\nnew\nafter\n", want: []got{
			{"old", unknown, -1, true}, {"new", 1700000000, -1, false}, {"after", 1700000000, -1, true},
		}},
		{why: "bash after a crash: NUL bytes, no newline at the end", format: "bash", in: "\x00\x00\x00\x00ls\nmake\x00 x", want: []got{
			{"ls", unknown, -1, true}, {"make x", unknown, -1, true},
		}},
		{why: "bash, bytes that are not UTF-8", format: "bash", in: "grep \xff x\n", want: []got{{"grep \uFFFD x", unknown, -1, true}}},
		{why: "bash, times without commands", format: "bash", in: "#1700000000\n#1700000001\nls\n#1700000002\n", want: []got{{"ls", 1700000001, -1, false}}},
		{why: "zsh plain", format: "zsh", in: "ls\necho a\\\nb\n", want: []got{{"ls", unknown, -1, true}, {"echo a\nb", unknown, -1, true}}},
		{why: "zsh extended", format: "zsh", in: ": 1700000000:5;make test\n: 1700000010:0;for i in 1 2; do\\\n  echo $i; done\n", want: []got{
			{"make test", 1700000000, 5 * time.Second, false}, {"for i in 1 2; do\n  echo $i; done", 1700000010, -1, false},
		}},
		{why: "zsh, a semicolon, a colon command, a trailing backslash", format: "zsh", in: ": 1700000000:1;a;b\n: foo;bar\necho \\\\ \n", want: []got{
			{"a;b", 1700000000, time.Second, false}, {": foo;bar", 1700000000, -1, true}, {`echo \\`, 1700000000, -1, true},
		}},
		// "über" in UTF-8 is c3 bc …; zsh writes 0x83 before bytes that it uses as tokens.
		{why: "zsh metafied", format: "zsh", in: "echo \xc3\x83\x9c\n", want: []got{{"echo \xc3\xbc", unknown, -1, true}}},
		{why: "fish", format: "fish", in: "- cmd: git status\n  when: 1700000000\n- cmd: echo a\\nb \\\\n c\n  when: 1700000005\n  paths:\n    - when: 3\n    - /tmp\n- cmd: last", want: []got{
			{"git status", 1700000000, -1, false}, {"echo a\nb \\n c", 1700000005, -1, false}, {"last", 1700000005, -1, true},
		}},
		{why: "empty", format: "bash"},
		{why: "a line of 5 MiB", format: "bash", in: "ls\n" + strings.Repeat("x", 5<<20) + "\npwd\n", want: []got{{"ls", unknown, -1, true}, {"pwd", unknown, -1, true}}, skipped: []string{"line 2: a line too long"}},
		{why: "a command of 2 MiB", format: "fish", in: "- cmd: " + strings.Repeat("x", 2<<20) + "\n- cmd: ls\n", want: []got{{"ls", unknown, -1, true}}, skipped: []string{"line 1: a command of 2097152 bytes, the maximum is 1048576"}},
		{why: "a zsh command continued for ever", format: "zsh", in: strings.Repeat(strings.Repeat("x", 1<<20)+"\\\n", 6) + "\nls\n", want: []got{{"ls", unknown, -1, true}}, skipped: []string{"line 1: a command too long"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, f := range Formats {
				if f.Name != c.format {
					continue
				}
				events, payloads, skipped := collect(t, f.Read(strings.NewReader(c.in), opts))
				if d := cmp.Diff(view(events, payloads), c.want); d != "" {
					t.Errorf("got - want +\n%s", d)
				}
				if d := cmp.Diff(skipped, c.skipped); d != "" {
					t.Errorf("skipped: %s", d)
				}
				for i, p := range payloads {
					if p.User != "ada" || p.Host != "lovelace" || p.Shell != c.format || string(events[i].Key) != "ada@lovelace" {
						t.Errorf("%v by %s", p, events[i].Key)
					}
				}
				again, _, _ := collect(t, f.Read(iotest.OneByteReader(strings.NewReader(c.in)), opts))
				if len(c.in) < 4096 {
					if d := cmp.Diff(events, again); d != "" {
						t.Errorf("read byte by byte it differs: %s", d)
					}
				}
			}
		})
	}
}

func TestAReadErrorEndsTheLoop(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, f := range append(Formats, Format{"jsonl", JSONL}) {
		n, last := 0, error(nil)
		for _, err := range f.Read(io.MultiReader(strings.NewReader("ls\n"), iotest.ErrReader(broken)), opts) {
			n, last = n+1, err
		}
		if !errors.Is(last, broken) || n == 0 {
			t.Errorf("%s: after %d entries %v", f.Name, n, last)
		}
	}
}

func TestALoopMayStop(t *testing.T) {
	for _, f := range Formats {
		n := 0
		for range f.Read(strings.NewReader("a\nb\n- cmd: c\n- cmd: d\n- cmd: e\n"), opts) {
			if n++; n == 1 {
				break
			}
		}
		if n != 1 {
			t.Errorf("%s: %d entries after a break", f.Name, n)
		}
	}
}

// writers write commands to a file as each shell would, implemented independently of the parsers.
var writers = map[string]func(cs []command) string{
	"bash": func(cs []command) string {
		var b strings.Builder
		for _, c := range cs {
			fmt.Fprintf(&b, "#%d\n%s\n", c.at, c.text)
		}
		return b.String()
	},
	"zsh": func(cs []command) string {
		var b strings.Builder
		for _, c := range cs {
			var raw []byte
			for _, x := range []byte(strings.ReplaceAll(c.text, "\n", "\\\n")) {
				if x == 0 || x >= 0x83 && x <= 0xa2 {
					raw = append(raw, 0x83, x^32)
				} else {
					raw = append(raw, x)
				}
			}
			end := ""
			if strings.HasSuffix(strings.TrimRight(c.text, " "), `\`) {
				end = " "
			}
			fmt.Fprintf(&b, ": %d:%d;%s%s\n", c.at, c.took, raw, end)
		}
		return b.String()
	},
	"fish": func(cs []command) string {
		var b strings.Builder
		for _, c := range cs {
			esc := strings.ReplaceAll(strings.ReplaceAll(c.text, `\`, `\\`), "\n", `\n`)
			fmt.Fprintf(&b, "- cmd: %s\n  when: %d\n", esc, c.at)
		}
		return b.String()
	},
}

type command struct {
	text     string
	at, took int64
}

func randomCommands(r *rand.Rand, n int) []command {
	atoms := []string{"ls", "git push", " ", "\n", `\`, "ü", "日本", ";", ":", "#", "'", "a=b", "#1700000000x", "- cmd: x", "when: 1", "\t", "x"}
	cs := make([]command, n)
	for i := range cs {
		var b strings.Builder
		b.WriteString("c")
		for range r.IntN(8) {
			b.WriteString(atoms[r.IntN(len(atoms))])
		}
		cs[i] = command{strings.TrimRight(b.String(), " \t\n"), 1_700_000_000 + int64(r.IntN(20)), int64(r.IntN(3))}
	}
	return cs
}

func TestWhatAShellWroteComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		cs := randomCommands(r, r.IntN(30))
		for _, f := range Formats {
			file := writers[f.Name](cs)
			events, payloads, skipped := collect(t, f.Read(strings.NewReader(file), opts))
			if len(skipped) > 0 {
				t.Fatalf("%s: skipped %v", f.Name, skipped)
			}
			var want []got
			for _, c := range cs {
				g := got{c.text, c.at, -1, false}
				if f.Name == "zsh" && c.took > 0 {
					g.Took = time.Duration(c.took) * time.Second
				}
				want = append(want, g)
			}
			if d := cmp.Diff(view(events, payloads), want); d != "" {
				t.Fatalf("%s: got - want +\n%s\nfrom %q", f.Name, d, file)
			}

			// Every id is unique, even of two runs in the same second.
			ids := map[schemas.EventID]bool{}
			for _, e := range events {
				ids[e.ID] = true
			}
			if len(ids) != len(events) {
				t.Fatalf("%s: %d ids for %d entries", f.Name, len(ids), len(events))
			}
			// Entries of a history that grows keep their ids.
			k := r.IntN(len(cs) + 1)
			part, _, _ := collect(t, f.Read(strings.NewReader(writers[f.Name](cs[:k])), opts))
			if d := cmp.Diff(part, events[:k]); d != "" && k > 0 {
				t.Fatalf("%s: the first %d of %d differ: %s", f.Name, k, len(cs), d)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	ids := func(o Options, in string) (ids []schemas.EventID) {
		events, _, _ := collect(t, Bash(strings.NewReader(in), o))
		for _, e := range events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	base := ids(opts, "ls\nls\npwd\n")
	later := opts
	later.Time = fileTime.Add(time.Hour)
	if d := cmp.Diff(base, ids(later, "ls\nls\npwd\n")); d != "" {
		t.Errorf("ids of entries without times depend on the file's: %s", d)
	}
	other := opts
	other.Host = "babbage"
	if ids(other, "ls\n")[0] == base[0] {
		t.Error("two hosts' histories have the same ids")
	}
	redacting := opts
	redacting.Redact = func(p *recountv1.CommandExecuted) {
		p.Command = strings.ReplaceAll(p.Command, "hunter2", "[redacted:x]")
	}
	if ids(redacting, "login hunter2\n")[0] != ids(redacting, "login [redacted:x]\n")[0] {
		t.Error("an id depends on what was redacted")
	}
}

// TestRealShells lets the shells themselves write a history.
func TestRealShells(t *testing.T) {
	want := []string{"echo one", "for i in 1 2\ndo echo $i\ndone", `echo 'back\slash ü'`}
	for _, c := range []struct {
		shell  string
		args   []string
		script func(file string) string
		timed  bool
	}{
		{"bash", []string{"--norc", "--noprofile"}, func(f string) string {
			return "HISTTIMEFORMAT=%s HISTFILE=" + f + "; set -o history; shopt -s cmdhist lithist; history -c\n" +
				"history -s \"$A\"; history -s \"$B\"; history -s \"$C\"; history -w " + f + "; unset HISTFILE\n"
		}, true},
		{"zsh", []string{"-f", "-i"}, func(f string) string {
			return "setopt extended_history; HISTSIZE=100 SAVEHIST=100; print -rs -- \"$A\"; print -rs -- \"$B\"; print -rs -- \"$C\"; fc -W " + f + "\n"
		}, true},
	} {
		t.Run(c.shell, func(t *testing.T) {
			bin, err := exec.LookPath(c.shell)
			if err != nil {
				t.Skipf("%s is not installed", c.shell)
			}
			file := filepath.Join(t.TempDir(), "history")
			cmd := exec.Command(bin, append(c.args, "-c", c.script(file))...)
			cmd.Env = append(os.Environ(), "A="+want[0], "B="+want[1], "C="+want[2], "LC_ALL=C.UTF-8")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := Detect("file", raw); d != c.shell {
				t.Errorf("detected as %q:\n%s", d, raw)
			}
			for _, f := range Formats {
				if f.Name != c.shell {
					continue
				}
				events, payloads, _ := collect(t, f.Read(strings.NewReader(string(raw)), opts))
				var commands []string
				for i, p := range payloads {
					if strings.Contains(p.Command, "history -") { // added by the script itself
						continue
					}
					commands = append(commands, p.Command)
					if now := time.Now(); events[i].Time.Before(now.Add(-time.Minute)) || events[i].Time.After(now.Add(time.Minute)) {
						t.Errorf("%s at %v", p.Command, events[i].Time)
					}
				}
				if d := cmp.Diff(commands, want); d != "" {
					t.Errorf("got - want +\n%s\n%q", d, raw)
				}
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ path, head, want string }{
		{"/home/a/.bash_history", "ls\n", "bash"},
		{"/home/a/.zsh_history", "ls\n", "zsh"},
		{"/home/a/.zhistory", "", "zsh"},
		{"/x/fish_history", "", "fish"},
		{"/x/h", ": 1700000000:0;ls\n", "zsh"},
		{"/x/h", "- cmd: ls\n", "fish"},
		{"/x/h", "ls\n#1700000000\nls\n", "bash"},
		{"/x/h", "ls\n", ""},
		{"/x/bash_history", "#!/bin/sh\n", "bash"},
	} {
		if got := Detect(c.path, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.path, c.head, got, c.want)
		}
	}
}

func TestJSONL(t *testing.T) {
	in := strings.Join([]string{
		`{"command":"make test","cwd":"/src/app","exit_code":2,"started_at":"2026-01-02T03:04:05Z"}`,
		`{"command":"make test","cwd":"/src/app","exit_code":2,"started_at":"2026-01-02T03:04:05Z"}`,
		``,
		`not json`,
		`{"command":"x","exitcode":2}`,
		`{"cwd":"/x"}`,
		`{"command":"no time"}`,
		`{"specversion":"1.0","id":"7","type":"command.executed","source":"ci","time":"2026-01-02T03:04:06Z","data":{"command":"ls"}}`,
		`{"specversion":"0.3","data":{"command":"ls"}}`,
		`[1]`,
		`{"command":"x","duration_ms":1500}`,
		`{"command":"x","timestamp":"2026-01-02T03:04:05Z"}`,
		`{"command":"x","colour":"red"}`,
	}, "\n")
	events, payloads, skipped := collect(t, JSONL(strings.NewReader(in), opts))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Unix()
	if d := cmp.Diff(view(events, payloads), []got{{"make test", at, -1, false}, {"make test", at, -1, false}, {"no time", at, -1, true}, {"ls", at + 1, -1, false}}); d != "" {
		t.Errorf("got - want +\n%s", d)
	}
	if d := cmp.Diff(skipped, []string{
		"line 4: not a JSON object",
		`line 5: (line 1:16): unknown field "exitcode": did you mean exit_code?`,
		"line 6: command: must be at least 1 bytes",
		`line 9: specversion: "0.3": want 1.0`,
		"line 10: not a JSON object",
		`line 11: (line 1:16): unknown field "duration_ms": did you mean duration, as "1.5s"?`,
		`line 12: (line 1:16): unknown field "timestamp": did you mean started_at, as "2026-01-02T03:04:05Z"?`,
		`line 13: (line 1:16): unknown field "colour"`,
	}); d != "" {
		t.Errorf("skipped: got - want +\n%s", d)
	}
	if events[0].ID == events[1].ID {
		t.Error("two runs are one event")
	}
	if events[3].ID != schemas.ProducerID("ci", "7") || string(events[0].Key) != "/src/app" {
		t.Errorf("%s by %s", events[3].ID, events[0].Key)
	}
}

func TestAtuin(t *testing.T) {
	const old = `CREATE TABLE history (id text primary key, timestamp integer not null, duration integer not null, exit integer not null,
		command text not null, cwd text not null, session text not null, hostname text not null, unique(timestamp, cwd, command))`
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC).UnixNano()
	rows := [][]any{
		{"018f02", at + 5, int64(2_500_000_000), 1, "make test", "/src/app", "s1", "lovelace:ada"},
		{"018f01", at, int64(-1), -1, "vim x", "unknown", "s1", "lovelace:ada"},
		{"018f03", at + 9, int64(1000), 0, "   ", "/", "s1", "lovelace:ada"},
	}
	for _, schema := range []string{"the first", "with deletions, author and intent"} {
		t.Run(schema, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			must := func(q string, args ...any) {
				t.Helper()
				if _, err := db.Exec(q, args...); err != nil {
					t.Fatal(err)
				}
			}
			must("PRAGMA journal_mode=WAL")
			must(old)
			for _, r := range rows {
				must("INSERT INTO history VALUES (?,?,?,?,?,?,?,?)", r...)
			}
			newer := schema != "the first"
			if newer {
				must("ALTER TABLE history ADD COLUMN deleted_at integer")
				must("ALTER TABLE history ADD COLUMN author text")
				must("ALTER TABLE history ADD COLUMN intent text")
				must("INSERT INTO history VALUES ('018f04', ?, 1, 0, 'gone', '/', 's', 'h:u', 5, NULL, NULL)", at)
				must("INSERT INTO history VALUES ('018f05', ?, 1, 0, 'go test', '/', 's', 'h:u', NULL, 'claude', 'see it pass')", at+20)
			}
			// Atuin's process remains: the database is read while it is open.
			defer db.Close()

			a, err := OpenAtuin(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			o := opts
			o.Workspace = func(cwd string) string { return "ws:" + cwd }
			events, ps, skipped := collect(t, a.Events(context.Background(), o))
			want := []got{{"vim x", at / 1e9, -1, false}, {"make test", at / 1e9, 2500 * time.Millisecond, false}}
			if newer {
				want = append(want, got{"go test", at / 1e9, 1, false})
			}
			if d := cmp.Diff(view(events, ps), want); d != "" {
				t.Fatalf("got - want +\n%s", d)
			}
			if len(skipped) != 1 {
				t.Errorf("skipped %v", skipped)
			}
			if p := ps[0]; p.Cwd != "" || p.ExitCode != nil || p.Host != "lovelace" || p.User != "ada" || p.Session != "s1" {
				t.Errorf("%v", p)
			}
			if p := ps[1]; p.Cwd != "/src/app" || p.GetExitCode() != 1 || p.Workspace != "ws:/src/app" || string(events[1].Key) != "ws:/src/app" {
				t.Errorf("%v", p)
			}
			if newer && (ps[2].Author != "claude" || ps[2].StatedIntent != "see it pass") {
				t.Errorf("%v", ps[2])
			}
		})
	}

	t.Run("not a database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAtuin(context.Background(), path); err == nil || !strings.Contains(err.Error(), "not a database") {
			t.Errorf("got %v", err)
		}
		if _, err := OpenAtuin(context.Background(), path+"x"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "places.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE history (id text)"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if _, err := OpenAtuin(context.Background(), path); err == nil || !strings.Contains(err.Error(), "no column history.timestamp") {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzShells(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, w := range writers {
		f.Add(w(randomCommands(r, 5)))
	}
	f.Add("\x83")
	f.Fuzz(func(t *testing.T, in string) {
		for _, fm := range Formats {
			events, _, _ := collect(t, fm.Read(strings.NewReader(in), opts))
			again, _, _ := collect(t, fm.Read(strings.NewReader(in), opts))
			if d := cmp.Diff(events, again); d != "" {
				t.Errorf("%s: %s", fm.Name, d)
			}
			ids := map[schemas.EventID]bool{}
			for _, e := range events {
				if ids[e.ID] {
					t.Errorf("%s: id %s twice", fm.Name, e.ID)
				}
				ids[e.ID] = true
			}
		}
	})
}

func BenchmarkZsh(b *testing.B) {
	var sb strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&sb, ": %d:%d;git commit -m 'change %d' && go test ./...\n", 1_700_000_000+i, i%7, i%100)
	}
	in := sb.String()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for range Zsh(strings.NewReader(in), opts) {
		}
	}
}
