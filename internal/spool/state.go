package spool

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// State is the state of a spool.
type State struct {
	// Waiting is the number of entries in the spool.
	Waiting int
	// Damaged is the number of bytes that were set aside as unreadable, Refused the number of
	// entries that the log refused.
	Damaged int64
	Refused int
	// Lost is the number of entries that could not be written; LastLost is the time of the last
	// one.
	Lost     int64
	LastLost time.Time
	// Fault is the reason why nothing can be written now; nil if writing works.
	Fault error
}

// Inspect returns the state of the spool in dir. A spool that does not exist yet is empty.
func Inspect(dir string) State {
	var s State
	files := []string{filepath.Join(dir, newFile)}
	if taken, err := numbers(dir); err == nil {
		for _, n := range taken {
			files = append(files, filepath.Join(dir, strconv.FormatInt(n, 10)+takenSuffix))
		}
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			s.Waiting += bytes.Count(b, []byte("\n"+magic))
		}
	}
	if st, err := os.Stat(filepath.Join(dir, damagedFile)); err == nil {
		s.Damaged = st.Size()
	}
	if b, err := os.ReadFile(filepath.Join(dir, refusedFile)); err == nil {
		s.Refused = bytes.Count(b, []byte("\n"+magic))
	}
	if st, err := os.Stat(filepath.Join(dir, lostFile)); err == nil && st.Size() > 0 {
		s.Lost, s.LastLost = st.Size(), st.ModTime()
	}
	s.Fault = writable(dir)
	return s
}

// writable writes an empty line, which is not an entry, and returns the error that a writer would
// get.
func writable(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // the first writer makes it
	}
	return write(dir, []byte{'\n'})
}

// Remotes returns the URLs of the servers for which entries may wait in a data directory's spool.
func Remotes(dataDir string) []string {
	entries, err := os.ReadDir(filepath.Join(Dir(dataDir), remoteDir))
	if err != nil {
		return nil
	}
	var urls []string
	for _, e := range entries {
		if b, err := os.ReadFile(filepath.Join(Dir(dataDir), remoteDir, e.Name(), urlFile)); err == nil {
			urls = append(urls, strings.TrimSpace(string(b)))
		}
	}
	return urls
}

// Interrupted reports whether a drainer took entries and has not passed on all of them: it is
// running, or a crash or an error ended it.
func Interrupted(dir string) bool {
	taken, err := numbers(dir)
	return err == nil && len(taken) > 0
}

// Empty reports whether no entries wait in dir, neither new nor taken.
func Empty(dir string) bool {
	if st, err := os.Lstat(filepath.Join(dir, newFile)); err == nil && st.Size() > 0 {
		return false
	}
	return !Interrupted(dir)
}
