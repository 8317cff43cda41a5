package command

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var at = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func event() schemas.Event {
	return schemas.Event{Type: schemas.TypeCommandExecuted, Source: "test", Time: at}
}

func intentOf(t testing.TB, c *recountv1.CommandExecuted) *recountv1.Intent {
	t.Helper()
	var rec recountv1.Record
	if err := Intent(event(), c, &rec); err != nil {
		t.Fatal(err)
	}
	return rec.GetIntent()
}

func TestIntentCarriesTheEvent(t *testing.T) {
	code := int32(2)
	in := intentOf(t, &recountv1.CommandExecuted{
		Command: "make test", Cwd: "/home/ann/src/app/web", Session: "s1", Shell: "zsh", User: "ann", Host: "box",
		StartedAt: timestamppb.New(at.Add(-time.Minute)), Duration: durationpb.New(1500 * time.Millisecond), ExitCode: &code,
		GitHead: "0f3a9bc", ParentEventId: "018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55", Author: "ann", StatedIntent: "see if it works", OutputTail: "FAIL",
	})
	if got, want := in.Workspace, "/home/ann/src/app"; got != want {
		t.Errorf("workspace %q, want %q", got, want)
	}
	if got, want := in.TimeUnixNano, at.Add(-time.Minute).UnixNano(); got != want {
		t.Errorf("time %d, want %d", got, want)
	}
	if in.DurationNano != 1.5e9 || in.GetExitCode() != 2 || in.OutputTail != "FAIL" || in.StatedIntent != "see if it works" {
		t.Errorf("got %v", in)
	}
	if id, err := schemas.EventIDFromBytes(in.ParentId); err != nil || id.String() != "018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" {
		t.Errorf("parent %x: %v", in.ParentId, err)
	}
}

func TestIntentOfBareCommand(t *testing.T) {
	in := intentOf(t, &recountv1.CommandExecuted{Command: "ls"})
	if in.TimeUnixNano != at.UnixNano() || in.DurationNano != -1 || in.ExitCode != nil || in.ParentId != nil || in.Workspace != "" {
		t.Errorf("got %v", in)
	}
}

func TestOutcome(t *testing.T) {
	var rec recountv1.Record
	err := Outcome(event(), &recountv1.OutcomeObserved{CommandEventId: "cmd-7", Duration: durationpb.New(time.Second)}, &rec)
	if err != nil {
		t.Fatal(err)
	}
	o := rec.GetOutcome()
	if id := schemas.ProducerID("test", "cmd-7"); !bytes.Equal(o.IntentId, id[:]) {
		t.Errorf("intent id %x, want that of the same producer's command, %x", o.IntentId, id)
	}
	if o.ExitCode != nil || o.DurationNano != 1e9 || o.ObservedUnixNano != at.UnixNano() {
		t.Errorf("got %v", o)
	}
}

func TestWorkspace(t *testing.T) {
	for _, c := range []struct{ name, cwd, want string }{
		{"below a folder of projects", "/home/ann/src/app/cmd/x", "/home/ann/src/app"},
		{"a forge's layout", "/home/ann/go/src/github.com/o/r/internal", "/home/ann/go/src/github.com/o/r"},
		{"no folder of projects", "/home/ann/notes/2026", "/home/ann/notes"},
		{"the home directory itself", "/home/ann", "/home/ann"},
		{"the folder of projects itself", "/home/ann/src", "/home/ann/src"},
		{"macOS", "/Users/ann/Developer/app/x", "/Users/ann/Developer/app"},
		{"root's home", "/root/build/x", "/root/build"},
		{"a service", "/srv/shop/web", "/srv/shop"},
		{"a project in the root", "/src/app/web/x", "/src/app"},
		{"a dot in the project's name", "/home/ann/src/app.js", "/home/ann/src/app.js"},
		{"the root", "/", "/"},
		{"not clean", "/srv//shop/../shop/web/", "/srv/shop"},
		{"Windows", `C:\Users\ann\app`, `C:\Users\ann\app`},
		{"unknown", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := workspace(&recountv1.CommandExecuted{Cwd: c.cwd}); got != c.want {
				t.Errorf("workspace of %q: %q, want %q", c.cwd, got, c.want)
			}
		})
	}
}

