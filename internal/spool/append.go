package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	newFile     = "new"
	takenSuffix = ".taken"
	lockFile    = "DRAIN"
	damagedFile = "damaged"
	refusedFile = "refused"
	byFile      = "refused.by"
	lostFile    = "lost"
	remoteDir   = "to"
	urlFile     = "url"
)

// Dir returns the spool of a data directory.
func Dir(dataDir string) string { return filepath.Join(dataDir, "spool") }

// RemoteDir returns the spool, inside that of a data directory, for the remote server with a URL.
func RemoteDir(dataDir, url string) string {
	h := sha256.Sum256([]byte(url))
	return filepath.Join(Dir(dataDir), remoteDir, hex.EncodeToString(h[:8]))
}

// AppendRemote appends to the spool of a remote server and stores the server's URL there.
func AppendRemote(dataDir, url string, entries ...Entry) error {
	dir := RemoteDir(dataDir, url)
	note := filepath.Join(dir, urlFile)
	if _, err := os.Stat(note); err != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
		if err := os.WriteFile(note, []byte(url+"\n"), 0o600); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	return Append(dir, entries...)
}

// Append adds entries to the spool in dir, which it creates if needed. They stay adjacent. If it
// returns an error, none of them was added; the loss is counted if possible, and State reports it.
func Append(dir string, entries ...Entry) error {
	var b []byte
	var err error
	for _, e := range entries {
		if b, err = appendFrame(b, e); err != nil {
			return err
		}
	}
	if err := write(dir, b); err != nil {
		countLost(dir, len(entries))
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// tries limits how often a writer opens the file again after a drainer has taken it. Each time a
// drainer would have to act between two system calls.
const tries = 1000

func write(dir string, b []byte) error {
	path := filepath.Join(dir, newFile)
	for range tries {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(dir, 0o700); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		done, err := writeTo(f, path, b)
		err = errors.Join(err, f.Close())
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: removed %d times while it was written", path, tries)
}

// writeTo appends to f if it is still the file with that name and no drainer has locked it.
func writeTo(f *os.File, path string, b []byte) (done bool, err error) {
	if err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
		return false, nil
	}
	// A single write is one contiguous piece of the file. On a full disk only a part may be
	// written; the reader sets that aside.
	n, err := syscall.Write(int(f.Fd()), b)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Write(int(f.Fd()), b)
	}
	if err != nil {
		return false, &fs.PathError{Op: "write", Path: path, Err: err}
	}
	if n < len(b) {
		return false, &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
	return true, nil
}

// countLost extends the file lost by a hole, which takes no disk space.
func countLost(dir string, n int) {
	f, err := os.OpenFile(filepath.Join(dir, lostFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return // nothing can be recorded here: State notices itself that writing is impossible
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX) != nil {
		return
	}
	if st, err := f.Stat(); err == nil {
		_ = f.Truncate(st.Size() + int64(n)) // best effort
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
