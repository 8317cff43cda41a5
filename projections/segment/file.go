package segment

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// CorruptError is damage in a file. Region is "header", "directory", "trailer", "padding", "file",
// or a column and kind such as "command.data".
type CorruptError = sealed.CorruptError

func corrupt(path, region string, offset, length uint64, format string, args ...any) *CorruptError {
	return &CorruptError{Projection: Name, File: path, Region: region, Offset: offset, Length: length, Reason: fmt.Sprintf(format, args...)}
}

// file is a TBF file open for reading in place.
//
// Opening checks the header, the trailer and the directory, and that every region lies inside the
// file, so it takes the same short time for any size. The content of regions is checked on first
// use, once each: rows, embeddings and the Bloom filter separately.
type file struct {
	path    string
	data    []byte
	release func() error
	h       schemas.TBFHeader
	trailer schemas.TBFTrailer
	entries []schemas.TBFEntry

	cols columns
	idx  index

	bloomOnce, rowsOnce, vectorsOnce sync.Once
	bloomErr, rowsErr, vectorsErr    error
}

// openFile opens a file of the shard tp.
func openFile(path string, tp schemas.TopicPartition) (*file, error) {
	data, release, err := sealed.Map(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, data: data, release: release}
	err = f.parse()
	if err == nil {
		err = f.belongs(tp)
	}
	if err != nil {
		_ = release()
		return nil, err
	}
	return f, nil
}

func (f *file) close() error { return f.release() }

// parse reads header, trailer and directory and binds the regions to columns.
func (f *file) parse() error {
	size := uint64(len(f.data))
	bad := func(region string, off, n uint64, format string, args ...any) error {
		return corrupt(f.path, region, off, n, format, args...)
	}
	h, err := schemas.ParseTBFHeader(f.data)
	if err != nil {
		return bad("header", 0, schemas.TBFHeaderSize, "%s", err)
	}
	if h.Length != size {
		return bad("header", 0, schemas.TBFHeaderSize, "the file has %d bytes, the header says %d", size, h.Length)
	}
	if size < schemas.TBFHeaderSize+schemas.TBFTrailerSize {
		return bad("trailer", 0, size, "the file is too short")
	}
	trailerAt := size - schemas.TBFTrailerSize
	if f.trailer, err = schemas.ParseTBFTrailer(f.data[trailerAt:]); err != nil {
		return bad("trailer", trailerAt, schemas.TBFTrailerSize, "%s", err)
	}
	if f.trailer.Length != size {
		return bad("trailer", trailerAt, schemas.TBFTrailerSize, "the file has %d bytes, the trailer says %d", size, f.trailer.Length)
	}
	n := uint64(h.Entries) * schemas.TBFEntrySize
	if h.Directory < schemas.TBFHeaderSize || h.Directory > trailerAt || n > trailerAt-h.Directory {
		return bad("directory", h.Directory, n, "outside of the file's %d bytes", size)
	}
	directory := f.data[h.Directory : h.Directory+n]
	if got := schemas.CRC32C(directory); got != f.trailer.DirectoryCRC {
		return bad("directory", h.Directory, n, "checksum %08x, want %08x", got, f.trailer.DirectoryCRC)
	}
	type key struct {
		kind   schemas.TBFKind
		column schemas.TBFColumn
	}
	entries := map[key]schemas.TBFEntry{}
	end := uint64(schemas.TBFHeaderSize)
	for i := range uint64(h.Entries) {
		e := schemas.ParseTBFEntry(directory[i*schemas.TBFEntrySize:])
		if e.Offset%schemas.TBFAlign != 0 || e.Offset < end || e.Offset > h.Directory || e.Length > h.Directory-e.Offset {
			return bad(e.Name(), e.Offset, e.Length, "not in its place between %d and %d", end, h.Directory)
		}
		end = e.Offset + e.Length
		if _, twice := entries[key{e.Kind, e.Column}]; twice {
			return bad(e.Name(), e.Offset, e.Length, "in the directory twice")
		}
		entries[key{e.Kind, e.Column}] = e
		f.entries = append(f.entries, e)
	}
	f.h = h
	f.cols.n, f.cols.minTime, f.cols.maxTime = int(h.Rows), h.MinTime, h.MaxTime
	for _, r := range regions(&f.cols, &f.idx, h.DType) {
		e, ok := entries[key{r.kind, r.column}]
		if !ok {
			return bad(schemas.TBFEntry{Kind: r.kind, Column: r.column}.Name(), 0, 0, "missing from the directory")
		}
		if !r.set(f.data[e.Offset : e.Offset+e.Length : e.Offset+e.Length]) {
			return bad(e.Name(), e.Offset, e.Length, "not a whole number of values")
		}
	}
	return nil
}

