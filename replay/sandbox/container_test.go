package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeDocker is a program that does what is asked of docker on the machine itself, over the directory that
// would be mounted, and writes down its arguments. It shows what is asked for, and not that a container
// keeps it.
const fakeDocker = `#!/bin/sh
echo "$*" >> "$FAKE/arguments"
verb=$1; shift
case $verb in
image) [ "$4" != broken ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }
	[ "$4" = here ] || { echo "No such image: $4" >&2; exit 1; } ;;
run)
	while [ $# -gt 0 ]; do [ "$1" = --volume ] && echo "$2" > "$FAKE/volume"; shift; done
	echo ready; exec cat >/dev/null ;;
kill) ;;
exec)
	volume=$(cat "$FAKE/volume"); copy=${volume%%:*} dir=${volume#*:}
	while [ $# -gt 0 ]; do
		case $1 in
		--workdir) cd "$copy${2#"$dir"}" || { echo "chdir to cwd: no such file or directory"; exit 127; }; shift 2 ;;
		--env) case $2 in *=*) export "$2" ;; esac; shift 2 ;;
		*) break ;;
		esac
	done
	shift; exec "$@" ;;
esac
`

// inContainer opens a sandbox in a container of a program, for a directory with a file.
func inContainer(t *testing.T, isolation string) (*Sandbox, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: dir, State: filepath.Join(t.TempDir(), "r-1"), Isolation: Isolation(isolation)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// contract checks what a container has in common with the sandbox.
func contract(t *testing.T, s *Sandbox, dir string) {
	t.Helper()
	sh := func(script string, change func(*Command)) (Result, error) {
		c := Command{Args: []string{"sh", "-c", script}, Dir: s.Dir(), Env: []string{"WORD=secret"}, Grace: time.Second}
		if change != nil {
			change(&c)
		}
		return s.Run(t.Context(), c)
	}
	if r, err := sh(`cat a; echo "$WORD"; echo new > a; mkdir d; echo b > d/b; exit 3`, nil); err != nil || r.Exit != 3 || r.Output != "old\nsecret\n" {
		t.Errorf("run: %+v, %v", r, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "old\n" {
		t.Errorf("the real file was changed: %q", b)
	}
	start := time.Now()
	r, err := sh(`(trap '' TERM; sleep 600) & sleep 600`, func(c *Command) { c.Timeout = 200 * time.Millisecond })
	if err != nil || !r.TimedOut || time.Since(start) > 30*time.Second {
		t.Errorf("timeout: %+v, %v after %s", r, err, time.Since(start))
	}
	ctx, stop := context.WithCancel(t.Context())
	if _, err := s.Run(ctx, Command{Args: []string{"sh", "-c", "echo begun; sleep 600"}, Dir: s.Dir(), Grace: time.Second, Output: func([]byte) { stop() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stop()
	if _, err := sh("true", func(c *Command) { c.Dir = filepath.Join(s.Dir(), "missing") }); !errors.Is(err, ErrNoDir) {
		t.Errorf("a directory that is not there: %v", err)
	}
	changes, err := s.Changes()
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Kind+" "+c.Path)
	}
	if got := strings.Join(paths, ", "); err != nil || got != "changed a, added d, added d/b" {
		t.Errorf("changes: %s, %v", got, err)
	}
	if _, err := s.Apply(); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "new\n" {
		t.Errorf("after apply: %q", b)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestContainerAsksFor checks what docker is asked for, with a docker that is none.
func TestContainerAsksFor(t *testing.T) {
	fake := t.TempDir()
	if err := os.WriteFile(filepath.Join(fake, "docker"), []byte(fakeDocker), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE", fake)
	t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
	s, dir := inContainer(t, "docker:here")
	// Ctrl-c on a terminal reaches all of its foreground group.
	if r, err := s.Run(t.Context(), Command{Args: []string{"sh", "-c", "ps -o pgid= -p $$ | tr -d ' '"}, Dir: s.Dir()}); err != nil || r.Exit != 0 || r.Output == strconv.Itoa(syscall.Getpgrp())+"\n" {
		t.Errorf("the client's group: %+v, %v", r, err)
	}
	contract(t, s, dir)
	b, err := os.ReadFile(filepath.Join(fake, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	said := string(b)
	for _, want := range []string{
		"run --interactive --rm", "--network none", "--cap-drop ALL", "--security-opt no-new-privileges", "--read-only", "--pids-limit 1024",
		"--ulimit nofile=4096:4096", "--pull never", "--volume " + filepath.Join(s.opt.State, "copy") + ":" + s.Dir(), "exec --workdir " + s.Dir(), "--env WORD ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("docker was not asked for %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "secret") {
		t.Error("the value of a variable is in the arguments, which every user of the machine can read")
	}
	if _, err := Open(t.Context(), Options{Dir: dir, State: t.TempDir(), Isolation: "docker:missing"}); err == nil || !strings.Contains(err.Error(), "docker pull missing") {
		t.Errorf("an image that is not there: %v", err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir, State: t.TempDir(), Isolation: "docker:broken"}); err == nil || strings.Contains(err.Error(), "no image") || !strings.Contains(err.Error(), "docker does not work here: Cannot connect") {
		t.Errorf("docker without its daemon: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	var refused *RefusedError
	if _, err := Open(t.Context(), Options{Dir: dir, State: t.TempDir(), Isolation: "docker:here"}); !errors.As(err, &refused) {
		t.Errorf("without docker: %v", err)
	}
	for _, wrong := range []Isolation{"docker:", "docker:--privileged", "lxc", "podman:-v"} {
		if wrong.Known() {
			t.Errorf("isolation %s is known", wrong)
		}
	}
}

// TestContainer runs in real containers where RECOUNT_TEST_IMAGE names an image of podman or docker that has
// sh and the small programs; what a container must keep is checked too.
func TestContainer(t *testing.T) {
	image := os.Getenv("RECOUNT_TEST_IMAGE")
	if image == "" {
		t.Skip("RECOUNT_TEST_IMAGE names no image")
	}
	for _, program := range []string{"podman", "docker"} {
		t.Run(program, func(t *testing.T) {
			if out, err := exec.Command(program, "image", "inspect", image).CombinedOutput(); err != nil {
				t.Skipf("%v: %s", err, out)
			}
			s, dir := inContainer(t, program+":"+image)
			outside := filepath.Join(t.TempDir(), "outside")
			for _, script := range []string{
				"echo x > " + outside, "echo x > /etc/x", "wget -T 2 -q http://1.1.1.1", "echo x > /proc/sys/kernel/hostname",
				"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", "kill -0 " + strconv.Itoa(os.Getpid()), "ls /sys/class/net | grep -v '^lo$' | grep -v tunl | grep .",
			} {
				if r, err := s.Run(t.Context(), Command{Args: []string{"sh", "-c", script}, Dir: s.Dir(), Timeout: 20 * time.Second}); err != nil || r.Exit == 0 {
					t.Errorf("%s: %+v, %v", script, r, err)
				}
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("a file outside was written")
			}
			contract(t, s, dir)
			if out, _ := exec.Command(program, "ps", "-a", "--format", "{{.Names}}").Output(); strings.Contains(string(out), "recount-r-1") {
				t.Errorf("the container is still there: %s", out)
			}
		})
	}
}
