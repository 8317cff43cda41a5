package sandbox

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// writing are the rights to change something; reading is left to the view.
const writing = landlock.AccessFSSet(ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
	ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo |
	ll.AccessFSMakeBlock | ll.AccessFSMakeSym | ll.AccessFSRefer | ll.AccessFSTruncate | ll.AccessFSIoctlDev)

// restrictWrites allows writes below the directories that the view made for them, those of other homes
// in layered among them, and nowhere else, whatever becomes of the mounts; it also stops signals and abstract sockets that reach out.
// It uses as much of landlock as the kernel has.
func restrictWrites(s setup, layered []string) error {
	config, err := landlock.NewConfig(writing, landlock.ScopedSet(ll.ScopeSignal|ll.ScopeAbstractUnixSocket))
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	dirs := []string{s.Dir, "/tmp", "/var/tmp", "/run", "/dev/shm"}
	if s.Home != "" {
		dirs = append(dirs, s.Home)
	}
	dirs = append(dirs, layered...)
	ordinary := writing &^ (ll.AccessFSMakeChar | ll.AccessFSMakeBlock | ll.AccessFSIoctlDev)
	rules := []landlock.Rule{
		landlock.PathAccess(ll.AccessFSWriteFile|ll.AccessFSTruncate|ll.AccessFSIoctlDev, "/dev"),
	}
	for _, d := range dirs {
		rules = append(rules, landlock.PathAccess(ordinary, d).IgnoreIfMissing())
	}
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}
