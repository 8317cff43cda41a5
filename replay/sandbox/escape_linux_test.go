package sandbox

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// prison is a sandbox with what an escape would reach: files, sockets, a process, shared memory.
type prison struct {
	t         *testing.T
	o         Options
	canary    string // a directory outside
	tcp, unix string // addresses of listeners
	abstract  string
	process   *exec.Cmd
	connected atomic.Int32
	shmKey    int
	shmFile   string
	hostTmp   string // the name of a file in the host's /tmp
	hostVar   string // the same of /var/tmp
	other     string // another home, of which tools are shown
}

// prisons counts, for names.
var prisons atomic.Int32

func newPrison(t *testing.T) *prison {
	// Beside the tests and not below /tmp, of which a sandbox sees nothing, so that nothing could be
	// shown there. A checkout may lie there all the same: then what is outside does not exist inside.
	return newPrisonIn(t, ".")
}

// newPrisonIn makes one below a directory.
func newPrisonIn(t *testing.T, parent string) *prison {
	base, err := os.MkdirTemp(parent, "prison-")
	if err == nil {
		base, err = filepath.Abs(base)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = removeAll(base) })
	p := &prison{t: t, o: Options{Dir: filepath.Join(base, "dir"), State: filepath.Join(base, "state"), Home: filepath.Join(base, "home"), Helper: helper(t)}}
	if err := os.MkdirAll(p.o.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.canary = filepath.Join(filepath.Dir(p.o.Dir), "canary")
	for _, f := range []string{"file", "dir/inner"} {
		write(t, filepath.Join(p.canary, f), "canary")
	}
	write(t, filepath.Join(p.o.Home, ".ssh/id_ed25519"), "secret key")
	write(t, filepath.Join(p.o.Home, ".netrc"), "secret password")
	hidden := filepath.Join(filepath.Dir(p.o.Dir), "hidden")
	write(t, filepath.Join(hidden, "token"), "secret token")
	p.o.Hide = []string{hidden}
	p.other = filepath.Join(base, "other")
	write(t, filepath.Join(p.other, "tools/shims/tool"), "echo fine")
	if err := os.Symlink(filepath.Join(p.canary, "file"), filepath.Join(p.other, "tools/out")); err != nil {
		t.Fatal(err)
	}
	p.o.elsewhere = []string{filepath.Join(p.other, "tools")}
	// An open file that is passed on by mistake.
	fd, err := unix.Open(filepath.Join(p.canary, "file"), unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	copyProgram(t, filepath.Join(p.o.Dir, "attack"))
	p.listen()
	p.process = exec.Command("sleep", "987")
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.process.Process.Kill(); _ = p.process.Wait() })
	p.shmKey = 0x7265636f + os.Getpid()
	if id, err := unix.SysvShmGet(p.shmKey, 4096, unix.IPC_CREAT|0o600); err == nil {
		t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	}
	for dir, name := range map[string]*string{"/tmp": &p.hostTmp, "/var/tmp": &p.hostVar} {
		tmp, err := os.CreateTemp(dir, "recount-canary-")
		if err != nil {
			t.Fatal(err)
		}
		_ = tmp.Close()
		t.Cleanup(func() { _ = os.Remove(tmp.Name()) })
		*name = filepath.Base(tmp.Name())
	}
	p.shmFile = fmt.Sprintf("/dev/shm/recount-canary-%d", os.Getpid())
	if err := os.WriteFile(p.shmFile, []byte("x"), 0o600); err == nil {
		t.Cleanup(func() { _ = os.Remove(p.shmFile) })
	}
	return p
}

