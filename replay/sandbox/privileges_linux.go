package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// capabilities that the first stage needs, inside its own namespaces.
var capabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE}

// dropPrivileges gives up all capabilities for good, on this thread and what it execs.
func dropPrivileges() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			if err == unix.EINVAL {
				break // the last one
			}
			return fmt.Errorf("give up capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := loadFilter(); err != nil {
		return err
	}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// setLimits bounds what this process and all it starts may use.
func setLimits(l Limits) error {
	limits := map[int]uint64{
		unix.RLIMIT_NPROC:  uint64(l.Processes),
		unix.RLIMIT_NOFILE: uint64(l.OpenFiles),
		unix.RLIMIT_FSIZE:  uint64(l.FileSize),
		// 1 also stops a helper of the host that the kernel would start with a core.
		unix.RLIMIT_CORE:    1,
		unix.RLIMIT_MEMLOCK: 8 << 20,
	}
	for what, n := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("read limit %d: %w", what, err)
		}
		n = min(n, now.Max)
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("set limit %d to %d: %w", what, n, err)
		}
	}
	return nil
}

// limitProcesses bounds the processes of this PID namespace. The kernel keeps the lowest 300
// numbers for itself once it has counted around, so they are added. Kernels before 6.14 have one
// number for the whole machine, which they let nobody in a user namespace set.
func limitProcesses(proc string, n int) error {
	return os.WriteFile(filepath.Join(proc, "sys/kernel/pid_max"), []byte(strconv.Itoa(n+300)), 0)
}
