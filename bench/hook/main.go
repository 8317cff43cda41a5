// Command hook measures the delay that the shell hooks add to a prompt.
//
//	make && go -C bench run ./hook -bin ../bin/recount
//	go -C bench run ./hook -bin ../bin/recount -load 4      with four processes that only compute
//	go -C bench run ./hook -bin ../bin/recount -data DIR    over a data directory that has commands
//	go -C bench run ./hook -bin ../bin/recount -shells      eight concurrent shells, and what is recorded
//
// It runs an interactive bash and zsh with and without the hook, over its own data directory, with
// and without a server. A round is a command that prints the clock, a prompt, and another such
// command: the time between the two is one prompt with what the hook does before and after it.
// There is a pause between rounds, as when people type, so that the recording process of one round
// does not run during the next. fish reads commands only from a terminal, so its handlers are
// called as fish calls them. A coding agent waits for its hook, so there the time is that of all of
// `recount hook run`, started by a shell as agents start it, minus that of a shell that does
// nothing. It also prints the CPU time and the peak memory of the recorder: of one for a single
// command, and of one that listens to a shell.
//
// With -shells, eight shells run 50 commands each: without a server, with one, with one that is
// stopped, with one that is killed half-way, and while another verb holds the data directory. Each
// command must be recorded once, with the right exit code, directory and start.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/server/node"
)

func main() {
	bin := flag.String("bin", "", "the recount binary to measure")
	rounds := flag.Int("rounds", 100, "prompts to measure")
	pause := flag.Duration("pause", 150*time.Millisecond, "between two rounds")
	load := flag.Int("load", 0, "processes that only compute, beside what is measured")
	only := flag.String("only", "", "the shell to measure, or agent (default all)")
	data := flag.String("data", "", "the data directory, to which the measured commands are added (default a new one)")
	shells := flag.Bool("shells", false, "see what eight shells at once lose")
	hold := flag.Duration("hold", 20*time.Second, "with -shells: how long a verb holds the data directory at least")
	flag.Parse()
	log.SetFlags(0)
	if *bin == "" {
		log.Fatal("hook: -bin: want the recount binary")
	}
	abs, err := filepath.Abs(*bin)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "recount-hook-bench-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b := bench{bin: abs, dir: dir, data: filepath.Join(dir, "data"), rounds: *rounds, pause: *pause}
	if *data != "" {
		if b.data, err = filepath.Abs(*data); err != nil {
			log.Fatal(err)
		}
	}

	if *shells {
		b.shells(*hold)
		return
	}
	for range *load {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			log.Fatal(err)
		}
		defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }() // it was killed
	}

	fmt.Println("| shell | server | without p50 | with p50 | added p50 | added p95 | added p99 |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, server := range []bool{false, true} {
		stop := func() {}
		if server {
			stop = b.start().stop
		}
		for _, shell := range []string{"bash", "zsh", "fish"} {
			if *only != "" && *only != shell {
				continue
			}
			if _, err := exec.LookPath(shell); err != nil {
				fmt.Printf("| %s | %s | not installed | | | | |\n", shell, yes(server))
				continue
			}
			without, with := b.measure(shell, false), b.measure(shell, true)
			row(shell, server, without, with)
		}
		if *only == "" || *only == "agent" {
			without, with := b.measureAgent("exit 0; :"), b.measureAgent("exec")
			row("an agent", server, without, with)
		}
		stop()
	}
	b.measureRecord()
	if *only == "" || *only == "bash" || *only == "zsh" {
		b.measureListener()
	}
}

func row(name string, server bool, without, with []time.Duration) {
	added := func(p int) string { return ms(percentile(with, p) - percentile(without, p)) }
	fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", name, yes(server), ms(percentile(without, 50)), ms(percentile(with, 50)), added(50), added(95), added(99))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// percentile returns the p-th percentile of ds.
func percentile(ds []time.Duration, p int) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[min(len(ds)*p/100, len(ds)-1)]
}

type bench struct {
	bin, dir, data string
	rounds         int
	pause          time.Duration
}