func copyProgram(t *testing.T, to string) {
	in, err := os.Open(helper(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// listen waits for connections on the host, and counts them.
func (p *prison) listen() {
	p.abstract = fmt.Sprintf("@recount-canary-%d-%d", os.Getpid(), prisons.Add(1))
	p.unix = filepath.Join(p.o.Dir, "docker.sock") // even in the directory that commands may change
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": p.unix, "unix ": filepath.Join(p.canary, "sock"), "unix  ": p.abstract} {
		l, err := net.Listen(strings.TrimSpace(network), address)
		if err != nil {
			p.t.Fatal(err)
		}
		if network == "tcp" {
			p.tcp = l.Addr().String()
		}
		p.t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				p.connected.Add(1)
				_ = c.Close()
			}
		}()
	}
}

// machine describes what must not change: the canary, and what belongs to the machine.
func (p *prison) machine() string {
	var out strings.Builder
	for _, root := range []string{p.canary, p.o.Home, p.o.Hide[0], p.other, "/etc", "/dev/null", "/dev/zero", "/proc/meminfo", "/proc/sys/kernel/core_pattern"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			changed := changeTime(info)
			if strings.HasPrefix(path, "/proc/") {
				changed = 0 // the time of looking
			}
			fmt.Fprintln(&out, path, info.Mode(), info.Size(), changed)
			return nil
		})
	}
	for _, f := range []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/pid_max", "/proc/sys/user/max_user_namespaces", "/proc/self/mounts", filepath.Join(p.canary, "file")} {
		b, _ := os.ReadFile(f)
		fmt.Fprintf(&out, "%s: %s\n", f, b)
	}
	return out.String()
}

// shellAttacks succeed if the shell exits with 0. TestAttacksWorkWithoutSandbox shows that they do
// on the bare machine, so that a refusal says something.
func (p *prison) shellAttacks() map[string]string {
	return map[string]string{
		"write-absolute":     `echo escaped > CANARY/file`,
		"write-dotdot":       `echo escaped > ../canary/file`,
		"write-symlink":      `ln -s CANARY/file link1 && echo escaped > link1`,
		"write-symlink-dir":  `ln -s CANARY link2 && echo escaped > link2/new`,
		"write-hardlink":     `ln CANARY/file link3 && echo escaped > link3`,
		"rename-out":         `echo x > moved && mv moved CANARY/moved && test -e CANARY/moved`,
		"remove":             `test -e CANARY/file && rm -f CANARY/file && ! test -e CANARY/file`,
		"remove-tree":        `test -e CANARY/dir && rm -rf CANARY/dir && ! test -e CANARY/dir`,
		"make-directory":     `mkdir CANARY/made`,
		"truncate":           `truncate -s 0 CANARY/file`,
		"proc-self-root":     `echo escaped > /proc/self/root/CANARY/file`,
		"proc-self-cwd":      `echo escaped > /proc/self/cwd/../canary/file`,
		"read-ssh-key":       `cat ~/.ssh/id_ed25519`,
		"read-netrc":         `cat ~/.netrc`,
		"read-hidden":        `cat HIDDEN/token`,
		"read-hidden-dotdot": `cd HIDDEN && cat ../hidden/token`,
		"hosts-tmp":          `ls -A /tmp | grep -x HOSTFILE`,
		"hosts-var-tmp":      `ls -A /var/tmp | grep -x HOSTVAR`,
		"tools-beside":       `echo escaped > OTHER/new`,
		"tools-symlink":      `echo escaped > OTHER/tools/out`,
		"tools-hardlink":     `ln -L OTHER/tools/out OTHER/tools/hard && echo escaped > OTHER/tools/hard`,
		"tools-rename-out":   `mv OTHER/tools/shims OTHER/moved`,
	}
}

func (p *prison) fill(text string) string {
	return strings.NewReplacer("/CANARY", p.canary, "CANARY", p.canary, "HIDDEN", p.o.Hide[0], "HOSTFILE", p.hostTmp, "HOSTVAR", p.hostVar, "OTHER", p.other).Replace(text)
}

