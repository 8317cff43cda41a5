package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// overlayError says that the working directory can't be shown through overlayfs.
type overlayError struct{ err error }

func (e *overlayError) Error() string { return "overlayfs: " + e.err.Error() }
func (e *overlayError) Unwrap() error { return e.err }

// own are the entries of / that the view replaces by its own.
var own = []string{"dev", "home", "proc", "root", "run", "sys", "tmp"}

// view is the file system that commands see, while it is built below root.
type view struct {
	setup
	root string
	sys  int // the host's /sys, not attached anywhere
	// mounts are the places of the host's mounts.
	mounts []string
	// layered are the directories of other homes that take writes.
	layered []string
}

// makeView builds the file system and makes it the root of this process. After it nothing of the
// host can be reached that the view does not show. It returns the directories of other homes that
// take writes, into a layer that is forgotten.
func makeView(s setup) ([]string, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("separate the mounts: %w", err)
	}
	// The new root is built over /sys, the one place that is neither shown nor read meanwhile: below
	// any other, that place would have a mount, and overlayfs could not show it.
	sys, err := unix.OpenTree(unix.AT_FDCWD, "/sys", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, fmt.Errorf("copy the mount of /sys: %w", err)
	}
	v := view{setup: s, root: "/sys", sys: sys, mounts: mountPlaces()}
	if err := v.tmpfs(v.root, "mode=755,size=4m", unix.MS_NODEV|unix.MS_NOSUID); err != nil {
		return nil, err
	}
	for _, part := range []func() error{v.system, v.devices, v.kernel, v.private, v.home, v.tools, v.hide, v.sockets, v.workspace} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	if err := readOnly(v.root, false); err != nil {
		return nil, err
	}
	if err := unix.Chdir(v.root); err != nil {
		return nil, err
	}
	// The new root is stacked on the old one, which is then taken away.
	if err := unix.PivotRoot(".", "."); err != nil {
		return nil, fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return nil, fmt.Errorf("leave the old root: %w", err)
	}
	return v.layered, unix.Chdir("/")
}

// system shows what is in /, but for own, without a way to write. A directory that can't be shown
// stays empty.
func (v *view) system() error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("read /: %w", err)
	}
	for _, e := range entries {
		from, to := "/"+e.Name(), filepath.Join(v.root, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			if link, err := os.Readlink(from); err == nil {
				if err := os.Symlink(link, to); err != nil {
					return err
				}
			}
		case e.IsDir():
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			if !slices.Contains(own, e.Name()) {
				_ = v.show(from, to)
			}
		}
	}
	return nil
}

// show makes the directory from readable at to. Through overlayfs, sockets and devices in it are
// dead, so a directory that has mounts below, for which the kernel refuses overlayfs, is shown entry
// by entry. What remains is shown as it is.
func (v *view) show(from, to string) error {
	if from != "/usr" { // holds programs and no sockets, and a bind mount is faster
		if v.overlay(from, to, "", "") == nil {
			return nil
		}
		if slices.ContainsFunc(v.mounts, func(m string) bool { return m != from && Within(from, m) }) && v.entries(from, to) == nil {
			return nil
		}
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	return setAttr(to, &attr, true)
}

// entries shows each directory in from, and its links. Files beside them are shown if they are
// ordinary.
func (v *view) entries(from, to string) error {
	const most = 1000 // directories that hold mounts are small
	all, err := os.ReadDir(from)
	if err != nil || len(all) > most {
		return fmt.Errorf("%s has %d entries: %w", from, len(all), err)
	}
	if err := v.tmpfs(to, "mode=755,size=4m", unix.MS_NODEV|unix.MS_NOSUID); err != nil {
		return err
	}
	for _, e := range all {
		from, to := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.IsDir():
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			_ = v.show(from, to) // or it stays empty
		case e.Type()&os.ModeSymlink != 0:
			if link, err := os.Readlink(from); err == nil {
				if err := os.Symlink(link, to); err != nil {
					return err
				}
			}
		case e.Type().IsRegular():
			if err := touch(to); err != nil {
				return err
			}
			if unix.Mount(from, to, "", unix.MS_BIND, "") == nil {
				if err := readOnly(to, false); err != nil {
					return err
				}
			}
		}
	}
	return readOnly(to, false)
}

