package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/elastic/go-seccomp-bpf"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Probe finds out what the kernel gives, by doing it in a process that ends. helper is as in
// Options.
func Probe(ctx context.Context, helper []string) (Report, error) {
	r := Report{OS: "linux", Kernel: release(), Why: map[string]string{}, Cgroups: cgroups(), Seccomp: seccomp.Supported()}
	if abi, err := ll.LandlockGetABIVersion(); err == nil {
		r.Landlock = abi
	}
	dir, err := os.MkdirTemp("", "recount-probe-")
	if err != nil {
		return r, fmt.Errorf("sandbox: probe: %w", err)
	}
	defer func() { _ = removeAll(dir) }()
	p, err := startInit(ctx, helper, setup{Probe: true, State: dir})
	if err != nil {
		if no := (*namespaceError)(nil); errors.As(err, &no) {
			r.Why["user namespaces"] = no.Error()
			return r, nil
		}
		return r, err
	}
	defer p.close()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	var got reply
	if err := p.socket.receive(&got); err != nil {
		return r, fmt.Errorf("sandbox: probe: the helper ended: %w%s", err, p.complaint())
	}
	in := got.Report
	r.Namespaces, r.NetworkNS, r.Overlay, r.Proc, r.Processes = in.Namespaces, in.NetworkNS, in.Overlay, in.Proc, in.Processes
	for k, why := range in.Why {
		r.Why[k] = why
	}
	if !r.Seccomp {
		r.Why["seccomp"] = "the kernel was built without it"
	}
	return r, nil
}

// probeInside tries what makeView needs, in the namespaces of a first stage.
func probeInside(dir string) Report {
	r := Report{Why: map[string]string{}}
	try := func(name string, ok *bool, err error) {
		*ok = err == nil
		if err != nil {
			r.Why[name] = err.Error()
		}
	}
	v := view{setup: setup{State: dir}, root: filepath.Join(dir, "root")}
	for _, d := range []string{"root", "lower", "upper", "work", "over", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			r.Why["user namespaces"] = err.Error()
			return r
		}
	}
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = v.tmpfs(v.root, "size=1m", 0)
	}
	if err == nil {
		err = readOnly(filepath.Join(dir, "root"), true)
	}
	try("user namespaces", &r.Namespaces, err)
	if err != nil {
		return r
	}
	try("overlay", &r.Overlay, v.overlay(filepath.Join(dir, "lower"), filepath.Join(dir, "over"), filepath.Join(dir, "upper"), filepath.Join(dir, "work")))
	try("network namespace", &r.NetworkNS, loopbackUp())
	proc := filepath.Join(dir, "lower")
	try("a /proc of its own", &r.Proc, unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""))
	if r.Proc {
		if err := limitProcesses(proc, 1024); err == nil {
			r.Processes = "pid_max"
		} else if os.Getuid() != 0 {
			r.Processes = "rlimit"
		} else {
			r.Why["a limit of processes"] = "the kernel has one pid_max for all, and does not count root's processes: " + err.Error()
		}
	}
	return r
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func cgroups() int {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return 2
	}
	if _, err := os.Stat("/sys/fs/cgroup/pids"); err == nil {
		return 1
	}
	return 0
}
