package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Eight concurrent shells, as people and scripts run them, while something is wrong with the server
// or the data directory: the benchmark counts which of their commands are recorded and how often, and
// whether exit code, directory and start are right.

const (
	shellCommands = 50
	shellPause    = 400 * time.Millisecond // of one shell: the eight together type 20 a second
)

var eight = []string{"bash", "bash", "bash", "bash", "zsh", "zsh", "fish", "fish"}

// typed is a command that was typed into a shell.
type typed struct {
	text, cwd string
	exit      int
	at        time.Time
}

// wrong counts what was recorded differently from what was typed.
type wrong struct{ lost, twice, exit, cwd, start int }

func (b *bench) shells(hold time.Duration) {
	fmt.Println("| 8 shells × 50 commands, 20/s | recorded | in the log | wrong exit | wrong directory | wrong start |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, c := range []struct {
		name string
		run  func(one bench) (undo func())
	}{
		{"no server", func(bench) func() { return func() {} }},
		{"a server", func(one bench) func() { s := one.start(); return s.stop }},
		{"a server stopped by SIGSTOP", func(one bench) func() {
			s := one.start()
			s.signal(syscall.SIGSTOP)
			return func() { s.signal(syscall.SIGCONT); s.stop() }
		}},
		{"a server killed half-way", func(one bench) func() {
			s := one.start()
			kill := time.AfterFunc(shellCommands/2*shellPause, func() { s.signal(syscall.SIGKILL) })
			return func() { kill.Stop(); s.signal(syscall.SIGKILL); _ = s.cmd.Wait() } // it was killed
		}},
		{fmt.Sprintf("a verb that holds the directory for %s", hold), func(one bench) func() { return one.holder(hold) }},
	} {
		one := *b
		one.dir = filepath.Join(b.dir, strings.ReplaceAll(c.name, " ", "-"))
		if err := os.MkdirAll(one.dir, 0o700); err != nil {
			log.Fatal(err)
		}
		undo := c.run(one)
		all := one.typeAll()
		undo()
		recorded, inLog, w := one.compare(all)
		fmt.Printf("| %s | %d of %d, %d twice | %d | %d | %d | %d |\n", c.name, recorded, len(all), w.twice, inLog, w.exit, w.cwd, w.start)
		if w != (wrong{}) || inLog != len(all) {
			hooks, _ := os.ReadFile(filepath.Join(one.dir, "recount-hook.log"))
			log.Printf("hook: %s: %+v; hook log:\n%s", c.name, w, hooks)
		}
	}
}

