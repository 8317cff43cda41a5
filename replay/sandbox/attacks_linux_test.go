package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackVerb makes the test's program run one attack, inside a sandbox.
const attackVerb = "sandbox-attack"

const (
	escaped = 0
	kept    = 42 // an attack was refused
)

func attackMain() {
	if len(os.Args) < 3 || os.Args[1] != attackVerb {
		return
	}
	runtime.LockOSThread()
	attack, ok := attacks[os.Args[2]]
	if os.Args[2] == "trace-own" {
		attack, ok = traceOwn, true // no attack, but what programs may do
	}
	if !ok {
		fmt.Println("no such attack")
		os.Exit(1)
	}
	if err := attack(os.Args[3:]); err != nil {
		fmt.Println("kept:", err)
		os.Exit(kept)
	}
	fmt.Println("ESCAPED")
	os.Exit(escaped)
}

// deniedBy reports the error of a call that must not even be looked at by the kernel: whatever it
// says but these would mean that it was.
func deniedBy(errno syscall.Errno) error {
	if errno == unix.EPERM || errno == unix.ENOSYS || errno == unix.EACCES {
		return errno
	}
	return nil
}

func call(number uintptr, args ...uintptr) func([]string) error {
	return func([]string) error {
		var a [6]uintptr
		copy(a[:], args)
		_, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		return deniedBy(errno)
	}
}

func text(s string) uintptr {
	b, _ := syscall.BytePtrFromString(s)
	keep = append(keep, b)
	return uintptr(unsafe.Pointer(b))
}

var keep []*byte // so that what only an uintptr refers to stays

// opens succeeds if one of the files can be opened for writing. It writes nothing.
func opens(paths ...string) func([]string) error {
	return func([]string) error {
		last := errors.New("nothing is there")
		for _, p := range paths {
			all, _ := filepath.Glob(p)
			for _, p := range all {
				f, err := os.OpenFile(p, os.O_WRONLY|unix.O_NONBLOCK, 0)
				if err == nil {
					_ = f.Close()
					return nil
				}
				last = err
			}
		}
		return last
	}
}

func dials(network string) func([]string) error {
	return func(args []string) error {
		for _, address := range args {
			c, err := net.DialTimeout(network, address, 2_000_000_000)
			if err == nil {
				_ = c.Close()
				return nil
			}
		}
		return errors.New("nothing answered")
	}
}

// attacks are what a program tries that a shell can't. nil means that it worked.
var attacks = map[string]func(args []string) error{
	"mount":              call(unix.SYS_MOUNT, text("tmpfs"), text("/tmp"), text("tmpfs"), 0, 0),
	"remount-writable":   call(unix.SYS_MOUNT, 0, text("/usr"), 0, unix.MS_REMOUNT|unix.MS_BIND, 0),
	"unmount":            call(unix.SYS_UMOUNT2, text("/proc"), unix.MNT_DETACH),
	"pivot-root":         call(unix.SYS_PIVOT_ROOT, text("/tmp"), text("/tmp")),
	"chroot":             call(unix.SYS_CHROOT, text("/tmp")),
	"fsopen":             call(unix.SYS_FSOPEN, text("tmpfs"), 0),
	"open-tree":          call(unix.SYS_OPEN_TREE, ^uintptr(99), text("/"), 1),
	"mount-setattr":      call(unix.SYS_MOUNT_SETATTR, ^uintptr(99), text("/"), 0, 0, 0),
	"unshare-user":       call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
	"unshare-mount":      call(unix.SYS_UNSHARE, unix.CLONE_NEWNS),
	"unshare-time":       call(unix.SYS_UNSHARE, unix.CLONE_NEWTIME),
	"clone-user":         cloneUser,
	"clone3":             call(unix.SYS_CLONE3, 0, 0),
	"setns":              setns,
	"ptrace-init":        call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1, 0, 0),
	"ptrace-threads":     ptraceThreads,
	"ptrace-poke":        call(unix.SYS_PTRACE, unix.PTRACE_POKEDATA, 1, 0, 0),
	"ptrace-registers":   call(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, 1, 0, 0),
	"ptrace-system-call": call(unix.SYS_PTRACE, unix.PTRACE_SYSCALL, 1, 0, 0),
	"ptrace-seize":       call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0, 0),
	"ptrace-me":          call(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0),
	"ptrace-high-bits":   call(unix.SYS_PTRACE, 1<<32|unix.PTRACE_ATTACH, 1, 0, 0),
	"read-init-memory":   readInit,
	"io-uring":           call(unix.SYS_IO_URING_SETUP, 1, 0),
	"keyctl":             call(unix.SYS_KEYCTL, 0, ^uintptr(3), 0),
	"add-key":            call(unix.SYS_ADD_KEY, text("user"), text("k"), text("v"), 1, ^uintptr(3)),
	"bpf":                call(unix.SYS_BPF, 0, 0, 0),
	"perf":               call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0),
	"userfaultfd":        call(unix.SYS_USERFAULTFD, 0),
	"kexec":              call(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
	"module":             call(unix.SYS_FINIT_MODULE, ^uintptr(0), text(""), 0),
	"file-handle":        call(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), 0, 0),
	"hostname":           call(unix.SYS_SETHOSTNAME, text("escaped"), 7),
	"clock":              call(unix.SYS_CLOCK_SETTIME, 0, 0),
	"quota":              call(unix.SYS_QUOTACTL, 0, 0, 0, 0),
	"raise-limit":        raiseLimit,
	"gain-capability":    gainCapability,
	"vsock":              call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0),
	"packet-socket":      call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0),
	"raw-socket":         call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
	"crypto-socket":      call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
	"device-node":        deviceNode,
	"disk-device":        opens("/dev/vd*", "/dev/sd*", "/dev/nvme*", "/dev/mem", "/dev/kmsg", "/dev/dm-*", "/dev/loop*", "/dev/fuse", "/dev/kvm"),
	"core-pattern":       opens("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/pid_max"),
	"sysrq":              opens("/proc/sysrq-trigger"),
	"sys-write":          opens("/sys/power/state", "/sys/kernel/mm/*/enabled", "/sys/kernel/uevent_helper", "/sys/block/*/queue/scheduler", "/sys/class/net/*/mtu"),
	"cgroup-write":       opens("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/*/cgroup.procs", "/sys/fs/cgroup/*/release_agent"),
	"init-files":         opens("/proc/1/fd/*", "/proc/1/mem", "/proc/1/cwd", "/proc/1/root/etc/passwd"),
	"inject-terminal":    injectTerminal,
	"shared-memory":      sharedMemory,
	"connect":            dials("tcp"),
	"connect-udp":        dials("udp"),
	"connect-unix":       dials("unix"),
	"kill":               killForeign,
	"inherited-file":     inherited,
	"see-other-users":    seeOthers,
	"hard-link-over-dir": func(a []string) error { return os.Link(a[0], "linked") },
	"chmod":              func(a []string) error { return chmodAll(a) },
	"set-xattr":          func(a []string) error { return unix.Setxattr(a[0], "user.escaped", []byte("1"), 0) },
	"set-times":          func(a []string) error { return unix.Utimes(a[0], make([]unix.Timeval, 2)) },
}

