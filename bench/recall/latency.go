package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/bench/served"
)

// latency starts a server, imports the sessions of directories, and runs the hook's real process with
// their prompts and failures. It prints how long the agent would have waited.
func latency(ctx context.Context, args []string) (err error) {
	f := flag.NewFlagSet("latency", flag.ExitOnError)
	bin := f.String("bin", "../bin", "the folder with the programs of make")
	n := f.Int("n", 1000, "how many runs")
	_ = f.Parse(args)
	var sessions []session
	for i, dir := range f.Args() {
		more, err := readSessions(dir)
		if err != nil {
			return err
		}
		sessions = append(sessions, more...)
		if f.Args()[i], err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if len(sessions) == 0 {
		return errors.New("want directories with sessions of agents, as `recount import agents` reads them")
	}
	server, err := served.Start(ctx, *bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	cwd := filepath.Join(server.Dir, "workspace")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		return err
	}
	if err := server.Run(ctx, append([]string{"import", "agents", "--wait", "--workspace", cwd}, f.Args()...)...); err != nil {
		return err
	}
	var messages [][]byte
	for _, s := range sessions {
		for i, x := range s.steps {
			// Each has a session of its own, so that nothing is left out for having been told.
			m := map[string]any{"session_id": fmt.Sprintf("latency-%s-%d", s.name, i), "cwd": cwd}
			switch {
			case x.prompt != "":
				m["hook_event_name"], m["prompt"] = "UserPromptSubmit", x.prompt
			case x.failed && x.command != "" && x.output != "":
				m["hook_event_name"], m["tool_name"], m["tool_use_id"] = "PostToolUseFailure", "Bash", fmt.Sprint("t", len(messages))
				m["tool_input"], m["error"] = map[string]string{"command": x.command}, x.output
			case i == 0:
				m["hook_event_name"], m["source"] = "SessionStart", "startup"
			default:
				continue
			}
			b, err := json.Marshal(m)
			if err != nil {
				return err
			}
			messages = append(messages, b)
		}
	}
	if len(messages) == 0 {
		return fmt.Errorf("%d sessions have no prompt and no failure", len(sessions))
	}
	// The recorders that hooks leave behind become children of this process, which waits for each
	// before the next run: hooks come seconds apart, not on each other's heels.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	log := filepath.Join(server.Dir, "hook.log")
	before := served.Load()
	var took, nothing []time.Duration
	said := 0
	for i := range *n {
		// What a process costs on this machine at this moment, which no program can do without.
		start := time.Now()
		if err := exec.CommandContext(ctx, "/bin/true").Run(); err != nil {
			return err
		}
		nothing = append(nothing, time.Since(start))
		cmd := server.Program(ctx, "recount-record", "hook", "run", "claude-code")
		cmd.Env = append(cmd.Env, "RECOUNT_HOOK_LOG="+log)
		cmd.Stdin = bytes.NewReader(messages[i*7919%len(messages)])
		start = time.Now()
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		if err := awaitRecorders(server.PID()); err != nil {
			return err
		}
		if len(out) > 0 {
			said++
		}
	}
	fmt.Printf("load %s before, %s after\n", before, served.Load())
	fmt.Printf("%d runs, %d with something to say: %s\n", len(took), said, spread(took))
	fmt.Printf("/bin/true in turn with them: %s\n", spread(nothing))
	if b, err := os.ReadFile(log); err == nil {
		fmt.Printf("hook log: %d lines, the first: %s\n", bytes.Count(b, []byte("\n")), oneLine(string(b), 200))
	}
	return nil
}

// spread returns the quantiles of durations.
func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration {
		return all[min(len(all)-1, int(q*float64(len(all))))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s", at(0.5), at(0.9), at(0.99), at(1))
}

// awaitRecorders waits for all children of this process but the server.
func awaitRecorders(server int) error {
	for {
		lists, err := filepath.Glob("/proc/self/task/*/children")
		if err != nil {
			return err
		}
		waited := false
		for _, list := range lists {
			b, err := os.ReadFile(list)
			if err != nil {
				continue // the thread has ended
			}
			for _, word := range strings.Fields(string(b)) {
				if pid, err := strconv.Atoi(word); err == nil && pid != server {
					waited = true
					if _, err := unix.Wait4(pid, nil, 0, nil); err != nil && err != unix.EINTR && err != unix.ECHILD {
						return err
					}
				}
			}
		}
		if !waited {
			return nil
		}
	}
}
