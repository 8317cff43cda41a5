package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestProcessesAreBounded uses up the processes in three ways, the last without an end. The limit is
// low, and the first way shows that it holds before the others are tried.
func TestProcessesAreBounded(t *testing.T) {
	o := options(t)
	o.Limits.Processes = 40
	s := open(t, o)
	r := s.sh(t, `i=0; while [ $i -lt 400 ]; do sleep 1 & i=$((i+1)); done 2>/dev/null; echo more`)
	if n := strings.TrimSpace(s.shAfter(t, "set -- /proc/[0-9]*; echo $#")); n == "" {
		t.Log("nothing could be started at once after", r.Exit)
	} else if count, err := strconv.Atoi(n); err != nil || count > 400 {
		t.Fatalf("%s processes: the limit does not hold, so nothing worse is tried", n)
	}
	for _, bomb := range []string{
		`f() { sleep 1 & f; }; f`,
		`b() { b | b & }; b; sleep 100`,
	} {
		s.shAfter(t, "true") // so that there is room for it
		c := s.command(bomb)
		c.Timeout = time.Second
		start := time.Now()
		r, err := s.Run(t.Context(), c)
		// No room is an answer, too: what the one before left behind goes on for a moment.
		if err != nil && !strings.Contains(err.Error(), "temporarily unavailable") {
			t.Fatalf("%s: %v", bomb, err)
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: ended after %s: %+v", bomb, took, r)
		}
	}
	if got := s.shAfter(t, "echo alive"); got != "alive\n" {
		t.Errorf("after the bombs: %q", got)
	}
}

// shAfter runs a command that may find no room for a process for a while.
func (s *Sandbox) shAfter(t *testing.T, text string) string {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		r, err := s.Run(t.Context(), s.command(text))
		if err == nil && r.Exit == 0 {
			return r.Output
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %+v, %v", text, r, err)
		}
	}
}

func TestDiskIsBounded(t *testing.T) {
	o := options(t)
	o.Limits.Disk, o.Limits.FileSize, o.Limits.Files = 40<<20, 16<<20, 3000
	s := open(t, o)
	if r := s.sh(t, "head -c 20000000 /dev/zero > huge"); r.Exit == 0 || !exists(o, "huge", 16<<20) {
		t.Errorf("a huge file: %+v", r)
	}
	s.sh(t, "rm huge")
	for name, text := range map[string]string{
		"dir":   "i=0; while :; do head -c 4000000 /dev/zero > f$i || exit 9; i=$((i+1)); done",
		"tmp":   "i=0; while :; do head -c 4000000 /dev/zero > /tmp/f$i || exit 9; i=$((i+1)); done",
		"home":  "i=0; while :; do head -c 4000000 /dev/zero > ~/f$i || exit 9; i=$((i+1)); done",
		"files": "i=0; while :; do : > e$i || exit 9; i=$((i+1)); done",
	} {
		r := s.sh(t, text)
		if r.Limit == "" || r.Signal != "killed" {
			t.Errorf("%s: %+v", name, r)
		}
		// The limit may have been found once more by now, so a command may be ended by it.
		for range 100 {
			if r := s.sh(t, "rm -rf f* e* /tmp/f* ~/f*"); r.Limit == "" && r.Exit == 0 {
				break
			}
		}
	}
	// What lies in memory has limits of its own.
	for _, dir := range []string{"/dev/shm", "/run"} {
		if r := s.sh(t, "head -c 15000000 /dev/zero > "+dir+"/a; cd "+dir+"; for i in 1 2 3 4 5 6 7 8; do cp a b$i || exit 1; done"); r.Exit == 0 {
			t.Errorf("%s took all: %+v", dir, r)
		}
	}
	if r := s.sh(t, "echo alive"); r.Output != "alive\n" {
		t.Errorf("%+v", r)
	}
}

func exists(o Options, name string, most int64) bool {
	info, err := os.Stat(filepath.Join(o.State, "upper", name))
	return err == nil && info.Size() <= most
}

// TestNothingOutlivesTheSandbox leaves a daemon behind that does all to be forgotten.
func TestNothingOutlivesTheSandbox(t *testing.T) {
	s := open(t, options(t))
	mark := fmt.Sprintf("98%d", os.Getpid())
	s.sh(t, "setsid env -i sh -c 'trap \"\" TERM HUP INT; sleep "+mark+" & disown; exec sleep "+mark+"' > /dev/null 2>&1 & until ps ax | grep '[s]leep "+mark+"'; do sleep 0.01; done")
	if out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output(); len(out) == 0 {
		t.Skip("the daemon is not seen from outside (no pgrep?)")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output(); len(out) > 0 {
		t.Errorf("left: %s", out)
	}
}

// TestTheSandboxEndsWithItsOwner closes the socket as the kernel does when the owner is killed.
func TestTheSandboxEndsWithItsOwner(t *testing.T) {
	s := open(t, options(t))
	e := s.engine.(*isolated)
	s.sh(t, "sleep 1000 > /dev/null 2>&1 &")
	e.socket.close()
	select {
	case <-e.initProcess.ended:
	case <-time.After(2 * time.Minute):
		t.Error("the init goes on")
	}
	if _, err := s.Run(t.Context(), s.command("true")); err == nil {
		t.Error("a command ran")
	}
}

// TestApplyTakesNoPrivileges leaves behind what would harm if it were applied as it is.
func TestApplyTakesNoPrivileges(t *testing.T) {
	o := options(t)
	outside := filepath.Join(filepath.Dir(o.Dir), "outside")
	write(t, filepath.Join(outside, "file"), "outside")
	write(t, filepath.Join(o.Dir, "sub/inner"), "inner")
	s := open(t, o)
	if r := s.sh(t, "cp $(command -v id) suid; chmod 4755 suid; rm -r sub; ln -s "+outside+" sub; mkfifo pipe; ln -s "+outside+"/file link; mkdir 'odd\nname' && echo x > 'odd\nname/f'"); r.Exit != 0 {
		t.Fatalf("%+v", r)
	}
	if _, err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(o.Dir, "suid"))
	if err != nil || info.Mode()&os.ModeSetuid != 0 || info.Mode().Perm() != 0o755 {
		t.Errorf("suid: %v, %v", info.Mode(), err)
	}
	if got := listing(t, outside); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"outside"`) {
		t.Errorf("outside: %s", got)
	}
	if _, err := os.Lstat(filepath.Join(o.Dir, "pipe")); err == nil {
		t.Error("the pipe was applied")
	}
}
