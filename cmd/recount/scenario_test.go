package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/front"
	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/local"
	"github.com/recountdb/recount/server/node"
)

// asProgram makes the test binary run as the program, so that scenarios start real processes of the
// code under test.
const asProgram = "RECOUNT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	sandbox.Init()
	switch os.Getenv(asProgram) {
	case "recount":
		start(time.Hour, patience) // so that a slow machine changes nothing in the output of scenarios
		return
	case "recount-hasty": // with the limits that it has otherwise
		start(time.Hour, 0)
		return
	case "recount-front":
		t := cli.Terminal(time.Hour)
		cli.Exit(t, front.Main(t, cli.Version("")))
	case "recount-local":
		t := cli.Terminal(time.Hour)
		cli.Exit(t, front.MainLocal(t, cli.Version(""), openLocal))
	case "recount-record":
		if err := recording.Record(os.Args[1:], os.Stdin, os.Stderr); err != nil {
			fmt.Fprintf(os.Stderr, "recount-record: %s\n", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// world is a directory with the program on the PATH and its data directory in it, isolated from the
// machine's user.
type world struct {
	t      testing.TB
	dir    string
	files  string // testdata
	server *exec.Cmd
	logs   *os.File
	small  map[string]int // the number of command lines that each small program did
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), small: map[string]int{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if w.files, err = filepath.Abs("testdata"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"bin", "home", "work"} {
		if err := os.Mkdir(filepath.Join(w.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"recount", "recount-hasty", "recount-record"} {
		shim := fmt.Sprintf("#!/bin/sh\n%s=%s exec '%s' \"$@\"\n", asProgram, name, self)
		if err := os.WriteFile(filepath.Join(w.dir, "bin", name), []byte(shim), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { w.stop(os.Kill) })
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + filepath.Join(w.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.dir, "home"), "RECOUNT_DATA_DIR=" + w.data(), "DIR=" + w.dir, "FILES=" + w.files,
		"BROWSER=true", "SHELL=/bin/sh", "TZ=UTC", "LC_ALL=C.UTF-8", "TMPDIR=" + w.dir,
		"GORACE=atexit_sleep_ms=10", // a program with the race detector sleeps a second before it ends
	}
}

func (w *world) data() string { return filepath.Join(w.dir, "data") }

// patience is the maximum wait of a test. It stops a test that hangs and measures nothing, since a
// machine may be very slow.
const patience = 3 * time.Minute

// sh runs a line of shell and returns its output and exit code.
func (w *world) sh(line string) (string, int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, "work"), w.env()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s: %v", line, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// start runs `recount up` until stop, and returns when it is ready.
func (w *world) start(flags ...string) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.dir, "bin", "recount"), append([]string{"up", "--http", "127.0.0.1:0", "--kafka", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0", "--otlp-http", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, "work"), w.env()
	logs, err := os.Create(filepath.Join(w.dir, "up.log"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = logs, logs
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.server, w.logs = cmd, logs
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if e, err := node.ReadEndpoints(w.data()); err == nil && e.HTTP != "" && e.PID == cmd.Process.Pid {
			c, err := httpapi.NewClient(e.HTTP, "", nil)
			if err == nil && c.Ready(context.Background()) == nil {
				return
			}
		}
	}
	b, _ := os.ReadFile(logs.Name())
	w.t.Fatalf("recount up is not ready after %s:\n%s", patience, b)
}

func (w *world) stop(sig os.Signal) {
	if w.server == nil {
		return
	}
	_ = w.server.Process.Signal(sig)
	err := w.server.Wait()
	if sig == syscall.SIGTERM && err != nil {
		b, _ := os.ReadFile(w.logs.Name())
		w.t.Errorf("recount up ended with %v:\n%s", err, b)
	}
	w.logs.Close()
	w.server = nil
}

// builtin runs a line that is not shell; done is false for shell lines.
func (w *world) builtin(line string) (done bool) {
	words := strings.Fields(line)
	switch words[0] {
	case "server-start":
		w.start(words[1:]...)
	case "server-stop":
		w.stop(syscall.SIGTERM)
	case "server-kill":
		w.stop(os.Kill)
	default:
		return false
	}
	return true
}

// vary lists what differs from run to run, and its notation in scenarios.
var vary = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?m)^recount: (waiting for .*|[a-z (),]+: [0-9,]+ of [0-9,]+)\n`), ""}, // a slow machine
	{regexp.MustCompile(`[0-9a-f]{64}`), "<hash>"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}\b`), "<id>"},
	{regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(\.[0-9]+)?(Z|[+-][0-9:]{5})?`), "<time>"},
	{regexp.MustCompile(`\b[0-9.]+(y|d|h|m|s|ms|µs|ns)( ?[0-9]+[hms])?\b`), "<t>"},
	{regexp.MustCompile(`\bjust now\b`), "<t> ago"}, // a slow machine takes a minute
	// The partition of an event without its own key depends on the directory.
	{regexp.MustCompile(`(at|position  ) recount\.commands/[0-9]/[0-9]+`), "$1 <position>"},
	{regexp.MustCompile(`recount\.rejected/[0-9]/[0-9]+`), "<position>"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]{2,5}`), "<addr>"},
	{regexp.MustCompile(`pid [0-9]+`), "pid <n>"},
	{regexp.MustCompile(`[0-9,]+ a second`), "<n> a second"},
	// The weights of edges are tested in the projection.
	{regexp.MustCompile(`(temporal|retry|fixes|dependency|branch|causal|similar) [01]\.[0-9]{2}`), "$1 <w>"},
	{regexp.MustCompile(`found by .*#.*`), "found by …"},
	{regexp.MustCompile(`"elapsed_ms": [0-9]+`), `"elapsed_ms": <n>`},
}

func (w *world) plain(s string) string {
	s = strings.ReplaceAll(s, w.dir, "$DIR")
	s = strings.ReplaceAll(s, w.files, "$FILES")
	s = strings.ReplaceAll(s, recording.UserName(os.Getenv)+"@"+recording.HostName(), "<user>@<host>")
	for _, v := range vary {
		s = v.re.ReplaceAllString(s, v.with)
	}
	return s
}

// TestScenarios runs the files of testdata: a line that starts with "$ " is a line of shell,
// followed by its output, with [exit N] if N is not 0. A line that starts with # is a comment.
func TestScenarios(t *testing.T) {
	golden.Files(t, "testdata/*.txt", func(t *testing.T, text string) string {
		t.Parallel()
		w := newWorld(t)
		var got strings.Builder
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			switch command, isCommand := strings.CutPrefix(line, "$ "); {
			case isCommand:
				got.WriteString(line + "\n")
				if w.builtin(command) {
					got.WriteString("\n")
					continue
				}
				out, code := w.sh(command)
				if out = w.plain(out); out != "" {
					got.WriteString(strings.TrimRight(out, "\n") + "\n")
				}
				if code != 0 {
					fmt.Fprintf(&got, "[exit %d]\n", code)
				}
				got.WriteString("\n")
			case strings.HasPrefix(line, "#"):
				got.WriteString(line + "\n")
			}
		}
		return strings.TrimRight(got.String(), "\n") + "\n"
	})
}