// holder starts an import that reads from a pipe for at least the given time, and holds the data
// directory as long as it reads.
func (b *bench) holder(hold time.Duration) (undo func()) {
	cmd := exec.Command(b.bin, "import", "jsonl", "/dev/stdin")
	cmd.Env = b.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	until := time.Now().Add(hold)
	for { // until it has the directory
		if _, err := os.Stat(filepath.Join(b.data, "log")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() {
		time.Sleep(time.Until(until))
		if err := in.Close(); err != nil {
			log.Fatal(err)
		}
		_ = cmd.Wait() // it imported nothing, and may report that
	}
}

// typeAll types into all shells, and returns what it typed when every shell has exited.
func (b *bench) typeAll() (all []typed) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n, shell := range eight {
		wg.Go(func() {
			mine := b.typeInto(shell, n)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
		time.Sleep(shellPause / time.Duration(len(eight)))
	}
	wg.Wait()
	time.Sleep(time.Second) // for the recorders of the last commands
	return all
}

func (b *bench) typeInto(shell string, n int) (mine []typed) {
	dir := filepath.Join(b.dir, fmt.Sprintf("work-%d", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		log.Fatal(err)
	}
	args := map[string][]string{"bash": {"--norc", "--noprofile", "-i"}, "zsh": {"-f", "-i"}}[shell]
	if shell == "fish" {
		// fish reads commands only from a terminal: its handlers are called as fish calls them.
		out, err := exec.Command(b.bin, "hook", "fish").Output()
		if err != nil {
			log.Fatalf("recount hook fish: %v", err)
		}
		script := strings.Replace(string(out), "if status is-interactive; and not", "if not", 1)
		args = []string{"-c", script + "\nset CMD_DURATION 1\nfunction leave; return $argv[1]; end\nwhile read -l code text\nemit fish_preexec $text\nleave $code\nemit fish_postexec $text\nend\n"}
	}
	cmd := exec.Command(shell, args...)
	cmd.Env, cmd.Dir = b.env(), dir
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	say := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			log.Fatalf("%s: %v", shell, err)
		}
	}
	if shell != "fish" {
		say("eval \"$('" + b.bin + "' hook " + shell + ")\"")
	}
	time.Sleep(2 * time.Second) // for the shell's start
	tick := time.NewTicker(shellPause)
	defer tick.Stop()
	for i := range shellCommands {
		<-tick.C
		t := typed{text: fmt.Sprintf("true shell%d-%d; (exit %d)", n, i, i%7), cwd: dir, exit: i % 7, at: time.Now()}
		if shell == "fish" {
			say(fmt.Sprintf("%d %s", t.exit, t.text))
		} else {
			say(t.text)
		}
		mine = append(mine, t)
	}
	if shell != "fish" {
		say("exit 0")
	}
	if err := in.Close(); err != nil {
		log.Fatal(err)
	}
	_ = cmd.Wait() // it exits with the code of the last command
	return mine
}

// compare compares everything that is recorded with what was typed.
func (b *bench) compare(all []typed) (recorded, inLog int, w wrong) {
	var found struct {
		Hits []struct {
			Command  string    `json:"command"`
			Cwd      string    `json:"cwd"`
			ExitCode *int      `json:"exit_code"`
			Time     time.Time `json:"time"`
		} `json:"hits"`
	}
	b.ask(&found, "find", "--json", "--repeats", "-n", "1000")
	var status struct {
		Log struct {
			Ends string `json:"ends"`
		} `json:"log"`
	}
	b.ask(&status, "status", "--json")
	for part := range strings.SplitSeq(status.Log.Ends, ",") {
		var n int
		if at, end, ok := strings.Cut(part, ":"); ok && strings.Contains(at, "commands") {
			fmt.Sscan(end, &n)
		}
		inLog += n
	}
	for _, t := range all {
		times := 0
		for _, h := range found.Hits {
			if h.Command != t.text {
				continue
			}
			if times++; times > 1 {
				continue
			}
			if h.ExitCode == nil || *h.ExitCode != t.exit {
				w.exit++
			}
			if h.Cwd != t.cwd {
				w.cwd++
			}
			// A shell may read a line some time after it was written.
			if d := h.Time.Sub(t.at); d < -50*time.Millisecond || d > 2*time.Second {
				w.start++
			}
		}
		switch {
		case times == 0:
			w.lost++
		case times > 1:
			w.twice++
			recorded++
		default:
			recorded++
		}
	}
	return recorded, inLog, w
}

func (b *bench) ask(into any, args ...string) {
	cmd := exec.Command(b.bin, args...)
	cmd.Env = b.env()
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("recount %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		log.Fatalf("recount %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// measureRecord prints what recording one command costs its process.
func (b *bench) measureRecord() {
	var cpu []time.Duration
	args := []string{filepath.Join(filepath.Dir(b.bin), "recount-record"), "--shell", "bash", "--exit", "0", "--duration", "12ms"}
	for range b.rounds {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.Stdin = b.env(), strings.NewReader("go test ./pipeline/... -run TestProduce --password hunter2 2>&1 | tail -40")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			log.Fatalf("recount-record: %v\n%s", err, out)
		}
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	// The kernel counts the memory of the forking process in the peak of its child, so a small
	// process starts the recorder.
	peak := "not known without /usr/bin/time"
	if _, err := os.Stat("/usr/bin/time"); err == nil {
		cmd := exec.Command("/usr/bin/time", append([]string{"-f", "%M"}, args...)...)
		cmd.Env, cmd.Stdin = b.env(), strings.NewReader("make test --password hunter2")
		out, err := cmd.CombinedOutput()
		if err != nil {
			log.Fatalf("recount-record: %v\n%s", err, out)
		}
		peak = strings.TrimSpace(string(out)) + " KB"
	}
	fmt.Printf("\n| one recorded command (recount-record, %d runs) | CPU p50 | CPU p99 | peak memory |\n|---|---|---|---|\n| | %s | %s | %s |\n",
		b.rounds, ms(percentile(cpu, 50)), ms(percentile(cpu, 99)), peak)
}

// measureListener prints what a command costs the recorder that listens to a shell, and how much
// memory that recorder has.
func (b *bench) measureListener() {
	if runtime.GOOS != "linux" {
		return
	}
	for _, shell := range []string{"bash", "zsh"} {
		const commands = 200 // their text fits in a pipe
		var in strings.Builder
		fmt.Fprintf(&in, "eval \"$('%s' hook %s)\"\n", b.bin, shell)
		for i := range commands {
			fmt.Fprintf(&in, ": go test ./pipeline/... -run TestProduce%d --password hunter2\n", i)
		}
		in.WriteString("sleep 2\nawk '{ cpu += $1 } END { print \"@\" cpu }' /proc/$__recount_pid/task/*/schedstat; awk '/^VmHWM|^VmRSS/ { print \"@\" $2 }' /proc/$__recount_pid/status\nexit 0\n")
		args := map[string][]string{"bash": {"--norc", "--noprofile", "-i"}, "zsh": {"-f", "-i"}}[shell]
		cmd := exec.Command(shell, args...)
		cmd.Env, cmd.Stdin = b.env(), strings.NewReader(in.String())
		out, err := cmd.Output()
		if err != nil {
			log.Printf("| %s | %v |", shell, err) // it may not be installed
			continue
		}
		var n []float64 // nanoseconds of CPU, KB at the peak, KB now
		for line := range strings.Lines(string(out)) {
			var x float64
			if _, s, ok := strings.Cut(line, "@"); ok {
				if _, err := fmt.Sscan(s, &x); err == nil {
					n = append(n, x)
				}
			}
		}
		if len(n) != 3 {
			log.Fatalf("hook: %s has no recorder that listens:\n%s", shell, out)
		}
		fmt.Printf("\n| a recorder that listens to %s, %d commands | CPU a command | peak memory | memory afterwards |\n|---|---|---|---|\n| | %s | %.0f KB | %.0f KB |\n",
			shell, commands, ms(time.Duration(n[0]/commands)), n[1], n[2])
	}
}