// sockets covers the sockets of the host that are shown as they are.
func (v *view) sockets() error {
	for _, p := range v.Sockets {
		to := filepath.Join(v.root, p)
		if info, err := os.Lstat(to); err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if err := unix.Mount("/dev/null", to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover the socket %s: %w", p, err)
		}
		if err := readOnly(to, false); err != nil {
			return err
		}
	}
	return nil
}

// overlay mounts lower at to, with writes into upper, or read-only if that is empty.
func (v *view) overlay(lower, to, upper, work string) error {
	data := "userxattr"
	var open []int
	defer func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}()
	// Paths go in as descriptors, because a path may contain what separates options.
	option := func(name string, paths ...string) error {
		var all []string
		for _, p := range paths {
			fd, err := unix.Open(p, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open %s: %w", p, err)
			}
			open = append(open, fd)
			all = append(all, fmt.Sprintf("/proc/self/fd/%d", fd))
		}
		data += "," + name + "=" + strings.Join(all, ":")
		return nil
	}
	flags := uintptr(unix.MS_NODEV | unix.MS_NOSUID)
	var err error
	if upper == "" {
		flags |= unix.MS_RDONLY
		err = option("lowerdir", lower, filepath.Join(v.State, "empty"))
	} else {
		err = errors.Join(option("lowerdir", lower), option("upperdir", upper), option("workdir", work))
	}
	if err != nil {
		return err
	}
	if err := unix.Mount("overlay", to, "overlay", flags, data); err != nil {
		return fmt.Errorf("mount over %s: %w", lower, err)
	}
	return nil
}

// devices makes a /dev with what ordinary programs need.
func (v *view) devices() error {
	dev := filepath.Join(v.root, "dev")
	if err := v.tmpfs(dev, "mode=755,size=1m", unix.MS_NOSUID|unix.MS_NOEXEC); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		to := filepath.Join(dev, name)
		if err := os.WriteFile(to, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show /dev/%s: %w", name, err)
		}
		// A read-only device can be written to; its mode and owner can't be changed.
		if err := readOnly(to, false); err != nil {
			return err
		}
	}
	for link, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, filepath.Join(dev, link)); err != nil {
			return err
		}
	}
	pts, shm := filepath.Join(dev, "pts"), filepath.Join(dev, "shm")
	if err := errors.Join(os.Mkdir(pts, 0o755), os.Mkdir(shm, 0o777)); err != nil {
		return err
	}
	if err := unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	if err := v.tmpfs(shm, "mode=1777,size=64m", unix.MS_NOSUID|unix.MS_NODEV); err != nil {
		return err
	}
	return readOnly(dev, false)
}

// kernel shows /proc of the own processes and /sys, with nothing in them that can be set.
func (v *view) kernel() error {
	proc := filepath.Join(v.root, "proc")
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	_ = limitProcesses(proc, v.Limits.Processes) // where the kernel has it; the probe says so
	_ = os.WriteFile(filepath.Join(proc, "sys/user/max_user_namespaces"), []byte("0"), 0)
	for _, p := range []string{"kcore", "keys", "kmsg", "key-users", "timer_list", "sched_debug", "kallsyms", "latency_stats"} {
		p = filepath.Join(proc, p)
		if _, err := os.Lstat(p); err != nil {
			continue
		}
		if err := unix.Mount("/dev/null", p, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide %s: %w", p, err)
		}
	}
	// Entries of /proc belong to the host's root, and their modes are the same everywhere.
	if err := readOnly(proc, true); err != nil {
		return err
	}
	sys := filepath.Join(v.root, "sys")
	if err := unix.MoveMount(v.sys, "", unix.AT_FDCWD, sys, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("show /sys: %w", err)
	}
	return readOnly(sys, true)
}

// private makes the directories for what lives only in this sandbox.
func (v *view) private() error {
	for to, from := range map[string]string{"tmp": "tmp", "var/tmp": "vartmp"} {
		to = filepath.Join(v.root, to)
		if _, err := os.Stat(to); err != nil {
			continue // a system without /var/tmp
		}
		if err := v.bind(filepath.Join(v.State, from), to); err != nil {
			return err
		}
	}
	run := filepath.Join(v.root, "run")
	if _, err := os.Stat(run); err != nil {
		return nil
	}
	if err := v.tmpfs(run, "mode=755,size=64m", unix.MS_NOSUID|unix.MS_NODEV); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(run, "lock"), 0o777); err != nil {
		return err
	}
	if !v.Network {
		return nil
	}
	// Names are looked up by what /etc/resolv.conf points to, often into /run.
	conf, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || !Within("/run", conf) {
		return nil
	}
	content, err := os.ReadFile(conf)
	if err != nil {
		return nil
	}
	to := filepath.Join(v.root, conf)
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o644))
}

