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

// State is how a spool stands.
type State struct {
	// Waiting is how many entries are there, and Since when the oldest file of them was
	// begun or taken.
	Waiting int
	// Damaged is how many bytes were set aside as no entry, Refused how many entries the
	// log would not take.
	Damaged int64
	Refused int
	// Lost is how many entries could not be written, the last at LastLost.
	Lost     int64
	LastLost time.Time
	// Fault is why nothing can be written now; nil where it can.
	Fault error
}

// Look says how the spool in dir stands. A spool that does not exist yet is empty.
func Look(dir string) State {
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

// writable tries what a writer does, short of an entry: an empty line is none.
func writable(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // the first writer makes it
	}
	return write(dir, []byte{'\n'})
}

// Remotes are the URLs of servers for which something may wait in a data directory's
// spool.
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

// Interrupted says that a drainer took entries and has not handed over all of them: it is
// at work, or a crash or an error ended it.
func Interrupted(dir string) bool {
	taken, err := numbers(dir)
	return err == nil && len(taken) > 0
}

// Empty says that nothing waits in dir, neither with writers nor with a drainer.
func Empty(dir string) bool {
	if st, err := os.Lstat(filepath.Join(dir, newFile)); err == nil && st.Size() > 0 {
		return false
	}
	return !Interrupted(dir)
}
