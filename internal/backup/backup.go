// Package backup keeps copies of a set of files in a directory. Contents that are already there are
// not copied again, and the directory always holds the newest complete copy, even if a later one
// failed.
//
//	<dir>/MANIFEST.json     the parts of the copy: each file's path, size and SHA-256
//	<dir>/objects/<sha256>  the contents
//	<dir>/LOCK              held by the writer
//
// The manifest is put in place by a rename when all its contents are on disk, and only then
// unreferenced contents are removed. After a crash before the rename the directory holds the
// previous copy with some unused objects; after a crash later, the new copy likewise.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	manifestFile = "MANIFEST.json"
	objectsDir   = "objects"
	lockFile     = "LOCK"
	tempPrefix   = ".new-"
	format       = 1
)

// Manifest lists the parts of a copy.
type Manifest struct {
	Format int `json:"format"`
	// Of identifies the source of the files: a directory holds copies of one source only.
	Of   string    `json:"of"`
	Made time.Time `json:"made"`
	// Ends is a lower bound of the log's end.
	Ends  string `json:"ends"`
	Files []File `json:"files"`
	// Sum is the SHA-256 of the manifest with an empty Sum.
	Sum string `json:"sum"`
}

// File is one file of a copy.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Modified is the modification time of the source file: if it and the size are unchanged, the
	// file is assumed to be unchanged.
	Modified time.Time `json:"modified"`
}

func (m Manifest) sum() (string, error) {
	m.Sum = ""
	b, err := json.Marshal(m)
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

// Bytes returns the total size of the files.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Read reads the manifest of a directory. The error is fs.ErrNotExist if there is none.
func Read(dir string) (m Manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %s is damaged: %w", dir, manifestFile, err)
	}
	if m.Format > format {
		return m, fmt.Errorf("%s: format %d is newer than this program's %d: use a newer recount", dir, m.Format, format)
	}
	if sum, err := m.sum(); err != nil || sum != m.Sum {
		return m, fmt.Errorf("%s: %s is damaged: its checksum does not match", dir, manifestFile)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(f.Path) || len(f.SHA256) != 64 || strings.Trim(f.SHA256, "0123456789abcdef") != "" {
			return m, fmt.Errorf("%s: %s has an invalid file entry: %q %q", dir, manifestFile, f.Path, f.SHA256)
		}
	}
	return m, nil
}

// Writer writes a copy. It must be closed.
type Writer struct {
	dir  string
	lock *os.File
	old  map[string]File
	next Manifest
	// Copied is the number of bytes that were not there before.
	Copied int64
}

// Begin begins a copy in dir, which must be empty, missing, or hold copies of the same source.
func Begin(dir, of string) (_ *Writer, err error) {
	switch had, err := Read(dir); {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.Name() != lockFile && e.Name() != objectsDir {
				return nil, fmt.Errorf("%s: contains %s but no backup: name an empty or new folder", dir, e.Name())
			}
		}
	case err != nil:
		return nil, fmt.Errorf("%w: name another folder, or remove this one", err)
	case had.Of != of:
		return nil, fmt.Errorf("%s: contains a backup of another log (%s): name another folder", dir, had.Of)
	}
	if err := os.MkdirAll(filepath.Join(dir, objectsDir), 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("%s: another backup to this folder is running: wait for it", dir)
		}
		return nil, errors.Join(err, lock.Close())
	}
	w := &Writer{dir: dir, lock: lock, old: map[string]File{}, next: Manifest{Format: format, Of: of}}
	// This is done under the lock: a copy may have been finished in the meantime.
	if had, err := Read(dir); err == nil {
		for _, f := range had.Files {
			w.old[f.Path] = f
		}
	}
	return w, nil
}

// Add adds a file under a path; told is called with the numbers of bytes processed.
func (w *Writer) Add(ctx context.Context, path, from string, told func(int64)) (err error) {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if had, ok := w.old[path]; ok && had.Size == info.Size() && had.Modified.Equal(info.ModTime()) && w.holds(had) {
		w.next.Files = append(w.next.Files, had)
		told(had.Size)
		return nil
	}
	tmp, err := os.CreateTemp(filepath.Join(w.dir, objectsDir), tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(tmp, h), io.LimitReader(following{ctx, f, told}, info.Size()))
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", path, err)
	}
	if size != info.Size() {
		err = fmt.Errorf("copy %s: it has %d bytes, but had %d", path, size, info.Size())
		return err
	}
	file := File{Path: path, Size: size, SHA256: hex.EncodeToString(h.Sum(nil)), Modified: info.ModTime().UTC()}
	if err = os.Rename(tmp.Name(), w.object(file)); err != nil {
		return err
	}
	w.Copied += size
	w.next.Files = append(w.next.Files, file)
	return nil
}

