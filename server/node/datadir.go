package node

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/schemas"
)

// dataFormat is the version of the data directory's layout as a whole. The parts have versions of
// their own and are rebuilt if those differ; this number rises only for a log that an older program
// cannot read.
const dataFormat = 1

const (
	identityFile  = "recount.json"
	endpointsFile = datadir.EndpointsFile
)

// identity is the content of recount.json, which makes a folder a data directory.
type identity struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
}

// dataDir is a data directory that this process has locked.
type dataDir struct {
	path string
	identity
	lock *os.File
}

// InUseError reports that another process uses the data directory.
type InUseError struct {
	Dir string
	// PID and HTTP describe the other process, if endpoints.json names it.
	PID  int
	HTTP string
}

func (e *InUseError) Error() string {
	s := fmt.Sprintf("data directory %s: in use by another process", e.Dir)
	if e.PID != 0 {
		s += fmt.Sprintf(" (pid %d", e.PID)
		if e.HTTP != "" {
			s += ", serving " + e.HTTP
		}
		s += ")"
	}
	return s + "; one process per data directory: recount stop ends a server there, --data-dir names another directory"
}

// openDataDir creates the folder if needed, locks it for this process, makes it private and checks
// that this program can read its format.
func openDataDir(path string, log *slog.Logger) (*dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data directory %q: %w", path, err)
	}
	// 0700, because commands and their output are private.
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	d := &dataDir{path: abs}
	if d.lock, err = lock(abs); err != nil {
		return nil, err
	}
	if err := makePrivate(abs, log); err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.identify(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func lock(dir string) (*os.File, error) {
	f, err := datadir.Lock(dir)
	if errors.Is(err, datadir.ErrInUse) {
		in := &InUseError{Dir: dir}
		if e, err := ReadEndpoints(dir); err == nil {
			in.PID, in.HTTP = e.PID, e.HTTP
		}
		return nil, in
	}
	return f, err
}

// identify reads recount.json, or writes it in a new directory.
func (d *dataDir) identify() error {
	path := filepath.Join(d.path, identityFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var id [8]byte
		rand.Read(id[:]) // never fails
		d.identity = identity{Format: dataFormat, ID: hex.EncodeToString(id[:])}
		b, err := json.Marshal(d.identity)
		if err != nil {
			return err
		}
		// A crash before this leaves an empty directory, a crash after it a complete one.
		return writeFile(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := json.Unmarshal(b, &d.identity); err != nil || d.Format < 1 || d.ID == "" {
		return schemas.Fatalf("data directory %s: %s is damaged; it should hold %s", d.path, identityFile, `{"format":1,"id":"…"}`)
	}
	if d.Format > dataFormat {
		return schemas.Fatalf("data directory %s: format %d is newer than this program's %d: use a newer recount, or another --data-dir", d.path, d.Format, dataFormat)
	}
	return nil
}

// close releases the directory. The end of the process releases the lock in any case.
func (d *dataDir) close() error { return d.lock.Close() }

// Endpoints is the content of endpoints.json: the addresses of a running node.
type Endpoints = datadir.Endpoints

// ReadEndpoints reads the endpoints of the node that uses a data directory. After a crash the file
// may be out of date; use datadir.Running to find out.
func ReadEndpoints(dataDir string) (Endpoints, error) { return datadir.ReadEndpoints(dataDir) }

func (d *dataDir) writeEndpoints(e Endpoints) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(d.path, endpointsFile), append(b, '\n'), 0o600)
}

func (d *dataDir) removeEndpoints() error {
	err := os.Remove(filepath.Join(d.path, endpointsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writeFile replaces a file atomically: a crash leaves the old or the new one.
func writeFile(path string, b []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = func() error {
		if err := f.Chmod(mode); err != nil {
			return err
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
		return f.Sync()
	}()
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
