package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSoakReplayKilled kills the verb with SIGKILL at random moments, and goes on with --resume. Its
// steps fail if they are done twice. The seed is fixed; with RECOUNT_SOAK=1 there are 100 moments, as far as
// the test's time limit allows: on a loaded machine it says how many it reached.
func TestSoakReplayKilled(t *testing.T) {
	terminal, err := exec.LookPath("script") // answers what is asked on a terminal
	if err != nil {
		t.Skip("script (util-linux) is not there")
	}
	times := 3
	if os.Getenv("RECOUNT_SOAK") != "" {
		times = 100
	}
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	const steps = 6
	w := newWorld(t)
	recorded := filepath.Join(w.dir, "work", "recorded")
	call := func(dir, name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command(name, args...)
		c.Dir, c.Env = dir, w.env()
		out := &bytes.Buffer{}
		c.Stdout, c.Stderr = out, out
		return c, out
	}
	program := filepath.Join(w.dir, "bin", "recount")
	if err := os.Mkdir(recorded, 0o700); err != nil {
		t.Fatal(err)
	}
	nested := ""
	for i := range steps {
		nested = filepath.Join(nested, fmt.Sprintf("d%d", i))
		if c, out := call(recorded, program, "exec", "--", "mkdir", nested); c.Run() != nil {
			t.Fatal(out)
		}
	}
	c, out := call(recorded, program, "find", "--json", "--limit", "1")
	if err := c.Run(); err != nil {
		t.Fatal(err, out)
	}
	last := regexp.MustCompile(`"id": "([0-9a-f-]+)"`).FindSubmatch(out.Bytes())
	if last == nil {
		t.Fatalf("no command is recorded: %s", out)
	}
	replay := func(dir string) (*exec.Cmd, *bytes.Buffer) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return call(dir, program, "replay", string(last[1]), "--map", recorded+"="+dir, "--dir", dir, "--apply", "--yes")
	}
	begin := time.Now()
	c, out = replay(filepath.Join(w.dir, "work", "whole"))
	if err := c.Run(); err != nil {
		if strings.Contains(out.String(), "no sandbox on this machine") {
			t.Skip(out)
		}
		t.Fatal(err, out)
	}
	whole := time.Since(begin)
	// A moment takes a run, another one that goes on, and on a loaded machine much longer than the first did.
	until := begin.Add(30 * time.Minute)
	if limit, ok := t.Deadline(); ok {
		until = limit.Add(-max(20*time.Second, 10*whole))
	}
	random := rand.New(rand.NewPCG(20, 2))
	killed, asked, runs := 0, 0, 0
	for i := 0; runs < times || times > 10 && killed < times; i++ {
		if time.Now().After(until) {
			t.Logf("the time limit is near: %d of %d moments were reached", killed, times)
			break
		}
		if runs++; runs%10 == 0 {
			t.Logf("%d of %d runs were killed so far", killed, runs-1)
		}
		dir := filepath.Join(w.dir, "work", fmt.Sprintf("run%d", i))
		c, out := replay(dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		moment := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = c.Process.Kill() })
		_ = c.Wait() // it was killed, or was done before
		moment.Stop()
		run := regexp.MustCompile(`r-[0-9a-f]{8}`).FindString(out.String())
		switch {
		case strings.Contains(out.String(), "applied "):
		case run == "":
			killed++ // nothing was begun, or nothing said of it: a new run must be possible
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			if c, out = replay(dir); c.Run() != nil {
				t.Fatalf("kill %d: %s", i, out)
			}
		default:
			killed++
			c, again := call(dir, terminal, "-qec", program+" replay --resume "+run+" --apply", "/dev/null")
			c.Stdin = strings.NewReader("y\n")
			err := c.Run()
			if strings.Contains(again.String(), "run it? [y/N]") {
				asked++
			}
			if strings.Contains(again.String(), "not found") { // killed before the plan was in the log
				if err := os.Remove(dir); err != nil {
					t.Fatal(err)
				}
				c, again = replay(dir)
				err = c.Run()
			}
			if applied := strings.Contains(again.String(), "changes were applied"); err != nil && !applied {
				t.Errorf("kill %d: %v\n%s\nresumed:\n%s", i, err, out, again)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, nested)); err != nil {
			t.Errorf("kill %d: %v\n%s", i, err, out)
		}
	}
	if runs == 0 {
		t.Error("no moment was reached")
	}
	t.Logf("%d of %d runs were killed, %d asked about the step under way", killed, runs, asked)
}