func TestContextHash(t *testing.T) {
	base := func() *recountv1.CommandExecuted {
		return &recountv1.CommandExecuted{Cwd: "/a", Shell: "bash", User: "u", Host: "h", GitHead: "0", Env: map[string]string{"A": "1", "B": "2"}}
	}
	want := contextHash(base())
	for range 20 {
		if got := contextHash(base()); got != want {
			t.Fatalf("%x, then %x: the map's order shows", want, got)
		}
	}
	for name, change := range map[string]func(c *recountv1.CommandExecuted){
		"cwd":             func(c *recountv1.CommandExecuted) { c.Cwd = "/b" },
		"a shifted bound": func(c *recountv1.CommandExecuted) { c.Cwd, c.Shell = "/ab", "ash" },
		"env":             func(c *recountv1.CommandExecuted) { c.Env["B"] = "3" },
		"head":            func(c *recountv1.CommandExecuted) { c.GitHead = "1" },
	} {
		c := base()
		change(c)
		if contextHash(c) == want {
			t.Errorf("a change of %s does not show", name)
		}
	}
}

func TestContentHashFoldsSpace(t *testing.T) {
	want := ContentHash("git  log\t-n 5")
	for _, same := range []string{"git log -n 5", " git log -n 5\n", "git\u00a0log -n 5"} {
		if ContentHash(same) != want {
			t.Errorf("%q hashes otherwise", same)
		}
	}
	if ContentHash("git log -n5") == want {
		t.Error("another command hashes alike")
	}
}

// TestValuesDoNotShow checks that commands that differ only in values have the same template.
func TestValuesDoNotShow(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"messages", `git commit -m "fix the parser"`, `git commit -m 'other words'`},
		{"unquoted message", `git commit -m fix`, `git commit -m "a b"`},
		{"numbers", "head -n 5 a.txt", "head -n 1000 /tmp/b.log"},
		{"number in the flag", "make -j4 test", "make -j16 test"},
		{"paths", "cat /etc/hosts", "cat ./x/y.go"},
		{"many or one", "rm -f a b c", "rm -f d"},
		{"hashes", "git show 0f3a9bc", "git show deadbeef1234"},
		{"urls", "curl -s https://a.example/x", "curl -s http://b:80/"},
		{"hosts", "ssh ann@box", "ssh 10.0.0.1"},
		{"ids", "mytool get 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "mytool get 00000000-0000-0000-0000-000000000001"},
		{"blanks", "ls   -l", "ls -l"},
		{"variable", "cd $HOME/src", "cd /srv/x"},
		{"program's path", "/usr/bin/git status", "git status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := intentOf(t, &recountv1.CommandExecuted{Command: c.a}).Template
			b := intentOf(t, &recountv1.CommandExecuted{Command: c.b}).Template
			if a != b {
				t.Errorf("%q and %q", a, b)
			}
		})
	}
}

// TestWhatStaysShows checks that differences in other words lead to different templates.
func TestWhatStaysShows(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"subcommands", "git push", "git pull"},
		{"targets", "make test", "make install"},
		{"scripts", "npm run build", "npm run deploy"},
		{"flags", "ls -l", "ls -a"},
		{"kubernetes kinds", "kubectl get pods", "kubectl get nodes"},
		{"operators", "a && b", "a || b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := intentOf(t, &recountv1.CommandExecuted{Command: c.a}).Template
			b := intentOf(t, &recountv1.CommandExecuted{Command: c.b}).Template
			if a == b {
				t.Errorf("both are %q", a)
			}
		})
	}
}

