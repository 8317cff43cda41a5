package commits

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/schemas"
)

// State is what an importer knows about one repository on one log, in a directory of its own. It is
// a cache of what need not be appended again; without it everything is appended again with the same
// ids. Each file is written after the log has acknowledged the events it describes, so that after a
// crash it may be behind the log, never ahead.
//
//	state.json  what is recorded: see saved
//	refs.json   the last known commit of each ref
//	seen        32 bytes per content: 16 of its key, its size, its verdict, zeroes, and a
//	            CRC-32C over these; a torn record is ignored
//	lock        held by the running import
type State struct {
	dir  string
	lock *os.File
	saved
	refs map[string]knownRef
	seen map[seenKey]seenContent
	file *os.File // the file seen, open for appending
}

// saved is the content of state.json.
type saved struct {
	Version int `json:"version"`
	// Log is the data directory's id: the cache is not valid for another one.
	Log        string `json:"log"`
	Repository string `json:"repository"`
	// Path is the path of the last import.
	Path string `json:"path"`
	// Roots are the first commits that were seen.
	Roots []string `json:"roots"`
	// Base is the commit whose files are all on the log; BaseDone means that its event is, too.
	Base     string `json:"base"`
	BaseDone bool   `json:"base_done"`
	// Heads and all their ancestors are recorded.
	Heads []string `json:"heads"`
	// Shallow was the border of the clone at that time.
	Shallow []string `json:"shallow,omitempty"`
	// Lacking are those of Heads that were recorded without content, because the clone lacked
	// trees.
	Lacking []string `json:"lacking,omitempty"`
	// WorkingTree is the last recorded state of the working tree.
	WorkingTree string `json:"working_tree,omitempty"`
	// Last is the position of the newest event.
	Last *schemas.Position `json:"last,omitempty"`
	// Mark distinguishes that event from those of other logs at its position (Log.Mark). It is ""
	// if the import was interrupted before it was read.
	Mark string `json:"mark,omitempty"`
}

const stateVersion = 1

// knownRef is the last known commit of a ref, and the number of its recorded moves.
type knownRef struct {
	Commit string `json:"commit"`
	Target string `json:"target,omitempty"`
	Moves  int64  `json:"moves"`
}

// seenKey is the first half of a SHA-256 over a blob's id and how it is read.
type seenKey [16]byte

type seenContent struct {
	size    int64
	verdict verdict
}

var notPlain = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// BusyError means that another import of the repository is running.
type BusyError struct{ Repository string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s: another import of it is running: wait for it", e.Repository)
}

// OpenState opens the state of a repository below dir for this process alone. If another process
// has it, OpenState waits until the context ends. log is the id of the log's data directory.
func OpenState(ctx context.Context, dir, log, repository string) (s *State, err error) {
	sum := schemas.NewCanon("recount/import/git/state/1").String(log).String(repository).Sum()
	name := notPlain.ReplaceAllString(repository, "_")
	s = &State{dir: filepath.Join(dir, name[:min(len(name), 80)]+"-"+sum.String()[:16])}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("state of imports: %w", err)
	}
	if s.lock, err = os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("state of imports: %w", err)
	}
	for {
		err = unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&BusyError{repository}, s.lock.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("state of imports: lock: %w", err), s.lock.Close())
	}
	s.load(log, repository)
	return s, nil
}

// Wait acquires a lock below dir that one process holds at a time, until it calls leave; taken
// means that another process holds it.
func Wait(dir, name string) (leave func(), taken bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, fmt.Errorf("state of imports: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("state of imports: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, true, f.Close()
	}
	if err != nil {
		return nil, false, errors.Join(fmt.Errorf("state of imports: lock: %w", err), f.Close())
	}
	var once sync.Once
	return func() { once.Do(func() { _ = f.Close() }) }, false, nil
}

