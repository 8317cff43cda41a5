package sandbox

import (
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// denied are system calls that no ordinary command needs, and that reach into the kernel, other
// processes or the machine.
var denied = []string{
	"process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	"mount", "umount2", "umount", "pivot_root", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "open_tree_attr", "move_mount", "mount_setattr", "chroot", "setns",
	"keyctl", "add_key", "request_key",
	"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "open_by_handle_at", "lookup_dcookie", "uselib", "nfsservctl",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
	"reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "vhangup", "iopl", "ioperm",
	"settimeofday", "clock_settime", "clock_adjtime", "stime", "sethostname", "setdomainname", "_sysctl", "sysfs", "ustat",
	"move_pages", "migrate_pages", "set_mempolicy_home_node",
}

// unknown are system calls that fail as if the kernel did not have them, so that programs use
// older ones: clone3, whose flags a filter can't read, and io_uring, which a filter does not see.
var unknown = []string{"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"}

// traced are the requests of ptrace that let a program stop its own processes and read their registers, as
// LeakSanitizer has to at the end of each program that is built with it. None writes, and none sees system calls, so
// that a tracer can do no more to a process than a signal can. The init is no process of theirs: it can't be dumped.
var traced = []uint64{unix.PTRACE_CONT, unix.PTRACE_KILL, ptraceGetRegisters, unix.PTRACE_ATTACH, unix.PTRACE_DETACH, unix.PTRACE_GETREGSET}

// ptraceGetRegisters is PTRACE_GETREGS, which only some architectures have.
const ptraceGetRegisters = 12

// newNamespace are the flags of clone and unshare that make namespaces.
const newNamespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

func policy(a *arch.Info) seccomp.Policy {
	known := func(names []string) []string {
		var out []string
		for _, n := range names {
			if _, ok := a.SyscallNames[n]; ok {
				out = append(out, n)
			}
		}
		return out
	}
	when := func(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: conditions}
	}
	is := func(arg uint32, op seccomp.Operation, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: arg, Operation: op, Value: value}
	}
	const high = 0xffffffff00000000
	conditional := []seccomp.NameWithConditions{
		when("clone", is(0, seccomp.BitsSet, newNamespace)),
		when("unshare", is(0, seccomp.BitsSet, newNamespace|unix.CLONE_NEWTIME)),
		// The kernel reads 32 bits of an ioctl's number, and C libraries extend its sign, so
		// a number with other high bits is an attempt to get past this.
		when("ioctl", is(1, seccomp.GreaterThan, 0xffffffff), is(1, seccomp.LessThan, high)),
	}
	// All requests between those of traced, before and after them.
	above := []seccomp.Condition(nil)
	for _, request := range traced {
		conditional = append(conditional, when("ptrace", append(slices.Clone(above), is(0, seccomp.LessThan, request))...))
		above = []seccomp.Condition{is(0, seccomp.GreaterThan, request)}
	}
	conditional = append(conditional, when("ptrace", above...))
	for _, request := range []uint64{unix.TIOCSTI, unix.TIOCLINUX} {
		conditional = append(conditional, when("ioctl", is(1, seccomp.Equal, request)), when("ioctl", is(1, seccomp.Equal, request|high)))
	}
	// Families of sockets beside unix, inet, inet6 and netlink; vsock would reach the machine's host.
	conditional = append(conditional,
		when("socket", is(0, seccomp.GreaterThan, unix.AF_NETLINK)),
		when("socket", is(0, seccomp.GreaterThan, unix.AF_INET6), is(0, seccomp.LessThan, unix.AF_NETLINK)),
		when("socket", is(0, seccomp.GreaterThan, unix.AF_INET), is(0, seccomp.LessThan, unix.AF_INET6)),
	)
	return seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Names: known(denied), Action: seccomp.ActionErrno | seccomp.Action(unix.EPERM)},
			{Names: known(unknown), Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
			{NamesWithCondtions: conditional, Action: seccomp.ActionErrno | seccomp.Action(unix.EPERM)},
		},
	}
}

// assemble makes the filter's program. The library lets pass what is called by another
// architecture's numbers (32-bit programs), so the program begins with a rule against that.
func assemble() ([]bpf.RawInstruction, error) {
	native, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	p := policy(native)
	listed, err := p.Assemble()
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	const archOffset = 4
	program := append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(unix.EPERM)},
	}, listed...)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	return raw, nil
}

// loadFilter puts the filter on this thread and what it execs.
func loadFilter() error {
	raw, err := assemble()
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