// onlyInside are shell attacks that would harm the machine if they ran without a sandbox.
var onlyInside = map[string]string{
	"proc-1-root":        `echo escaped > /proc/1/root/CANARY/file`,
	"proc-any-root":      `for p in /proc/[0-9]*; do echo escaped > $p/root/CANARY/file && exit 0; done 2>/dev/null; exit 1`,
	"etc":                `echo escaped > /etc/recount-escaped`,
	"usr":                `echo escaped > /usr/bin/recount-escaped`,
	"root-directory":     `echo escaped > /recount-escaped`,
	"hosts-tmp-all":      `ls -A /tmp | grep -vxF "$(way /tmp)" | grep . || ls -A /var/tmp | grep -vxF "$(way /var/tmp)" | grep .`,
	"hosts-run":          `ls /run | grep -v lock | grep .`,
	"other-homes":        `cat /root/.bashrc || ls /home/* | grep .`,
	"init-environment":   `grep -a RECOUNT_CANARY_SECRET /proc/1/environ || env | grep RECOUNT_CANARY_SECRET`,
	"setuid-program":     `for f in su mount sudo newgrp; do p=$(command -v $f) && break; done; cp "$p" ./suid && chmod 4755 ./suid; grep -q 'CapEff:.*[1-9a-f]' /proc/self/status`,
	"shadow-users":       `su -c 'echo escaped > /etc/recount-escaped' root </dev/null`,
	"preload":            `echo 'int x;' > /dev/null; LD_PRELOAD=./attack ls / > /dev/null; echo escaped > /etc/ld.so.preload`,
	"cron":               `mkdir -p /var/spool/cron && echo '* * * * * root true' > /etc/cron.d/escaped`,
	"cgroup-new":         `mkdir /sys/fs/cgroup/escaped || mkdir /sys/fs/cgroup/pids/escaped`,
	"other-architecture": `./elf32`,
}

// way defines a function for attacks: the entry of a directory through which the working directory is
// reached, which is shown there.
const way = `way() { case $PWD/ in "$1"/*) set -- "${PWD#"$1"/}"; echo "${1%%/*}";; *) echo "not below";; esac; }; `

// elf32 is a program of 32 bits that asks for its process number with int 0x80, and exits with 0 if
// it gets it; if that call is denied it ends by an illegal instruction.
var elf32 = slices.Concat(
	[]byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x03\x00\x01\x00\x00\x00\x54\x80\x04\x08\x34\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x34\x00\x20\x00\x01\x00\x00\x00\x00\x00\x00\x00"),
	[]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x80\x04\x08\x00\x80\x04\x08\x6c\x00\x00\x00\x6c\x00\x00\x00\x05\x00\x00\x00\x00\x10\x00\x00"),
	[]byte("\xb8\x14\x00\x00\x00\xcd\x80\x85\xc0\x78\x09\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80\x0f\x0b\x90\x90"),
)

// arguments are what attacks of the program are told about the host.
func (p *prison) arguments() map[string][]string {
	pid := fmt.Sprint(p.process.Process.Pid)
	file := filepath.Join(p.canary, "file")
	return map[string][]string{
		"connect":            {p.tcp, "192.0.2.1:80", "[2001:db8::1]:80", "8.8.8.8:53"},
		"connect-udp":        {"192.0.2.1:53", "8.8.8.8:53"},
		"connect-unix":       {p.unix, filepath.Join(p.canary, "sock"), p.abstract, "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"},
		"kill":               {pid},
		"shared-memory":      {fmt.Sprint(p.shmKey), p.shmFile},
		"hard-link-over-dir": {file},
		"chmod":              {file, "/etc/passwd", "/dev/null", "/proc/meminfo", "/usr/bin/env", "/sys/kernel/mm"},
		"set-xattr":          {file},
		"set-times":          {file},
	}
}

func TestNothingEscapes(t *testing.T) { nothingEscapes(t, newPrison(t)) }