// home makes a home directory of the sandbox's own, and shows in it what is visible of the real one.
func (v *view) home() error {
	if v.Home == "" {
		return nil
	}
	to := filepath.Join(v.root, v.Home)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make the home directory: %w", err)
	}
	if err := v.bind(filepath.Join(v.State, "home"), to); err != nil {
		return err
	}
	for _, rel := range v.Visible {
		from, to := filepath.Join(v.Home, rel), filepath.Join(to, rel)
		info, err := os.Stat(from)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), touch(to))
			if err == nil {
				err = unix.Mount(from, to, "", unix.MS_BIND, "")
			}
			if err == nil {
				err = readOnly(to, false)
			}
		} else if err = os.MkdirAll(to, 0o755); err == nil {
			layer := layerOf(v.State, from)
			if err = v.overlay(from, to, filepath.Join(layer, "upper"), filepath.Join(layer, "work")); err != nil {
				err = v.show(from, to)
			}
		}
		if err != nil {
			return fmt.Errorf("show %s: %w", from, err)
		}
	}
	return nil
}

// tools shows what is visible of other homes: through a layer that takes writes where there is one, and
// else without a way to write.
func (v *view) tools() error {
	for _, from := range v.Tools {
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			continue
		}
		to := filepath.Join(v.root, from)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return fmt.Errorf("show %s: %w", from, err)
		}
		layer := layerOf(v.State, from)
		if _, err := os.Stat(layer); err == nil && v.overlay(from, to, filepath.Join(layer, "upper"), filepath.Join(layer, "work")) == nil {
			v.layered = append(v.layered, from)
			continue
		}
		_ = v.show(from, to) // or it stays empty
	}
	return nil
}

// hide covers directories that commands must not see.
func (v *view) hide() error {
	for _, p := range append(slices.Clone(v.Hide), v.State) {
		to := filepath.Join(v.root, p)
		if info, err := os.Lstat(to); err != nil || !info.IsDir() {
			continue
		}
		if err := v.tmpfs(to, "mode=555,size=1m", unix.MS_NOSUID|unix.MS_NODEV); err != nil {
			return err
		}
		if Within(p, v.Dir) {
			if err := os.MkdirAll(filepath.Join(v.root, v.Dir), 0o755); err != nil {
				return err
			}
		}
		if err := readOnly(to, false); err != nil {
			return err
		}
	}
	return nil
}

// workspace mounts the view of the working directory that can be written.
func (v *view) workspace() error {
	to := filepath.Join(v.root, v.Dir)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make the working directory: %w", err)
	}
	if v.Copy {
		return v.bind(filepath.Join(v.State, "copy"), to)
	}
	if err := v.overlay(v.Dir, to, filepath.Join(v.State, "upper"), filepath.Join(v.State, "work")); err != nil {
		return &overlayError{err}
	}
	return nil
}

// bind shows a directory of State, writable.
func (v *view) bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", strings.TrimPrefix(to, v.root), err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	return setAttr(to, &attr, false)
}

func (v *view) tmpfs(to, data string, flags uintptr) error {
	if err := unix.Mount("tmpfs", to, "tmpfs", flags, data); err != nil {
		return fmt.Errorf("mount %s: %w", strings.TrimPrefix(to, v.root), err)
	}
	return nil
}

// readOnly makes the mount at path, or it and all below it, read-only and without setuid programs.
func readOnly(path string, all bool) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	return setAttr(path, &attr, all)
}

func setAttr(path string, attr *unix.MountAttr, all bool) error {
	var flags uint
	if all {
		flags = unix.AT_RECURSIVE
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, attr); err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// mountPlaces lists where something is mounted.
func mountPlaces() []string {
	b, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 1 {
			out = append(out, strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(f[1]))
		}
	}
	return out
}
