package segment

import (
	"io"
	"iter"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// writeTBF writes a whole file to w. In h the caller sets the fields that identify the segment;
// writeTBF fills in counts and places. The embeddings of a checkpoint stay packed.
func writeTBF(w io.Writer, h schemas.TBFHeader, c *columns, x *index) error {
	h.DType = schemas.TBFFloat32
	if h.Flags&schemas.TBFSealed == 0 {
		h.DType = schemas.TBFPacked
	}
	rs := regions(c, x, h.DType)
	entries := make([]schemas.TBFEntry, len(rs))
	pos := uint64(schemas.TBFHeaderSize)
	parts := make([]iter.Seq[[]byte], len(rs))
	for i, r := range rs {
		parts[i] = r.get()
		var n uint64
		var crc uint32
		for p := range parts[i] {
			n += uint64(len(p))
			crc = schemas.UpdateCRC32C(crc, p)
		}
		pos = aligned(pos)
		entries[i] = schemas.TBFEntry{Kind: r.kind, Column: r.column, Offset: pos, Length: n, CRC: crc}
		pos += n
	}
	h.Major, h.Minor = schemas.TBFMajor, schemas.TBFMinor
	h.Dim, h.Compression = schemas.EmbeddingDim, schemas.TBFUncompressed
	h.Rows, h.Edges, h.Vectors = uint32(c.n), uint32(len(x.csr.row)), uint32(c.vectors.n)
	h.MinTime, h.MaxTime = c.minTime, c.maxTime
	h.Directory, h.Entries = aligned(pos), uint32(len(rs))
	trailerAt := aligned(h.Directory + uint64(len(rs))*schemas.TBFEntrySize)
	h.Length = trailerAt + schemas.TBFTrailerSize

	directory := make([]byte, len(rs)*schemas.TBFEntrySize)
	for i, e := range entries {
		e.Put(directory[i*schemas.TBFEntrySize:])
	}
	out := sealed.NewHashing(w)
	var header [schemas.TBFHeaderSize]byte
	h.Put(&header)
	out.Write(header[:])
	for i, e := range entries {
		out.PadTo(e.Offset)
		for p := range parts[i] {
			out.Write(p)
		}
	}
	out.PadTo(h.Directory)
	out.Write(directory)
	out.PadTo(trailerAt)
	if out.Err() != nil {
		return out.Err()
	}
	t := schemas.TBFTrailer{DirectoryCRC: schemas.CRC32C(directory), SHA256: schemas.Hash(out.Sum(nil)), Length: h.Length}
	var trailer [schemas.TBFTrailerSize]byte
	t.Put(&trailer)
	out.Write(trailer[:])
	return out.Err()
}

func aligned(n uint64) uint64 { return (n + schemas.TBFAlign - 1) &^ (schemas.TBFAlign - 1) }

// storeTBF puts a segment in place under its name in one step. Only a checkpoint, whose whole
// content is checked before it is used, need not be durable.
func storeTBF(d sealed.Disk, dir, name string, durable bool, h schemas.TBFHeader, c *columns, x *index) error {
	return sealed.Replace(d, dir, name, durable, func(w io.Writer) error { return writeTBF(w, h, c, x) })
}
