package storage

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// When it opens, Pebble compares its tables with its manifest, but not its blob files: a missing
// one is noticed only when it is read or compacted. Pebble also takes a directory without the
// marker that names the manifest for a new one, and removes the files in it. So both are checked
// here, before Pebble opens.

// checkStore returns an error about the first blob file that is missing, of the wrong size or
// unreadable.
func checkStore(vf vfs.FS, dir string) error {
	names, err := vf.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	manifest, data := "", ""
	last := uint64(0)
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, "marker.manifest."); ok {
			if n, target, ok := strings.Cut(rest, "."); ok {
				if at, err := strconv.ParseUint(n, 10, 64); err == nil && at >= last {
					manifest, last = target, at
				}
			}
		}
		if strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") {
			data = name
		}
	}
	if manifest == "" {
		if data != "" {
			return damaged("the file marker.manifest.* is missing in %s, beside %s", dir, data)
		}
		return nil
	}
	blobs, err := liveBlobs(vf, vf.PathJoin(dir, manifest))
	if err != nil {
		return err
	}
	for num, size := range blobs {
		if err := checkBlob(vf, vf.PathJoin(dir, fmt.Sprintf("%06d.blob", num)), size); err != nil {
			return err
		}
	}
	return nil
}

func checkBlob(vf vfs.FS, name string, size uint64) error {
	f, err := vf.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("%s is missing", name)
	}
	if err != nil {
		return fmt.Errorf("open a blob file: %w", err)
	}
	defer f.Close() // opened for reading: there is nothing to lose
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open a blob file: %w", err)
	}
	if uint64(info.Size()) != size {
		return damaged("%s has %d bytes, and %d were written", name, info.Size(), size)
	}
	return nil
}

// errBlob reports that a blob file is missing or damaged.
var errBlob = errors.New("the blob file is damaged")

// soundBlob checks the footer of a blob file. Its errors are not those that Pebble takes for
// damage.
func soundBlob(vf vfs.FS, name string) error {
	f, err := vf.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", errBlob, name)
	}
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := blob.NewFileReader(context.Background(), readable, blob.FileReaderOptions{})
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %s: %v", errBlob, name, err), readable.Close())
	}
	return r.Close()
}

// errOtherManifest reports a manifest that is damaged or of an unknown version. Pebble, which reads
// it again, reports the details.
var errOtherManifest = errors.New("not a known manifest")

// liveBlobs returns the sizes of the blob files that a manifest lists, by number.
func liveBlobs(vf vfs.FS, name string) (map[uint64]uint64, error) {
	f, err := vf.Open(name, vfs.SequentialReadsOption)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged("%s is missing", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open the manifest: %w", err)
	}
	defer f.Close() // opened for reading: there is nothing to lose
	live := map[uint64]uint64{}
	records := record.NewReader(f, 0)
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) || record.IsInvalidRecord(err) {
			return live, nil // the end, or an incomplete record left by a crash
		}
		if err == nil {
			err = manifestEdit{bufio.NewReader(r)}.apply(live)
		}
		if record.IsInvalidRecord(err) {
			return live, nil
		}
		if err != nil {
			return nil, nil // damaged or of another version: Pebble will report it
		}
	}
}

// manifestEdit is a record of a manifest: fields, each with a tag before it.
type manifestEdit struct{ r *bufio.Reader }

// manifestFields maps the tags of Pebble's VersionEdit to the format of their values: u is a
// number, b a byte string with its length before it.
var manifestFields = map[uint64]string{
	1: "b", 2: "u", 3: "u", 4: "u", 5: "ub", 6: "uu", 9: "u", // names, numbers, a table deleted
	105: "uu", 106: "u", // the file of a virtual table: new, removed
}

const (
	tagTable       = 103
	tagRangeTable  = 104
	tagBlob        = 107
	tagDeletedBlob = 108

	tableEnd, tableVirtual, tableBlobs = 1, 66, 69
)

// apply adds the blob files of an edit to live, and removes those that it deletes.
func (e manifestEdit) apply(live map[uint64]uint64) error {
	var deleted []uint64
	for {
		tag, err := binary.ReadUvarint(e.r)
		if errors.Is(err, io.EOF) {
			for _, num := range deleted {
				delete(live, num)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch tag {
		case tagTable, tagRangeTable:
			err = e.table(tag)
		case tagBlob: // id, number, size, size of its values, time
			var v []uint64
			if v, err = e.numbers(5); err == nil {
				live[v[1]] = v[2]
			}
		case tagDeletedBlob: // id, number
			var v []uint64
			if v, err = e.numbers(2); err == nil {
				deleted = append(deleted, v[1])
			}
		default:
			fields, ok := manifestFields[tag]
			if !ok {
				return errOtherManifest
			}
			err = e.skip(fields)
		}
		if err != nil {
			return err
		}
	}
}

// table skips a new table.
func (e manifestEdit) table(tag uint64) error {
	if err := e.skip("uuu"); err != nil { // level, number, size
		return err
	}
	bounds := "bb"
	if tag == tagRangeTable {
		marker, err := e.r.ReadByte()
		if err != nil {
			return err
		}
		if marker&1 != 0 {
			bounds = "bbbb"
		}
	}
	if err := e.skip(bounds + "uu"); err != nil {
		return err
	}
	for {
		custom, err := binary.ReadUvarint(e.r)
		if err != nil || custom == tableEnd {
			return err
		}
		switch custom {
		case tableVirtual:
			err = e.skip("u")
		case tableBlobs: // depth, count, then id and bytes of each
			var v []uint64
			if v, err = e.numbers(2); err == nil {
				for range v[1] {
					if err = e.skip("uu"); err != nil {
						break
					}
				}
			}
		default:
			err = e.skip("b")
		}
		if err != nil {
			return err
		}
	}
}

func (e manifestEdit) skip(fields string) error {
	for _, f := range fields {
		n, err := binary.ReadUvarint(e.r)
		if err != nil {
			return err
		}
		if f == 'b' {
			if _, err := io.CopyN(io.Discard, e.r, int64(min(n, 1<<40))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e manifestEdit) numbers(n int) ([]uint64, error) {
	v := make([]uint64, n)
	for i := range v {
		var err error
		if v[i], err = binary.ReadUvarint(e.r); err != nil {
			return nil, err
		}
	}
	return v, nil
}