// TestPortInUse occupies the port that the server wants.
func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	for flag, args := range map[string]string{
		"--http":      "--kafka none --otlp-grpc none --otlp-http none --http " + addr,
		"--kafka":     "--http 127.0.0.1:0 --otlp-grpc none --otlp-http none --kafka " + addr,
		"--otlp-grpc": "--http 127.0.0.1:0 --kafka none --otlp-http none --otlp-grpc " + addr,
		"--otlp-http": "--http 127.0.0.1:0 --kafka none --otlp-grpc none --otlp-http " + addr,
	} {
		out, code := newWorld(t).sh("recount up " + args)
		if code != 2 || !strings.Contains(out, flag) || !strings.Contains(out, addr) || !strings.Contains(out, "in use") {
			t.Errorf("%s: exit %d: %s", flag, code, out)
		}
	}
}

// TestNoPlaceToWrite checks that a directory that cannot be written to is reported by name.
func TestNoPlaceToWrite(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "readonly")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		dir = "/sys/kernel/recount" // not even root can write there
	}
	for _, verb := range []string{"record -- x", "up --kafka none --http 127.0.0.1:0"} {
		out, code := w.sh("recount --data-dir " + dir + " " + verb)
		if code != 2 || !strings.Contains(out, dir) {
			t.Errorf("%s: exit %d: %s", verb, code, out)
		}
	}
}

// TestHook types into a real bash with the hook, without and with a server, and checks that the
// commands are found.
func TestHook(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	w := newWorld(t)
	typed := func(commands string) {
		t.Helper()
		cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
		cmd.Dir, cmd.Env = filepath.Join(w.dir, "work"), append(w.env(), "PS1=", "HISTFILE=")
		cmd.Stdin = strings.NewReader("eval \"$(recount hook bash --bin '" + filepath.Join(w.dir, "bin", "recount") + "')\"\n" + commands + "exit 0\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("bash: %v\n%s", err, out)
		}
	}
	found := func(question, want string) {
		t.Helper()
		out := ""
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
			if out, _ = w.sh("recount find --shell bash " + question); strings.Contains(out, want) {
				return
			}
		}
		log, _ := os.ReadFile(filepath.Join(w.dir, "home", ".local", "state", "recount-hook.log"))
		t.Fatalf("find %s: got\n%swant %s\nhook log: %s", question, out, want, log)
	}
	typed("true one\n(exit 3)\nRECOUNT_IGNORE='echo s*'\necho secret stuff\necho 'two\nlines'\ntrue --password hunter2\n")
	found("one", "✓ true one")
	found("--exit 3", "✗3 (exit 3)")
	found("lines", "✓ echo 'two")
	found("password", "✓ true --password [redacted:password]")
	if out, _ := w.sh("recount find --shell bash stuff"); strings.Contains(out, "secret stuff") {
		t.Errorf("an ignored command was told: %s", out)
	}
	w.start()
	typed("true three\n")
	found("three", "✓ true three")
	w.stop(syscall.SIGTERM)
	if b, _ := os.ReadFile(filepath.Join(w.dir, "home", ".local", "state", "recount-hook.log")); len(b) > 0 {
		t.Errorf("hook log: %s", b)
	}
}

func openLocal(_ context.Context, dir string) (front.Opened, error) { return local.At(dir), nil }