func (w *Writer) object(f File) string { return object(w.dir, f) }

func object(dir string, f File) string { return filepath.Join(dir, objectsDir, f.SHA256) }

// holds reports whether a file's content is there; Verify checks that it is intact.
func (w *Writer) holds(f File) bool {
	info, err := os.Stat(w.object(f))
	return err == nil && info.Size() == f.Size
}

// Finish makes the added files the copy that the directory holds.
func (w *Writer) Finish(made time.Time, ends string) (Manifest, error) {
	m := w.next
	m.Made, m.Ends = made.UTC().Round(0), ends
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var err error
	if m.Sum, err = m.sum(); err != nil {
		return m, err
	}
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return m, err
	}
	if err := syncDir(filepath.Join(w.dir, objectsDir)); err != nil {
		return m, err
	}
	tmp := filepath.Join(w.dir, manifestFile+".new")
	if err := writeSynced(tmp, b); err != nil {
		return m, err
	}
	if err := os.Rename(tmp, filepath.Join(w.dir, manifestFile)); err != nil {
		return m, err
	}
	if err := errors.Join(syncDir(w.dir), syncDir(filepath.Dir(w.dir))); err != nil {
		return m, err
	}
	return m, w.sweep(m)
}

// sweep removes contents that the copy does not need.
func (w *Writer) sweep(m Manifest) error {
	needed := map[string]bool{}
	for _, f := range m.Files {
		needed[f.SHA256] = true
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, objectsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !needed[e.Name()] {
			if err := os.Remove(filepath.Join(w.dir, objectsDir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close releases the lock.
func (w *Writer) Close() error { return w.lock.Close() }

// Verify reads the copy in dir, and returns an error for each part that is not as it was written.
func Verify(ctx context.Context, dir string, told func(int64)) (Manifest, []error, error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: not a finished backup: %s is missing", dir, manifestFile)
	}
	if err != nil {
		return m, nil, err
	}
	var wrong []error
	for _, f := range m.Files {
		if err := copyFile(ctx, dir, f, io.Discard, told); err != nil {
			if ctx.Err() != nil {
				return m, wrong, err
			}
			wrong = append(wrong, err)
		}
	}
	return m, wrong, nil
}

// Extract writes the copy in dir into to, which must exist. It reads only what the manifest lists,
// and fails if a content is not as it was written.
func Extract(ctx context.Context, dir, to string, told func(int64)) (Manifest, error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: not a finished backup: %s is missing", dir, manifestFile)
	}
	if err != nil {
		return m, err
	}
	folders := map[string]bool{to: true}
	for _, f := range m.Files {
		path := filepath.Join(to, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return m, err
		}
		folders[filepath.Dir(path)] = true
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return m, err
		}
		err = copyFile(ctx, dir, f, out, told)
		if err == nil {
			err = out.Sync()
		}
		if err := errors.Join(err, out.Close()); err != nil {
			return m, err
		}
	}
	for folder := range folders {
		if err := syncDir(folder); err != nil {
			return m, err
		}
	}
	return m, nil
}

// copyFile copies one file of a copy, and fails if its content is not as it was written.
func copyFile(ctx context.Context, dir string, f File, to io.Writer, told func(int64)) (err error) {
	in, err := os.Open(object(dir, f))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, h), following{ctx, in, told})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	case size != f.Size:
		return fmt.Errorf("%s: %d bytes, but had %d", f.Path, size, f.Size)
	case hex.EncodeToString(h.Sum(nil)) != f.SHA256:
		return fmt.Errorf("%s: its bytes differ from those that were written", f.Path)
	}
	return nil
}

// following reads until the context ends, and reports the number of bytes.
type following struct {
	ctx  context.Context
	r    io.Reader
	told func(int64)
}

func (f following) Read(b []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.r.Read(b)
	f.told(int64(n))
	return n, err
}

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