// belongs checks that the file is one of the shard's.
func (f *file) belongs(tp schemas.TopicPartition) error {
	if err := f.verify(func(e schemas.TBFEntry) bool { return e.Column == schemas.TBFTopic }); err != nil {
		return err
	}
	if got := (schemas.TopicPartition{Topic: string(f.idx.topic), Partition: f.h.Partition}); got != tp {
		return corrupt(f.path, "header", 0, schemas.TBFHeaderSize, "it is a file of %s, not of %s", got, tp)
	}
	return nil
}

// verify compares the checksums of the chosen regions.
func (f *file) verify(which func(schemas.TBFEntry) bool) error {
	for _, e := range f.entries {
		if !which(e) {
			continue
		}
		if c := f.checksum(e); c != nil {
			return c
		}
	}
	return nil
}

// checksum compares the checksum of a region and returns nil if it matches.
func (f *file) checksum(e schemas.TBFEntry) *CorruptError {
	got := schemas.CRC32C(f.data[e.Offset : e.Offset+e.Length])
	if got == e.CRC {
		return nil
	}
	return corrupt(f.path, e.Name(), e.Offset, e.Length, "checksum %08x, want %08x", got, e.CRC)
}

func isVectors(e schemas.TBFEntry) bool {
	return e.Column == schemas.TBFEmbedding && e.Kind == schemas.TBFData
}

// bloom returns the file's Bloom filter, checked.
func (f *file) bloom() ([]byte, error) {
	f.bloomOnce.Do(func() {
		f.bloomErr = f.verify(func(e schemas.TBFEntry) bool { return e.Column == schemas.TBFBloom })
		if want := sealed.BloomBytes(f.cols.n); f.bloomErr == nil && len(f.idx.bloom) != want {
			f.bloomErr = corrupt(f.path, "bloom.data", 0, uint64(len(f.idx.bloom)), "want %d bytes", want)
		}
	})
	return f.idx.bloom, f.bloomErr
}

// rows returns the file's columns and index, all checked except the embeddings.
func (f *file) rows() (*columns, *index, error) {
	f.rowsOnce.Do(func() {
		f.rowsErr = f.verify(func(e schemas.TBFEntry) bool { return !isVectors(e) })
		if f.rowsErr != nil {
			return
		}
		if column, err := check(&f.cols, &f.idx, f.h); err != nil {
			f.rowsErr = f.inconsistent(column, err)
		}
	})
	return &f.cols, &f.idx, f.rowsErr
}

// vectors checks the embeddings, which then may be read through the columns.
func (f *file) vectors() error {
	f.vectorsOnce.Do(func() { f.vectorsErr = f.verify(isVectors) })
	return f.vectorsErr
}

// inconsistent returns an error of check as damage at the column's place in the file.
func (f *file) inconsistent(column schemas.TBFColumn, err error) *CorruptError {
	for _, e := range f.entries {
		if e.Column == column {
			return corrupt(f.path, column.String(), e.Offset, e.Length, "%s", err)
		}
	}
	return corrupt(f.path, column.String(), 0, uint64(len(f.data)), "%s", err)
}

// hash returns the SHA-256 of the file's current bytes.
func (f *file) hash() schemas.Hash { return sha256.Sum256(f.data) }
