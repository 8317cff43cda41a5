package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// latency runs the hook's real process with the prompts and failures of the sessions, and prints how
// long the agent would have waited.
func latency(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("latency", flag.ExitOnError)
	program := f.String("program", "../bin/recount-record", "the program that the hook calls")
	data := f.String("data", "", "the data directory of the running server")
	cwd := f.String("cwd", "", "the directory that the hook is called in: the workspace")
	n := f.Int("n", 1000, "how many runs")
	_ = f.Parse(args)
	sessions, err := readSessions(f.Arg(0))
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "recall-latency-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var messages [][]byte
	for _, s := range sessions {
		for i, x := range s.steps {
			// Each has a session of its own, so that nothing is left out for having been told.
			m := map[string]any{"session_id": fmt.Sprintf("latency-%s-%d", s.name, i), "cwd": *cwd}
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
		return fmt.Errorf("%s: no prompt and no failure", f.Arg(0))
	}
	// The recorders that hooks leave behind become children of this process, which waits for each
	// before the next run: hooks come seconds apart, not on each other's heels.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	var took, nothing []time.Duration
	said := 0
	for i := range *n {
		// What a process costs on this machine at this moment, which no program can do without.
		start := time.Now()
		if err := exec.CommandContext(ctx, "/bin/true").Run(); err != nil {
			return err
		}
		nothing = append(nothing, time.Since(start))
		cmd := exec.CommandContext(ctx, *program, "hook", "run", "claude-code")
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "RECOUNT_DATA_DIR=" + *data, "RECOUNT_HOOK_LOG=" + filepath.Join(home, "log")}
		cmd.Stdin = bytes.NewReader(messages[i*7919%len(messages)])
		start = time.Now()
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
				break
			}
		}
		if len(out) > 0 {
			said++
		}
	}
	fmt.Printf("%d runs, %d with something to say: %s\n", len(took), said, spread(took))
	fmt.Printf("/bin/true in turn with them: %s\n", spread(nothing))
	if b, err := os.ReadFile(filepath.Join(home, "log")); err == nil {
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
