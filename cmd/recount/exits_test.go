package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/front"
	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/node"
)

// verbsOf returns the paths of all verbs that do something, including hidden ones, without the
// program's name.
func verbsOf() []string {
	root := (&app{&connect.Connector{Terminal: &render.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}}}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var verbs []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasParent() && (!c.HasSubCommands() || strings.Contains(c.Use, " ")) { // a group takes no arguments
			verbs = append(verbs, strings.TrimPrefix(c.CommandPath(), "recount "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return verbs
}

// app returns the program in this process, with the world's environment and the additions in env.
func (w *world) app(stdin string, stdout, stderr io.Writer, env ...string) *app {
	all := map[string]string{}
	for _, kv := range append(w.env(), env...) {
		k, v, _ := strings.Cut(kv, "=")
		all[k] = v
	}
	return &app{&connect.Connector{
		Terminal: &render.Terminal{In: strings.NewReader(stdin), Out: stdout, Err: stderr, HomeDir: all["HOME"], Silence: time.Hour},
		Getenv:   func(k string) string { return all[k] },
		Version:  cli.Version(""),
	}}
}

// run is the program without its process: it returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	return program.Run(ctx, a.Connector, a.root(), args)
}

// call runs a command line in this process, with the text after " < " as standard input, or its
// output in the file after " > ", and returns its exit code and the first line on standard error.
func (w *world) call(line string, env ...string) (code int, said string) {
	w.t.Helper()
	var stdout bytes.Buffer
	stderr := newSaid()
	line, input, _ := strings.Cut(line, " < ")
	line, file, _ := strings.Cut(line, " > ")
	a := w.app(input, &stdout, stderr, env...)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	args := strings.Fields(os.Expand(line, a.Getenv))
	code = a.run(ctx, args)
	w.sameInFront(ctx, args, env, code, stdout.String(), stderr.String())
	if file != "" {
		if err := os.WriteFile(os.Expand(file, a.Getenv), stdout.Bytes(), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	said, _, _ = strings.Cut(w.plain(stderr.String()), "\n")
	const most = 120
	if runes := []rune(said); len(runes) > most {
		said = string(runes[:most]) + "…"
	}
	return code, said
}

// sameInFront checks that the small programs, given the same arguments, exit and print as the whole
// one did, or leave them to it and print nothing.
func (w *world) sameInFront(ctx context.Context, args, env []string, code int, out, said string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	a := w.app("", &stdout, &stderr, env...)
	for _, small := range []struct {
		name string
		open front.Open
		more []front.Verb
	}{
		{"recount-front", front.OpenServer(a.Terminal, a.Getenv), slices.Concat(front.Narratives, front.OfServer)},
		{"recount-local", openLocal, front.Narratives},
	} {
		name := small.name
		stdout.Reset()
		stderr.Reset()
		got, err := front.Run(ctx, a.Terminal, a.Getenv, a.Version, args, small.open, small.more...)
		wantOut, wantSaid := out, said
		if err != nil {
			got, wantOut, wantSaid = code, "", ""
		} else {
			w.small[name]++
			if len(args) > 0 {
				w.small[name+" "+args[0]]++
			}
		}
		plain := func(out, said string, code int) string {
			return w.plain(microseconds.ReplaceAllString(fmt.Sprintf("%s%s[%d]", out, said, code), "us"))
		}
		diff := cmp.Diff(plain(wantOut, wantSaid, code), plain(stdout.String(), stderr.String(), got))
		if diff != "" {
			w.t.Errorf("recount %s (%s: %v; -whole +small):\n%s", strings.Join(args, " "), name, err, diff)
		}
	}
}

// microseconds matches what answers in JSON say of their own time.
var microseconds = regexp.MustCompile(`us": [0-9]+`)

// verbOf returns the verb of a command line.
func verbOf(line string, verbs []string) string {
	longest := ""
	for _, v := range verbs {
		if strings.HasPrefix(line+" ", v+" ") && len(v) > len(longest) {
			longest = v
		}
	}
	return longest
}

// atuinHistory writes a database in Atuin's format, with one command.
func atuinHistory(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"CREATE TABLE history (id text primary key, timestamp integer not null, duration integer not null, exit integer not null, command text not null, cwd text not null, session text not null, hostname text not null)",
		"INSERT INTO history VALUES ('018f02', 1767323045000000000, 5, 0, 'make', '/src', 's', 'lovelace:ada')",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// neverExits matches a line of exits.txt that says with which code a verb never exits, or where
// that is tested: "never 1: record".
var neverExits = regexp.MustCompile(`^never ([012]): ([a-z -]+)$`)

// TestExitCodes runs the command lines of testdata/verbs/exits.txt beside a server. Each verb needs
// a line that finds or does something (0), one that finds nothing (1) and one that fails (2),
// unless the file says that it never exits so. A new verb without such lines fails here.
func TestExitCodes(t *testing.T) {
	w := newWorld(t)
	if out, code := w.sh("sh $FILES/verbs/world.sh"); code != 0 {
		t.Fatal(out)
	}
	atuinHistory(t, filepath.Join(w.dir, "atuin.db"))
	t.Chdir(filepath.Join(w.dir, "work"))
	w.start()
	e, err := node.ReadEndpoints(w.data())
	if err != nil {
		t.Fatal(err)
	}
	verbs := verbsOf()
	seen := map[string]map[int]bool{}
	for _, v := range verbs {
		seen[v] = map[int]bool{}
	}
	never := map[string][]int{}
	golden.Files(t, filepath.Join(w.files, "verbs", "exits.txt"), func(t *testing.T, text string) string {
		w.t = t
		var out strings.Builder
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			m := neverExits.FindStringSubmatch(line)
			if m != nil {
				code, _ := strconv.Atoi(m[1])
				never[m[2]] = append(never[m[2]], code)
			}
			if m != nil || line == "" || strings.HasPrefix(line, "#") {
				out.WriteString(line + "\n")
			}
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			code, said := w.call(command, "SERVER="+e.HTTP)
			verb := verbOf(command, verbs)
			if seen[verb] == nil {
				t.Fatalf("%s: of no verb", line)
			}
			seen[verb][code] = true
			fmt.Fprintf(&out, "$ %s\n", command)
			switch {
			case code == 0:
			case said == "":
				fmt.Fprintf(&out, "[%d]\n", code)
			default:
				fmt.Fprintf(&out, "[%d] %s\n", code, said)
			}
		}
		return out.String()
	})
	w.t = t
	for _, verb := range []string{"version", "find", "stats", "show", "why", "stitch", "insights"} {
		if w.small["recount-front "+verb] == 0 {
			t.Errorf("the small program did no command line of %s itself", verb)
		}
	}
	w.stop(syscall.SIGTERM) // recount up must exit with 0
	for _, v := range verbs {
		for _, code := range []int{0, 1, 2} {
			if seen[v][code] == slices.Contains(never[v], code) {
				t.Errorf("%s: testdata/verbs/exits.txt wants a line that exits with %d, or \"never %d: %s\", and not both", v, code, code, v)
			}
		}
		delete(never, v)
	}
	for v := range never {
		t.Errorf("never: %s: there is no such verb", v)
	}
}

// TestWithoutAServer gives command lines about commands to the whole program and to recount-local, which
// answers from the data directory and not by the whole program.
func TestWithoutAServer(t *testing.T) {
	w := newWorld(t)
	if out, code := w.sh(`sh $FILES/verbs/world.sh && recount record --exit 0 --cwd /src/app --session s1 -- make test
recount record --id 1f0a9c31-0000-4000-8000-000000000000 --exit 2 --cwd /src/app --session s1 -- make test
echo 'make spooled' | recount-record -exit 2`); code != 0 {
		t.Fatal(out)
	}
	t.Chdir(filepath.Join(w.dir, "work"))
	lines := []string{"find make", "find make --json", "find make test --proof", "find --exit 77", "find --here", "find -n 2 --repeats", "find --resource x --since 2d", "find spooled", "find --replayed", "why", "why --json", "why --kind similar", "why 1f0a9c31 --kind temporal", "show 1f0a9c31", "stitch 1f0a9c31 --depth 2", "diff 1f0a9c31", "insights", "stats -n 3", "find --no-such-flag", "find --limit 0 make"}
	for _, line := range lines {
		code, said := w.call(line)
		if code == exitFailed && !strings.HasPrefix(line, "find --no") && !strings.HasPrefix(line, "find --limit 0") {
			t.Errorf("%s: %s", line, said)
		}
	}
	if n := w.small["recount-local"]; n != len(lines)-2 {
		t.Errorf("recount-local did %d of the command lines itself, want all but two", n)
	}
}

// TestVerbsWithoutAnything calls every verb as listed in testdata/verbs/without.txt in cases
// without an answer: with an unknown flag, an unreachable server, an impossible data directory, and
// one in which nothing was ever recorded. Verbs that only read must not create a directory.
func TestVerbsWithoutAnything(t *testing.T) {
	w := newWorld(t)
	t.Chdir(filepath.Join(w.dir, "work"))
	if out, code := w.sh("git init -q . && git -c user.name=a -c user.email=a commit -q --allow-empty -m one && printf 'ls\n' > $DIR/bash_history"); code != 0 {
		t.Fatal(out)
	}
	verbs := verbsOf()
	missing := map[string]bool{}
	for _, v := range verbs {
		missing[v] = true
	}
	golden.Files(t, filepath.Join(w.files, "verbs", "without.txt"), func(t *testing.T, text string) string {
		w.t = t
		var out strings.Builder
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				out.WriteString(line + "\n")
			}
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			verb := verbOf(command, verbs)
			delete(missing, verb)
			fmt.Fprintf(&out, "$ %s\n", command)
			args := strings.TrimPrefix(command, verb)
			try := func(name, line string, env ...string) {
				code, said := w.call(line, env...)
				if said != "" {
					said = "  " + said
				}
				fmt.Fprintf(&out, "%-8s %d%s\n", name, code, said)
			}
			try("flag", verb+" --no-such-flag"+args)
			away, empty := filepath.Join(w.dir, "away"), filepath.Join(w.dir, "nothing")
			try("server", command, "RECOUNT_SERVER=http://127.0.0.1:1", "RECOUNT_DATA_DIR="+away)
			try("damaged", command, "RECOUNT_DATA_DIR=/dev/null/x")
			try("empty", command, "RECOUNT_DATA_DIR="+empty)
			if left, err := os.ReadDir(empty); err == nil {
				out.WriteString("makes")
				for _, e := range left {
					out.WriteString(" " + e.Name())
				}
				out.WriteString("\n")
			}
			if err := errors.Join(os.RemoveAll(empty), os.RemoveAll(away)); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	})
	for v := range missing {
		t.Errorf("%s: testdata/verbs/without.txt has no line of it", v)
	}
}

// TestAnAnswerThatCannotBeWrittenIsNoSuccess runs programs with a standard output that takes nothing.
func TestAnAnswerThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recount", "recount-front"} {
		out, err := os.Open(os.DevNull) // for reading
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		c := exec.Command(self, "version")
		c.Env = append(os.Environ(), asProgram+"="+name)
		c.Stdout, c.Stderr = out, &said
		err = c.Run()
		if c.ProcessState.ExitCode() != exitFailed || !strings.Contains(said.String(), "the answer is not whole") {
			t.Errorf("%s: %v, said %q", name, err, said.String())
		}
		_ = out.Close()
	}
}
