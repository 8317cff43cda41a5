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
	lostFile    = "lost"
	remoteDir   = "to"
	urlFile     = "url"
)

// Dir is the spool of a data directory.
func Dir(dataDir string) string { return filepath.Join(dataDir, "spool") }

// RemoteDir is the spool, within that of a data directory, of what goes to the server at
// a URL.
func RemoteDir(dataDir, url string) string {
	h := sha256.Sum256([]byte(url))
	return filepath.Join(Dir(dataDir), remoteDir, hex.EncodeToString(h[:8]))
}

// AppendRemote is Append to the spool of a server, whose URL it notes there.
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

// Append adds entries to the spool in dir, which it makes if need be. They stay together.
// An error means that none of them is there; it has been counted, where that was
// possible, for State to tell.
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

// tries bounds how often a writer opens the file again that a drainer has just taken. A
// drainer would have to come between two calls of the kernel each time.
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
	return fmt.Errorf("%s: taken away %d times", path, tries)
}

// writeTo appends to f if it is still the file of that name and no drainer is at it.
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
	// One write is one piece of the file. On a full disk a part of it may get there:
	// the reader sets that aside.
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

// countLost makes the file lost longer, by a hole, which takes no room.
func countLost(dir string, n int) {
	f, err := os.OpenFile(filepath.Join(dir, lostFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return // then nothing can be told here: State sees by itself that nothing can be written
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX) != nil {
		return
	}
	if st, err := f.Stat(); err == nil {
		_ = f.Truncate(st.Size() + int64(n)) // as good as it can
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
