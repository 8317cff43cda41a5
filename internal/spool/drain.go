package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Refused is the error that a callback of Drain returns if the log can never take one of the
// entries. That entry is set aside, and the callback is called again with the others.
type Refused struct {
	// Index is the index of the entry in the callback's argument.
	Index int
	Err   error
}

func (r *Refused) Error() string { return r.Err.Error() }
func (r *Refused) Unwrap() error { return r.Err }

// maxBatch and maxBatchBytes limit the entries that Drain passes in one call.
const (
	maxBatch      = 500
	maxBatchBytes = 4 << 20
)

// lockTries and lockPause limit how long a drainer waits for a writer: 200 ms in total. A writer
// holds its lock for some microseconds.
const (
	lockTries = 40
	lockPause = 5 * time.Millisecond
)

// Drainer empties a spool. Its methods must not be called concurrently.
type Drainer struct{ dir string }

// NewDrainer returns a drainer of the spool in dir, which need not exist.
func NewDrainer(dir string) *Drainer { return &Drainer{dir: dir} }

// Waiting reports whether there is something to drain, by checking the file that writers append to.
// It does not see files that were taken and not drained; Drain does.
func (d *Drainer) Waiting() bool {
	st, err := os.Lstat(filepath.Join(d.dir, newFile))
	return err == nil && st.Size() > 0
}

// Drain passes all entries to the callback, and returns how many it has accepted. If another
// process is draining, it does nothing. An error of the callback ends it, and the remaining entries
// stay.
func (d *Drainer) Drain(take func([]Entry) error) (n int, err error) {
	lock, err := d.lock()
	if lock == nil || err != nil {
		return 0, err
	}
	defer lock.Close()
	files, err := d.takeNew()
	if err != nil {
		return 0, fmt.Errorf("spool: %w", err)
	}
	for _, file := range files {
		m, err := d.drainFile(file, take)
		if n += m; err != nil {
			return n, fmt.Errorf("spool: %w", err)
		}
	}
	return n, nil
}

// lock makes this the active drainer until the file is closed. It is nil if another process is, or if there is no spool.
func (d *Drainer) lock() (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(d.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close() // the error at hand says more
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, fmt.Errorf("spool: lock: %w", err)
	}
	return lock, nil
}

// takeNew renames the file that writers append to, and returns all taken files, oldest first. A
// crash after the rename leaves a taken file, which the next drain finds.
func (d *Drainer) takeNew() (files []string, err error) {
	taken, err := numbers(d.dir)
	if err != nil {
		return nil, err
	}
	if d.Waiting() {
		next := after(taken)
		if err := os.Rename(filepath.Join(d.dir, newFile), d.taken(next)); err != nil {
			return nil, err
		}
		taken = append(taken, next)
	}
	for _, n := range taken {
		files = append(files, d.taken(n))
	}
	return files, nil
}

// taken returns the path of a taken file.
func (d *Drainer) taken(n int64) string {
	return filepath.Join(d.dir, strconv.FormatInt(n, 10)+takenSuffix)
}

// after returns the number that follows those of the taken files.
func after(taken []int64) int64 {
	if len(taken) == 0 {
		return 1
	}
	return taken[len(taken)-1] + 1
}

// numbers returns the numbers of the taken files, sorted.
func numbers(dir string) (all []int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if digits, ok := strings.CutSuffix(e.Name(), takenSuffix); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

func (d *Drainer) drainFile(path string, take func([]Entry) error) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	alone := false
	for try := range lockTries {
		if alone = flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil; alone || try == lockTries-1 {
			break
		}
		time.Sleep(lockPause)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	if !alone {
		// A writer was stopped while writing: complete entries are passed on, and the file stays
		// for what may follow. The next drain passes them again.
		b = b[:strings.LastIndexByte(string(b), '\n')+1]
	}
	entries, damaged := parse(b)
	for len(entries) > 0 {
		batch := entries[:batchLen(entries)]
		entries = entries[len(batch):]
		m, err := d.hand(batch, take)
		if n += m; err != nil {
			return n, err
		}
	}
	if !alone {
		return n, nil
	}
	for _, bytes := range damaged {
		if err := setAside(filepath.Join(d.dir, damagedFile), bytes); err != nil {
			return n, err
		}
	}
	// A crash before this line passes all entries again, and sets damaged ones aside again. No
	// other process removes the file, and no writer uses it.
	return n, os.Remove(path)
}

// hand passes a batch to the callback, without the entries that it refuses.
func (d *Drainer) hand(batch []Entry, take func([]Entry) error) (n int, err error) {
	batch = slices.Clone(batch)
	for len(batch) > 0 {
		err := take(batch)
		var refused *Refused
		switch {
		case err == nil:
			return n + len(batch), nil
		case !errors.As(err, &refused) || refused.Index < 0 || refused.Index >= len(batch):
			return n, err
		}
		frame, err := appendFrame(nil, batch[refused.Index])
		if err != nil {
			return n, err
		}
		reason := "# " + strings.ReplaceAll(refused.Err.Error(), "\n", " ")
		if err := setAside(filepath.Join(d.dir, refusedFile), append([]byte(reason), frame...)); err != nil {
			return n, err
		}
		batch = slices.Delete(batch, refused.Index, refused.Index+1)
	}
	return n, nil
}

func batchLen(entries []Entry) int {
	size := 0
	for i, e := range entries {
		if size += len(e.Data); i == maxBatch || size > maxBatchBytes && i > 0 {
			return i
		}
	}
	return len(entries)
}

// setAside appends to a file for inspection by people, and syncs it, because the original is
// removed next.
func setAside(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(slices.Clip(b), '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