// hostile returns inputs that must be processed within bounds and without a crash.
func hostile() map[string]string {
	return map[string]string{
		"nested subshells":      strings.Repeat("(", 100_000),
		"nested substitutions":  strings.Repeat("$(", 100_000),
		"nested if":             strings.Repeat("if ", 100_000),
		"nested backquotes":     strings.Repeat("`", 100_001),
		"nested braces":         strings.Repeat("${a:-", 10_000),
		"nested arithmetic":     "$((" + strings.Repeat("(", 50_000),
		"prefix operators":      "$((" + strings.Repeat("-", 50_000) + "1))",
		"spaced operators":      "$((" + strings.Repeat("- ", 15_000) + "1))",
		"ternaries":             "$((" + strings.Repeat("a?b:", 8_000) + "1))",
		"a long pipe":           strings.Repeat("a|", 16_000) + "a",
		"a long and":            strings.Repeat("a&&", 10_000) + "a",
		"many words":            "rm " + strings.Repeat("x ", 500_000),
		"one long word":         strings.Repeat("x", 1<<20),
		"quotes":                strings.Repeat(`"`, 1<<20-1),
		"quotes in quotes":      strings.Repeat(`"$("`, 8_000),
		"heredocs":              strings.Repeat("cat <<E\n", 4_000),
		"redirections":          "cat " + strings.Repeat(">a", 16_000),
		"negations":             strings.Repeat("! ", 16_000) + "a",
		"backslashes":           strings.Repeat(`\`, 1<<20),
		"extended globs":        strings.Repeat("@(", 16_000),
		"functions":             strings.Repeat("f()", 10_000),
		"command in a word":     strings.Repeat("ssh a 'ssh b ", 1000),
		"assignments":           strings.Repeat("a=b ", 8_000),
		"wrappers":              strings.Repeat("sudo ", 8_000) + "ls",
		"finds in finds":        strings.Repeat("find . -exec ", 2_000) + "ls",
		"subcommands":           strings.Repeat("docker ", 5_000),
		"case":                  strings.Repeat("case a in a) ", 2_000),
		"conditions":            "[[ " + strings.Repeat("! ", 16_000) + "a ]]",
		"bracketed conditions":  "[[ " + strings.Repeat("( ", 16_000) + "a ]]",
		"process substitutions": strings.Repeat("cat <(", 5_000),
		"carriage returns":      strings.Repeat("a\r\n", 10_000),
	}
}

func TestHostileInputIsBounded(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			racing.Alone(t)
			for _, shell := range []string{"bash", "sh", "mksh", "zsh", "fish", "pwsh"} {
				in := intentOf(t, &recountv1.CommandExecuted{Command: text, Cwd: "/x", Shell: shell})
				b, err := proto.Marshal(in)
				if err != nil {
					t.Errorf("%s: %v", shell, err)
				}
				if size := len(b) - len(text); size > 400<<10 {
					t.Errorf("%s: %d bytes beyond the command", shell, size)
				}
				if in.Template == "" || in.Confidence <= 0 || in.Complexity == 0 {
					t.Errorf("%s: template %q, confidence %g, complexity %d", shell, schemas.Clip(in.Template, 40), in.Confidence, in.Complexity)
				}
			}
		})
	}
}

func FuzzIntent(f *testing.F) {
	for _, c := range everyday {
		f.Add(c, "bash")
		f.Add(c, "pwsh")
	}
	f.Add("ls -é* ~ü/\\ñ 'x–y' > “q” | gréé --ß=日本 -日3 && C:\\ü", "bash")
	f.Add("ls -é* ~ü/\\ñ 'x–y' > “q” | gréé --ß=日本 -日3 ((", "pwsh")
	for _, c := range hostile() {
		f.Add(schemas.Clip(c, 2000), "zsh")
	}
	f.Fuzz(func(t *testing.T, text, shell string) {
		c := &recountv1.CommandExecuted{Command: text, Shell: shell, Cwd: "/home/ann/src"}
		var a, b recountv1.Record
		if err := Intent(event(), c, &a); err != nil {
			return
		}
		if err := Intent(event(), c, &b); err != nil || !proto.Equal(&a, &b) {
			t.Fatalf("two runs differ: %v", err)
		}
		in := a.GetIntent()
		if utf8.ValidString(text) && utf8.ValidString(shell) {
			// Marshalling fails if a string was cut inside a rune.
			if _, err := proto.Marshal(in); err != nil {
				t.Error(err)
			}
		}
		if in.Template == "" || in.Confidence <= 0 || in.Confidence > 1 || in.Category == 0 || in.Complexity == 0 {
			t.Errorf("template %q, confidence %g, category %v, complexity %d", in.Template, in.Confidence, in.Category, in.Complexity)
		}
		for _, tok := range in.Tokens {
			if int(tok.Offset) > len(text) {
				t.Errorf("token %v beyond %d", tok, len(text))
			}
		}
		for _, r := range in.Resources {
			if r.Name == "" || r.Kind == 0 || r.Access == 0 {
				t.Errorf("resource %v", r)
			}
		}
	})
}

var everyday = []string{
	"git commit -am 'fix: the parser' && git push -u origin main",
	"find . -name '*.go' -size +10k -exec grep -n TODO {} + | sort -k2 > todo.txt",
	"docker run --rm -it -p 8080:80 -v $PWD:/src nginx:1.27 bash -c 'ls /'",
	"ls -la",
	"cd ../web",
	"kubectl logs web-5f7d -n prod --tail=100 -f",
	"for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
	"curl -sSL https://user:pw@api.example.com:8443/v1/items?id=3 -o /tmp/items.json",
}

func BenchmarkIntent(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		intentOf(b, &recountv1.CommandExecuted{Command: everyday[i%len(everyday)], Cwd: "/home/ann/src/app", Shell: "bash", User: "ann"})
	}
}
