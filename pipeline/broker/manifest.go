package broker

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

// Pebble compares its tables with its manifest when it opens, but not its blob
// files: one that is missing is met when somebody reads it, or when a compaction
// does. And a directory without the marker that names the manifest it takes for a
// new one, and removes the files in it. So both are looked at here, before.

// checkStore says which blob file is missing, of the wrong size or unreadable.
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
	defer f.Close() // opened to read: there is nothing to lose
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open a blob file: %w", err)
	}
	if uint64(info.Size()) != size {
		return damaged("%s has %d bytes, and %d were written", name, info.Size(), size)
	}
	return nil
}

// errBlob says that a blob file is missing or damaged.
var errBlob = errors.New("the blob file is damaged")

// soundBlob reads the end of a blob file, where it is described. Its errors are not
// those that Pebble takes for damage.
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

// errOtherManifest says that a manifest is not what this program knows, or damaged:
// Pebble, which reads it again, has the say.
var errOtherManifest = errors.New("not a manifest that is known")

// liveBlobs are the sizes of the blob files that a manifest names, by number.
func liveBlobs(vf vfs.FS, name string) (map[uint64]uint64, error) {
	f, err := vf.Open(name, vfs.SequentialReadsOption)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged("%s is missing", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open the manifest: %w", err)
	}
	defer f.Close() // opened to read: there is nothing to lose
	live := map[uint64]uint64{}
	records := record.NewReader(f, 0)
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) || record.IsInvalidRecord(err) {
			return live, nil // its end, or what a crash has left of it
		}
		if err == nil {
			err = manifestEdit{bufio.NewReader(r)}.apply(live)
		}
		if record.IsInvalidRecord(err) {
			return live, nil
		}
		if err != nil {
			return nil, nil // damaged, or of another version: Pebble says so
		}
	}
}

// manifestEdit is a record of a manifest: fields, each behind its tag.
type manifestEdit struct{ r *bufio.Reader }

// The tags and what is behind them are Pebble's (VersionEdit): u is a number, b a
// string of bytes behind its length.
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

// apply adds the blob files of an edit to live, and removes what it deletes.
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

// table passes over a new table.
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
		case tableBlobs: // how deep, how many, then id and bytes of each
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