// load reads the files; missing or damaged ones count as never written.
func (s *State) load(log, repository string) {
	fresh := saved{Version: stateVersion, Log: log, Repository: repository}
	b, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
	if err != nil || json.Unmarshal(b, &s.saved) != nil || s.Version != stateVersion || s.saved.Log != log || s.Repository != repository {
		s.saved = fresh
		s.Forget()
		return
	}
	b, err = os.ReadFile(filepath.Join(s.dir, "refs.json"))
	if err != nil || json.Unmarshal(b, &s.refs) != nil || s.refs == nil {
		s.refs = map[string]knownRef{}
	}
	s.seen = readSeen(filepath.Join(s.dir, "seen"))
}

// Known reports whether anything of the repository was imported before.
func (s *State) Known() bool { return s.Base != "" }

// LastPosition returns the position of the newest event that was appended, if any. A log that ends
// before it is not the log of this state.
func (s *State) LastPosition() *schemas.Position { return s.Last }

// OfLog reports whether the log still contains what this state describes: mark is the log's mark at
// LastPosition, "" if there is no record.
func (s *State) OfLog(mark string) bool { return mark != "" && (s.Mark == "" || s.Mark == mark) }

// SetMark stores the mark of the newest event after a complete import.
func (s *State) SetMark(markOf func(schemas.Position) (string, error)) error {
	b, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was recorded
	}
	var now saved
	if err == nil {
		err = json.Unmarshal(b, &now)
	}
	if err != nil {
		return fmt.Errorf("state of imports: %w", err)
	}
	if now.Last == nil || now.Mark != "" {
		return nil
	}
	if now.Mark, err = markOf(*now.Last); err != nil {
		return err
	}
	return s.write("state.json", now)
}

// Forget resets the state, as if nothing was imported.
func (s *State) Forget() {
	s.saved = saved{Version: stateVersion, Log: s.saved.Log, Repository: s.Repository}
	s.refs, s.seen = map[string]knownRef{}, map[seenKey]seenContent{}
	_ = os.Remove(filepath.Join(s.dir, "seen")) // it may not exist
}

// Close releases the state for others. After a failed import it must be opened again, because its
// content in memory is ahead of the log.
func (s *State) Close() error {
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	return errors.Join(err, s.lock.Close())
}

// saveRefs writes refs.json.
func (s *State) saveRefs() error { return s.write("refs.json", s.refs) }

func (s *State) write(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, name)
	// It is not synced: after a crash the cache may be behind, or unreadable and therefore ignored.
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		return fmt.Errorf("state of imports: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("state of imports: %w", err)
	}
	return nil
}

const seenBytes = 32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func readSeen(file string) map[seenKey]seenContent {
	seen := map[seenKey]seenContent{}
	f, err := os.Open(file)
	if err != nil {
		return seen
	}
	defer f.Close()
	var b [seenBytes]byte
	for r := bufio.NewReader(f); ; {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return seen
		}
		if binary.LittleEndian.Uint32(b[28:]) == crc32.Checksum(b[:28], castagnoli) {
			seen[seenKey(b[:16])] = seenContent{int64(binary.LittleEndian.Uint64(b[16:])), verdict(b[24])}
		}
	}
}

// seenNow is a content that was just seen.
type seenNow struct {
	seenKey
	seenContent
}

// saveSeen stores contents that are now on the log, or skipped for good.
func (s *State) saveSeen(contents []seenNow) error {
	if len(contents) == 0 {
		return nil
	}
	if s.file == nil {
		file := filepath.Join(s.dir, "seen")
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fmt.Errorf("state of imports: %w", err)
		}
		// A torn record at the end would shift later ones.
		end, err := f.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = f.Seek(end-end%seenBytes, io.SeekStart)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("state of imports: %w", err), f.Close())
		}
		s.file = f
	}
	out := make([]byte, 0, len(contents)*seenBytes)
	for _, c := range contents {
		var b [seenBytes]byte
		copy(b[:], c.seenKey[:])
		binary.LittleEndian.PutUint64(b[16:], uint64(c.size))
		b[24] = byte(c.verdict)
		binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b[:28], castagnoli))
		out = append(out, b[:]...)
	}
	if _, err := s.file.Write(out); err != nil {
		return fmt.Errorf("state of imports: %w", err)
	}
	return nil
}
