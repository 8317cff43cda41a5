package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// state is what a sandbox remembers in State/state.json, for a later one with the same State.
type state struct {
	Dir string `json:"dir"`
	// Since is the kernel's clock before the first command: a file of Dir with a newer change
	// time was changed by somebody else.
	Since int64 `json:"since"`
	// Copy is set if the view is State/copy, and then Copied is the clock after copying: files of
	// the copy with an older change time are as they were.
	Copy   bool  `json:"copy,omitempty"`
	Copied int64 `json:"copied,omitempty"`
	// Applying is how many changes there were when Apply began to make them.
	Applying int `json:"applying,omitempty"`
}

const stateFile = "state.json"

// load takes over what an earlier sandbox with the same State left, if there was one, and removes what its Apply left
// half-written, and what a step that it did not end changed.
func (s *Sandbox) load() (err error) {
	if s.state, err = loadState(s.opt); err != nil {
		return err
	}
	if s.state == nil {
		s.seen = map[string]sight{}
		if err := os.Remove(filepath.Join(s.opt.State, seenFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("sandbox: %w", err)
		}
		return nil
	}
	if s.seen, err = loadSeen(s.opt.State); err != nil {
		return err
	}
	s.takeBack()
	if s.Partly() {
		s.tidy()
	}
	return nil
}

// loadState reads the state, or returns nil if there is none yet.
func loadState(o Options) (*state, error) {
	path := filepath.Join(o.State, stateFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("sandbox: %s is damaged: %w: remove %s to begin anew", path, err, o.State)
	}
	if s.Dir != o.Dir {
		return nil, fmt.Errorf("sandbox: %s holds the changes of %s, and not of %s: choose another state directory", o.State, s.Dir, o.Dir)
	}
	return &s, nil
}

// save writes the state. A crash before the rename leaves none, and the next Open starts afresh.
func (s *state) save(dir string) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, stateFile+".new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, stateFile)); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// tick returns the change time that the file system gives now, after having waited for it to move:
// everything changed before the call is older, and everything changed after it is not.
func tick(dir string) (int64, error) {
	first, err := clockAfter(dir, 0)
	if err != nil {
		return 0, err
	}
	return clockAfter(dir, first)
}

// clockAfter returns the change time that the file system gives when it is later than another one.
func clockAfter(dir string, latest int64) (int64, error) {
	path := filepath.Join(dir, "clock")
	now := func() (int64, error) {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			return 0, fmt.Errorf("sandbox: %w", err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			return 0, fmt.Errorf("sandbox: %w", err)
		}
		return changeTime(info), nil
	}
	for {
		next, err := now()
		if err != nil || next > latest {
			return next, err
		}
		time.Sleep(time.Millisecond) // the clock moves every 1 to 10 ms
	}
}

// lockDir takes the lock of a working directory, so that two replays don't run in one at once. It
// is on the directory itself or, on a file system that has no such locks, on a file beside State.
func lockDir(o Options) (*os.File, error) {
	f, err := os.Open(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		sum := sha256.Sum256([]byte(o.Dir))
		f, err = os.OpenFile(filepath.Join(filepath.Dir(o.State), "lock-"+hex.EncodeToString(sum[:8])), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &BusyError{o.Dir}
		}
		return nil, fmt.Errorf("sandbox: lock %s: %w", o.Dir, err)
	}
	return f, nil
}

// BusyError says that another sandbox is open for the directory.
type BusyError struct{ Dir string }

func (e *BusyError) Error() string {
	return "another replay runs in " + e.Dir + ": wait for its end, or stop it"
}
