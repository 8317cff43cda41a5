// Command starting measures what a program costs that a shell starts for one question: CPU (user and
// system) and peak memory of `recount version` and of what people ask most, without a server (of `find` also right after a
// command was recorded) and with one, of recount-engine alone, and of `atuin search` over the same history
// if atuin is on the PATH.
//
//	make && go -C bench run ./starting -bin $PWD/bin
//
// The history is made from a seed. Runs of different programs alternate, so that load on the machine
// meets them alike.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "", "the folder with the programs of make, absolute")
	commands := flag.Int("commands", 10_000, "the number of commands in the history")
	runs := flag.Int("runs", 21, "runs of each program")
	flag.Parse()
	if err := run(*bin, *commands, *runs); err != nil {
		fmt.Fprintf(os.Stderr, "starting: %s\n", err)
		os.Exit(1)
	}
}

func run(bin string, commands, runs int) (err error) {
	if bin == "" {
		return errors.New("name the folder of the programs: -bin $PWD/bin")
	}
	dir, err := os.MkdirTemp("", "starting-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	history := filepath.Join(dir, "bash_history")
	if err := os.WriteFile(history, makeHistory(commands), 0o600); err != nil {
		return err
	}
	env := append(os.Environ(), "HOME="+dir, "HISTFILE="+history, "RECOUNT_DATA_DIR="+filepath.Join(dir, "data"), "SHELL=/bin/bash", "ATUIN_SESSION=0", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "RECOUNT_SERVER=")
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Dir = env, dir
		return cmd
	}
	recount, engine := filepath.Join(bin, "recount"), filepath.Join(bin, "recount-engine")
	for _, args := range [][]string{{"import", "history", history}, {"find", "docker"}} {
		if out, err := program(recount, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("recount %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	// record puts a command into the spool, as the hook does before each prompt.
	record := func() error {
		cmd := program(filepath.Join(bin, "recount-record"), "-exit", "0")
		cmd.Stdin = strings.NewReader("make check")
		return cmd.Run()
	}
	id, err := newest(program(recount, "find", "--json", "--limit", "1"))
	if err != nil {
		return err
	}
	// verbs returns samples of the verbs that people type besides find.
	verbs := func(where string) (all []*sample) {
		for _, args := range [][]string{{"why", id}, {"show", id}, {"stitch", id}, {"insights"}, {"stats"}, {"status"}} {
			all = append(all, &sample{name: "recount " + args[0] + where, args: append([]string{recount}, args...)})
		}
		return all
	}
	alone := []*sample{
		{name: "recount version", args: []string{recount, "version"}},
		{name: "recount-engine version", args: []string{engine, "version"}},
		{name: "recount find, no server", args: []string{recount, "find", "docker", "image"}},
		{name: "  after a command", args: []string{recount, "find", "docker", "image"}, before: record},
		{name: "  by recount-engine", args: []string{engine, "find", "docker", "image"}},
	}
	alone = append(alone, verbs(", no server")...)
	if atuin, missing := exec.LookPath("atuin"); missing == nil {
		if out, err := program(atuin, "import", "bash").CombinedOutput(); err != nil {
			return fmt.Errorf("atuin import: %w\n%s", err, out)
		}
		alone = append(alone, &sample{name: "atuin search", args: []string{atuin, "search", "--limit", "10", "docker image"}})
	} else {
		fmt.Println("atuin is not on the PATH")
	}
	if err := measure(alone, runs, program); err != nil {
		return err
	}
	up := program(recount, "up", "--http", "127.0.0.1:0", "--kafka", "none", "--otlp-grpc", "none", "--otlp-http", "none")
	var log bytes.Buffer
	up.Stderr = &log
	if err := up.Start(); err != nil {
		return err
	}
	defer func() {
		_ = up.Process.Signal(syscall.SIGTERM)
		err = errors.Join(err, up.Wait())
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "data", "endpoints.json")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("recount up is not ready after a minute:\n%s", &log)
		}
	}
	served := append([]*sample{{name: "recount find, with a server", args: []string{recount, "find", "docker", "image"}}}, verbs(", with a server")...)
	return measure(served, runs, program)
}

// makeHistory returns a history of bash with the time of each command.
func makeHistory(n int) []byte {
	forms := []string{
		"git checkout %s", "docker run --rm %s", "docker image prune --filter label=%s", "kubectl get pods -n %s", "make %s", "go test ./%s/...",
		"grep -rn %s src", "rm -rf build/%s", "curl -s http://%s.local/health", "npm run %s", "cargo build --release -p %s", "tar czf %[1]s.tgz %[1]s", "ssh %s uptime",
	}
	r := rand.New(rand.NewPCG(21, 1))
	var b bytes.Buffer
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	for range n {
		at = at.Add(time.Duration(5+r.IntN(400)) * time.Second)
		fmt.Fprintf(&b, "#%d\n", at.Unix())
		fmt.Fprintf(&b, forms[r.IntN(len(forms))]+"\n", fmt.Sprintf("service%d", r.IntN(2000)))
	}
	return b.Bytes()
}

// newest returns the id of the newest command, by a program that finds it.
func newest(find *exec.Cmd) (string, error) {
	out, err := find.Output()
	if err != nil {
		return "", err
	}
	var answer struct {
		Hits []struct{ ID string }
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Hits) == 0 {
		return "", fmt.Errorf("no command is found: %w", err)
	}
	return answer.Hits[0].ID, nil
}

// sample is what the runs of one program took.
type sample struct {
	name        string
	args        []string
	before      func() error // what precedes each run; nil for nothing
	cpu, memory []float64    // milliseconds, MiB
}

// measure runs the programs in turn, after one run of each that does not count, and prints medians
// and maxima.
func measure(all []*sample, runs int, program func(string, ...string) *exec.Cmd) error {
	for i := range runs + 1 {
		for _, s := range all {
			if s.before != nil {
				if err := s.before(); err != nil {
					return fmt.Errorf("before %s: %w", s.name, err)
				}
			}
			cmd := program(s.args[0], s.args[1:]...)
			out, err := cmd.Output()
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 {
				err = nil // a negative answer, such as that nothing led to a command
			}
			if err != nil || len(out) == 0 {
				return fmt.Errorf("%s: %w, %d bytes of output", strings.Join(s.args, " "), err, len(out))
			}
			if i == 0 {
				continue
			}
			used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			s.cpu = append(s.cpu, float64((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Microseconds())/1000)
			s.memory = append(s.memory, float64(used.Maxrss)/1024)
		}
	}
	for _, s := range all {
		slices.Sort(s.cpu)
		slices.Sort(s.memory)
		fmt.Printf("%-32s CPU %6.1f ms median, %6.1f to %6.1f; memory %5.1f MiB median, %5.1f at most\n",
			s.name, s.cpu[runs/2], s.cpu[0], s.cpu[runs-1], s.memory[runs/2], s.memory[runs-1])
	}
	return nil
}
