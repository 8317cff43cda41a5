package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// control is the descriptor of the init's end of the socket.
const control = socket(3)

const serveVerb = "serve"

// Init is the whole of a sandbox's init process. A program that can be one calls it first in main;
// it returns at once, unless the first argument is InitVerb: then it never returns.
//
// It runs in two stages. The first has the capabilities of its namespaces: it makes the view of the
// file system and the network, gives up everything, and starts the program again. The second is
// bound by the same rules as the commands, and starts them.
func Init() {
	if len(os.Args) < 2 || os.Args[1] != InitVerb {
		return
	}
	if err := initMain(len(os.Args) > 2 && os.Args[2] == serveVerb); err != nil {
		fmt.Fprintf(os.Stderr, "sandbox: %s\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func initMain(serving bool) error {
	// What was inherited by mistake must not reach a command.
	if err := unix.CloseRange(uint(control), 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close inherited files: %w", err)
	}
	var s setup
	if _, err := control.receive(&s); err != nil {
		return fmt.Errorf("this program is started by a replay (recount replay), and not by hand: %w", err)
	}
	if serving {
		return serve(s)
	}
	// All that follows is about this thread, which becomes the whole process with the exec.
	runtime.LockOSThread()
	err := prepare(s)
	if err == nil {
		return nil
	}
	r := reply{Err: err.Error()}
	if o := (*overlayError)(nil); errors.As(err, &o) {
		r.Reason = "overlay"
	}
	return control.send(r)
}

// prepare is the first stage. It returns only with an error, or when it was only to probe.
func prepare(s setup) error {
	self, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the own program: %w", err)
	}
	if s.Probe {
		return control.send(reply{Ready: true, Report: probeInside(s.State)})
	}
	// If memory ends, the kernel shall end these processes first.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("set oom_score_adj: %w", err)
	}
	layered, err := makeView(s)
	if err != nil {
		return err
	}
	if !s.Network {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("start the loopback: %w", err)
		}
	}
	if err := setLimits(s.Limits); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	// Here and not in the second stage: landlock gives each thread a domain of its own, and a signal
	// from one to what another started would be denied. The exec leaves one thread, and one domain.
	if err := restrictWrites(s, layered); err != nil {
		return err
	}
	// The socket has to survive the exec.
	if _, err := unix.FcntlInt(uintptr(control), unix.F_SETFD, 0); err != nil {
		return fmt.Errorf("keep the control socket: %w", err)
	}
	// The program is named by its descriptor, because the view may not contain it.
	env := []string{"GOMAXPROCS=2"}
	err = unix.Exec(fmt.Sprintf("/proc/self/fd/%d", self), []string{"recount-sandbox", InitVerb, serveVerb}, env)
	return fmt.Errorf("start the second stage: %w", err)
}

// loopbackUp starts the loopback device of a new network namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