func (b *bench) env() []string {
	return append(os.Environ(), "RECOUNT_DATA_DIR="+b.data, "HOME="+b.dir, "ZDOTDIR="+b.dir,
		"XDG_CONFIG_HOME="+b.dir, "XDG_DATA_HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "HISTFILE=", "PS1=", "TERM=dumb", "LC_ALL=C.UTF-8")
}

// server is a running `recount up`.
type server struct {
	cmd  *exec.Cmd
	logs *bytes.Buffer
}

func (s *server) signal(sig os.Signal) {
	_ = s.cmd.Process.Signal(sig) // it may have ended
}

func (s *server) stop() {
	s.signal(os.Interrupt)
	if err := s.cmd.Wait(); err != nil {
		log.Fatalf("recount up: %v\n%s", err, s.logs)
	}
}

// start runs a server and returns when it is ready, or after 30 seconds.
func (b *bench) start() *server {
	cmd := exec.Command(b.bin, "up", "--http", "127.0.0.1:0", "--kafka", "none", "--otlp-grpc", "none", "--otlp-http", "none")
	var logs bytes.Buffer
	cmd.Env, cmd.Stderr = b.env(), &logs
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	for range 600 {
		if e, err := node.ReadEndpoints(b.data); err == nil {
			if resp, err := http.Get(e.HTTP + "/readyz"); err == nil {
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return &server{cmd, &logs}
}

// measure returns the duration of each prompt.
func (b *bench) measure(shell string, hook bool) []time.Duration {
	var in strings.Builder
	clock := "echo @$EPOCHREALTIME\n"
	cmd := exec.Command(shell, "--norc", "--noprofile", "-i")
	switch shell {
	case "zsh":
		cmd = exec.Command(shell, "-f", "-i")
		in.WriteString("zmodload zsh/datetime\n")
	case "fish":
		return b.measureFish(hook)
	}
	if hook {
		fmt.Fprintf(&in, "eval \"$('%s' hook %s)\"\n", b.bin, shell)
	}
	for range b.rounds {
		fmt.Fprintf(&in, "sleep %.3f; %s%s", b.pause.Seconds(), clock, clock)
	}
	cmd.Env, cmd.Stdin = b.env(), strings.NewReader(in.String()+"exit 0\n")
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("%s: %v", shell, err)
	}
	return differences(string(out))
}

// measureFish calls the handlers and takes the time around them with a separate clock process,
// whose cost is the same with and without the hook.
func (b *bench) measureFish(hook bool) []time.Duration {
	script := ""
	if hook {
		out, err := exec.Command(b.bin, "hook", "fish").Output()
		if err != nil {
			log.Fatalf("recount hook fish: %v", err)
		}
		script = strings.Replace(string(out), "if status is-interactive; and not", "if not", 1)
	}
	script += fmt.Sprintf("\nset CMD_DURATION 5\nfor i in (seq %d)\nsleep %.3f\ndate +@%%s.%%N\nemit fish_preexec 'make test'\nemit fish_postexec 'make test'\ndate +@%%s.%%N\nend\n",
		b.rounds, b.pause.Seconds())
	cmd := exec.Command("fish", "-c", script)
	cmd.Env = b.env()
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("fish: %v", err)
	}
	return differences(string(out))
}

// measureAgent calls the hook that Claude Code runs before a tool, each time with another call. The
// prefix decides what the shell does with the hook's command.
func (b *bench) measureAgent(prefix string) []time.Duration {
	var ds []time.Duration
	for i := range b.rounds {
		call := fmt.Sprintf(`{"session_id":"bench","cwd":"/src/app","hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"make test","description":"Run the tests"},"tool_use_id":"toolu_%d_%d"}`, len(prefix), i)
		cmd := exec.Command("sh", "-c", prefix+" '"+b.bin+"' hook run claude-code")
		cmd.Env, cmd.Stdin = b.env(), strings.NewReader(call)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			log.Fatalf("recount hook run: %v\n%s", err, out)
		}
		ds = append(ds, time.Since(start))
		time.Sleep(b.pause)
	}
	return ds
}

// differences reads pairs of clocks, and returns the differences.
func differences(out string) []time.Duration {
	var clocks []float64
	for line := range strings.Lines(out) {
		_, s, ok := strings.Cut(strings.TrimSpace(line), "@")
		if !ok {
			continue
		}
		if t, err := strconv.ParseFloat(s, 64); err == nil {
			clocks = append(clocks, t)
		}
	}
	if len(clocks) < 2 || len(clocks)%2 != 0 {
		log.Fatalf("%d clocks in:\n%s", len(clocks), out)
	}
	var ds []time.Duration
	for i := 0; i < len(clocks); i += 2 {
		ds = append(ds, time.Duration((clocks[i+1]-clocks[i])*1e9))
	}
	return ds
}