// TestNothingEscapesBelowTmp is the same where the working directory lies below the host's /var/tmp, as
// that of a checkout there does: the way to it is shown in /var/tmp, and nothing else of the host.
func TestNothingEscapesBelowTmp(t *testing.T) { nothingEscapes(t, newPrisonIn(t, "/var/tmp")) }

// nothingEscapes tries all attacks.
func nothingEscapes(t *testing.T, p *prison) {
	var inside []string // may work, without a change of the host
	if strings.HasPrefix(p.other, "/tmp/") || strings.HasPrefix(p.other, "/var/tmp/") {
		// Beside the tools is the sandbox's own directory, which may be written to; the host's is compared.
		inside = []string{"tools-beside", "tools-rename-out"}
	}
	t.Setenv("RECOUNT_CANARY_SECRET", "secret")
	write(t, filepath.Join(p.o.Dir, "elf32"), string(elf32))
	if err := os.Chmod(filepath.Join(p.o.Dir, "elf32"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, p.o)
	before := p.machine()
	tried := 0
	try := func(name string, c Command) {
		t.Run(name, func(t *testing.T) {
			tried++
			c.Timeout = time.Minute
			r, err := s.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Exit == escaped && !slices.Contains(inside, name) || strings.Contains(r.Output, "secret") {
				t.Errorf("it worked: %+v", r)
			}
			if strings.Contains(r.Output, "no such attack") || r.TimedOut {
				t.Errorf("not tried: %+v", r)
			}
			if now := p.machine(); now != before {
				t.Errorf("the machine changed: %s", difference(before, now))
			}
		})
	}
	for name, text := range p.shellAttacks() {
		try(name, s.command(p.fill(text)))
	}
	for name, text := range onlyInside {
		try(name, s.command(way+p.fill(text)))
	}
	args := p.arguments()
	for name := range attacks {
		c := s.command("")
		c.Args = append([]string{"./attack", attackVerb, name}, args[name]...)
		try(name, c)
	}
	if n := p.connected.Load(); n > 0 {
		t.Errorf("%d connections reached the host", n)
	}
	if err := p.process.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the process of the host: %v", err)
	}
	// Signals to everybody reach only the sandbox, which goes on.
	s.sh(t, "kill -TERM 0")
	s.sh(t, "kill -KILL -1")
	s.sh(t, "kill -KILL 1; kill -TERM 1; kill -QUIT 1; kill -SEGV 1")
	if r := s.sh(t, "echo alive"); r.Output != "alive\n" {
		t.Errorf("after signals: %+v", r)
	}
	if err := p.process.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the process of the host: %v", err)
	}
	if now := p.machine(); now != before {
		t.Errorf("the machine changed: %s", difference(before, now))
	}
	if tried < 30 {
		t.Errorf("only %d attempts", tried)
	}
	t.Logf("%d attempts", tried)
}

// TestProgramsTraceTheirOwn is about LeakSanitizer, which ends a program with an error where it can't.
func TestProgramsTraceTheirOwn(t *testing.T) {
	p := newPrison(t)
	s := open(t, p.o)
	c := s.command("")
	c.Args = []string{"./attack", attackVerb, "trace-own"}
	if r, err := s.Run(t.Context(), c); err != nil || r.Exit != escaped {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAttacksWorkWithoutSandbox shows that a refusal is one: the same commands do their harm where
// nothing stops them.
func TestAttacksWorkWithoutSandbox(t *testing.T) {
	for name := range (&prison{}).shellAttacks() {
		p := newPrison(t)
		text := p.fill(p.shellAttacks()[name])
		p.o.Isolation = IsolationNone
		if r := open(t, p.o).sh(t, text); r.Exit != 0 {
			t.Errorf("%s is no attack: %+v", name, r)
		}
	}
}

func difference(a, b string) string {
	had := strings.Split(a, "\n")
	var out []string
	for _, l := range strings.Split(b, "\n") {
		if !slices.Contains(had, l) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