func cloneUser([]string) error {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
	return deniedBy(errno)
}

func setns([]string) error {
	f, err := os.Open("/proc/1/ns/mnt")
	if err != nil {
		f, err = os.Open("/proc/self/ns/mnt")
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return unix.Setns(int(f.Fd()), 0)
}

func readInit([]string) error {
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(1, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return err
}

// ptraceThreads attaches to the threads of the init.
func ptraceThreads([]string) error {
	threads, err := filepath.Glob("/proc/1/task/*")
	if err != nil || len(threads) < 2 {
		return fmt.Errorf("no such attack: the init has %d threads: %w", len(threads), err)
	}
	var last error
	for _, t := range threads {
		tid, err := strconv.Atoi(filepath.Base(t))
		if err != nil {
			return fmt.Errorf("no such attack: %w", err)
		}
		_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(tid), 0, 0, 0, 0)
		if last = deniedBy(errno); last == nil {
			return nil
		}
	}
	return last
}

// traceOwn stops a process that it started, reads its registers and lets it go, as LeakSanitizer does.
func traceOwn([]string) error {
	child := exec.Command("sleep", "100")
	if err := child.Start(); err != nil {
		return err
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	pid := child.Process.Pid
	if err := unix.PtraceAttach(pid); err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("wait: %v: %w", status, err)
	}
	registers := make([]byte, 1024)
	into := unix.Iovec{Base: &registers[0], Len: uint64(len(registers))}
	const general = 1 // NT_PRSTATUS
	if _, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(pid), general, uintptr(unsafe.Pointer(&into)), 0, 0); errno != 0 {
		return fmt.Errorf("registers: %w", errno)
	}
	return unix.PtraceDetach(pid)
}

func raiseLimit([]string) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: now.Cur, Max: now.Max + 1})
}

func gainCapability([]string) error {
	data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0])
}

func deviceNode([]string) error {
	if err := unix.Mknod("disk", unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))); err != nil {
		return err
	}
	_, err := os.Open("disk")
	return err
}

// injectTerminal makes a terminal its own and puts characters into its input, in three ways of
// writing the request.
func injectTerminal([]string) error {
	_ = opens("/dev/tty")(nil)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	c := byte('x')
	var errno syscall.Errno
	for _, high := range []uintptr{0, 0xffffffff00000000, 0x100000000} {
		_, _, errno = syscall.RawSyscall(unix.SYS_IOCTL, slave.Fd(), unix.TIOCSTI|high, uintptr(unsafe.Pointer(&c)))
		if errno != unix.EPERM && errno != unix.EACCES {
			return nil
		}
	}
	return errno
}

func sharedMemory(args []string) error {
	key, _ := strconv.Atoi(args[0])
	if _, err := unix.SysvShmGet(key, 4096, 0); err == nil {
		return nil
	}
	_, err := os.Stat(args[1])
	return err
}

func killForeign(args []string) error {
	pid, _ := strconv.Atoi(args[0])
	return errors.Join(unix.Kill(pid, 0), unix.Kill(pid, unix.SIGKILL))
}

func inherited([]string) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "canary") {
			return nil
		}
	}
	return errors.New("no file of the host")
}

func seeOthers([]string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		cmd, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(cmd), "sleep\x00987") {
			return nil
		}
	}
	return errors.New("no process of the host")
}

func chmodAll(paths []string) error {
	last := errors.New("nothing is there")
	for _, p := range paths {
		info, err := os.Stat(p)
		if err == nil {
			err = os.Chmod(p, info.Mode().Perm()) // the same, so that a success harms nobody
		}
		if err == nil {
			return nil
		}
		last = err
	}
	return last
}
