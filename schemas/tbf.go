package schemas

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// TBF is the file format of a segment; tbf.md specifies every byte. This file holds the parts that
// need no data: the header, the region directory, the trailer, and the numbers of columns and kinds
// of regions.

// EmbeddingDim is the number of float32 values in an embedding.
const EmbeddingDim = 384

// These are the sizes and versions of TBF.
const (
	TBFMajor       = 1 // a reader refuses another major version
	TBFMinor       = 0 // a reader accepts any minor version
	TBFHeaderSize  = 128
	TBFEntrySize   = 32
	TBFTrailerSize = 64
	TBFAlign       = 64
)

// TBFMagic starts a file. Like PNG's signature it has a byte above 127, both line endings and an
// end-of-file character, so that a transfer in text mode is detected.
var TBFMagic = [8]byte{0x89, 'T', 'B', 'F', '\r', '\n', 0x1a, '\n'}

// TBFEndMagic ends a file.
var TBFEndMagic = [4]byte{'T', 'B', 'F', 'E'}

// The element types of the embedding region.
const (
	TBFFloat32 = 0
	// TBFPacked is that of checkpoints, which no other program reads: without the zeros
	// (projections/segment).
	TBFPacked = 1
)

// TBFUncompressed is the only compression: regions are read in place.
const TBFUncompressed = 0

// TBFSealed is the flag of an immutable segment. A file without it is a checkpoint of rows that are
// not sealed yet.
const TBFSealed = 1 << 0

// TBFKind says what a region holds for its column.
type TBFKind uint16

// These are the kinds of regions.
const (
	TBFData        TBFKind = 1 // values of fixed width, or bytes of strings
	TBFOffsets     TBFKind = 2 // int32 ends of strings in the column's TBFData, rows+1 of them
	TBFValidity    TBFKind = 3 // Arrow validity bitmap: bit set = present
	TBFIndex       TBFKind = 4 // int32 indices into the column's dictionary
	TBFList        TBFKind = 5 // int32 ends of lists in the child columns, rows+1 of them
	TBFDictOffsets TBFKind = 6 // int32 ends of the dictionary's strings
	TBFDictData    TBFKind = 7 // bytes of the dictionary's strings
)

var tbfKindNames = [...]string{"", "data", "offsets", "validity", "index", "list", "dictionary-offsets", "dictionary-data"}

func (k TBFKind) String() string {
	if int(k) < len(tbfKindNames) && k > 0 {
		return tbfKindNames[k]
	}
	return fmt.Sprintf("kind-%d", uint16(k))
}

// TBFColumn is the number of a column. Numbers are never reused.
type TBFColumn uint16

// These are the columns of an intent segment.
const (
	TBFID           TBFColumn = 1
	TBFOffset       TBFColumn = 2
	TBFTime         TBFColumn = 3
	TBFEventTime    TBFColumn = 4
	TBFCommand      TBFColumn = 5
	TBFStatedIntent TBFColumn = 6
	TBFOutputTail   TBFColumn = 7
	TBFWorkspace    TBFColumn = 8
	TBFCwd          TBFColumn = 9
	TBFSession      TBFColumn = 10
	TBFShell        TBFColumn = 11
	TBFUser         TBFColumn = 12
	TBFHost         TBFColumn = 13
	TBFAuthor       TBFColumn = 14
	TBFTemplate     TBFColumn = 15
	TBFGitHead      TBFColumn = 16
	TBFEmbedder     TBFColumn = 17
	TBFCategory     TBFColumn = 18
	TBFConfidence   TBFColumn = 19
	TBFComplexity   TBFColumn = 20
	TBFExitCode     TBFColumn = 21
	TBFDuration     TBFColumn = 22
	TBFContextHash  TBFColumn = 23
	TBFContentHash  TBFColumn = 24
	TBFParentID     TBFColumn = 25
	TBFPrograms     TBFColumn = 26
	TBFConcepts     TBFColumn = 27

	// Lists of structs: the list itself, then the fields of its items.
	TBFResources      TBFColumn = 32
	TBFResourceKind   TBFColumn = 33
	TBFResourceAccess TBFColumn = 34
	TBFResourceName   TBFColumn = 35
	TBFTokens         TBFColumn = 40
	TBFTokenKind      TBFColumn = 41
	TBFTokenOffset    TBFColumn = 42
	TBFTokenText      TBFColumn = 43

	TBFEmbedding TBFColumn = 48

	// Edges within the segment: from each row to the rows it led to (CSR), and from each row to the
	// rows that led to it (CSC).
	TBFCSR       TBFColumn = 64
	TBFCSRRow    TBFColumn = 65
	TBFCSRType   TBFColumn = 66
	TBFCSRWeight TBFColumn = 67
	TBFCSC       TBFColumn = 72
	TBFCSCRow    TBFColumn = 73
	TBFCSCType   TBFColumn = 74
	TBFCSCWeight TBFColumn = 75

	TBFBloom     TBFColumn = 96
	TBFIDOrder   TBFColumn = 97
	TBFTimeOrder TBFColumn = 98
	TBFTopic     TBFColumn = 99
)

var tbfColumnNames = map[TBFColumn]string{
	TBFID: "id", TBFOffset: "offset", TBFTime: "time", TBFEventTime: "event_time", TBFCommand: "command",
	TBFStatedIntent: "stated_intent", TBFOutputTail: "output_tail", TBFWorkspace: "workspace", TBFCwd: "cwd",
	TBFSession: "session", TBFShell: "shell", TBFUser: "user", TBFHost: "host", TBFAuthor: "author",
	TBFTemplate: "template", TBFGitHead: "git_head", TBFEmbedder: "embedder", TBFCategory: "category",
	TBFConfidence: "confidence", TBFComplexity: "complexity", TBFExitCode: "exit_code", TBFDuration: "duration",
	TBFContextHash: "context_hash", TBFContentHash: "content_hash", TBFParentID: "parent_id",
	TBFPrograms: "programs", TBFConcepts: "concepts",
	TBFResources: "resources", TBFResourceKind: "resources.kind", TBFResourceAccess: "resources.access", TBFResourceName: "resources.name",
	TBFTokens: "tokens", TBFTokenKind: "tokens.kind", TBFTokenOffset: "tokens.offset", TBFTokenText: "tokens.text",
	TBFEmbedding: "embedding",
	TBFCSR:       "csr", TBFCSRRow: "csr.row", TBFCSRType: "csr.type", TBFCSRWeight: "csr.weight",
	TBFCSC: "csc", TBFCSCRow: "csc.row", TBFCSCType: "csc.type", TBFCSCWeight: "csc.weight",
	TBFBloom: "bloom", TBFIDOrder: "id-order", TBFTimeOrder: "time-order", TBFTopic: "topic",
}

func (c TBFColumn) String() string {
	if s, ok := tbfColumnNames[c]; ok {
		return s
	}
	return fmt.Sprintf("column-%d", uint16(c))
}

// TBFEdgeParent is the type of an edge that the producer stated by naming the parent event. Its
// weight is 1.
const TBFEdgeParent = 1

// TBFHeader is the first 128 bytes of a file.
type TBFHeader struct {
	Major, Minor uint16
	Sequence     uint64 // of the segment in its shard, from 0
	Partition    int32
	Rows         uint32
	Edges        uint32
	Vectors      uint32 // distinct embeddings
	Dim          uint32
	DType        uint8
	Compression  uint8
	Flags        uint16
	Base         int64 // the segment accounts for every offset from Base up to Next
	Next         int64
	MinTime      int64 // of the time column, unix nanoseconds; 0 without rows
	MaxTime      int64
	Directory    uint64 // offset of the region directory
	Entries      uint32 // number of its entries
	Length       uint64 // of the file
	RowBytes     uint64 // the rows' size, as counted for sealing by size
}

// Put encodes the header and its checksum.
func (h TBFHeader) Put(b *[TBFHeaderSize]byte) {
	*b = [TBFHeaderSize]byte{}
	le := binary.LittleEndian
	copy(b[0:8], TBFMagic[:])
	le.PutUint16(b[8:], h.Major)
	le.PutUint16(b[10:], h.Minor)
	le.PutUint32(b[12:], TBFHeaderSize)
	le.PutUint64(b[16:], h.Sequence)
	le.PutUint32(b[24:], uint32(h.Partition))
	le.PutUint32(b[28:], h.Rows)
	le.PutUint32(b[32:], h.Edges)
	le.PutUint32(b[36:], h.Vectors)
	le.PutUint32(b[40:], h.Dim)
	b[44], b[45] = h.DType, h.Compression
	le.PutUint16(b[46:], h.Flags)
	le.PutUint64(b[48:], uint64(h.Base))
	le.PutUint64(b[56:], uint64(h.Next))
	le.PutUint64(b[64:], uint64(h.MinTime))
	le.PutUint64(b[72:], uint64(h.MaxTime))
	le.PutUint64(b[80:], h.Directory)
	le.PutUint32(b[88:], h.Entries)
	le.PutUint64(b[96:], h.Length)
	le.PutUint64(b[104:], h.RowBytes)
	le.PutUint32(b[124:], CRC32C(b[:124]))
}

// ParseTBFHeader decodes a header and checks everything that needs no other part of the file.
func ParseTBFHeader(b []byte) (TBFHeader, error) {
	le := binary.LittleEndian
	if len(b) < TBFHeaderSize {
		return TBFHeader{}, fmt.Errorf("header: %d bytes, want %d", len(b), TBFHeaderSize)
	}
	if [8]byte(b[:8]) != TBFMagic {
		return TBFHeader{}, fmt.Errorf("header: not a TBF file: it starts with % x", b[:8])
	}
	if got, want := CRC32C(b[:124]), le.Uint32(b[124:]); got != want {
		return TBFHeader{}, fmt.Errorf("header: checksum %08x, want %08x", got, want)
	}
	h := TBFHeader{
		Major: le.Uint16(b[8:]), Minor: le.Uint16(b[10:]), Sequence: le.Uint64(b[16:]), Partition: int32(le.Uint32(b[24:])),
		Rows: le.Uint32(b[28:]), Edges: le.Uint32(b[32:]), Vectors: le.Uint32(b[36:]), Dim: le.Uint32(b[40:]),
		DType: b[44], Compression: b[45], Flags: le.Uint16(b[46:]),
		Base: int64(le.Uint64(b[48:])), Next: int64(le.Uint64(b[56:])),
		MinTime: int64(le.Uint64(b[64:])), MaxTime: int64(le.Uint64(b[72:])),
		Directory: le.Uint64(b[80:]), Entries: le.Uint32(b[88:]), Length: le.Uint64(b[96:]), RowBytes: le.Uint64(b[104:]),
	}
	switch {
	case h.Major != TBFMajor:
		return h, fmt.Errorf("header: version %d.%d, this program reads %d", h.Major, h.Minor, TBFMajor)
	case le.Uint32(b[12:]) != TBFHeaderSize:
		return h, fmt.Errorf("header: size %d, want %d", le.Uint32(b[12:]), TBFHeaderSize)
	case h.Dim != EmbeddingDim || h.DType != TBFFloat32 && (h.DType != TBFPacked || h.Flags&TBFSealed != 0):
		return h, fmt.Errorf("header: embeddings of %d values of type %d, want %d of type %d", h.Dim, h.DType, EmbeddingDim, TBFFloat32)
	case h.Compression != TBFUncompressed:
		return h, fmt.Errorf("header: compression %d, want %d", h.Compression, TBFUncompressed)
	case h.Base < 0 || h.Next < h.Base || uint64(h.Rows) > uint64(h.Next-h.Base):
		return h, fmt.Errorf("header: %d rows from offset %d up to %d", h.Rows, h.Base, h.Next)
	}
	return h, nil
}

// TBFEntry is one region in the directory.
type TBFEntry struct {
	Kind   TBFKind
	Column TBFColumn
	Offset uint64
	Length uint64
	CRC    uint32 // CRC32C of the region's bytes
}

// Name returns the name of the region for messages, such as "command.offsets".
func (e TBFEntry) Name() string { return e.Column.String() + "." + e.Kind.String() }

// Put encodes the entry into 32 bytes.
func (e TBFEntry) Put(b []byte) {
	le := binary.LittleEndian
	clear(b[:TBFEntrySize])
	le.PutUint16(b[0:], uint16(e.Kind))
	le.PutUint16(b[2:], uint16(e.Column))
	le.PutUint64(b[8:], e.Offset)
	le.PutUint64(b[16:], e.Length)
	le.PutUint32(b[24:], e.CRC)
}

// ParseTBFEntry decodes 32 bytes.
func ParseTBFEntry(b []byte) TBFEntry {
	le := binary.LittleEndian
	return TBFEntry{
		Kind: TBFKind(le.Uint16(b[0:])), Column: TBFColumn(le.Uint16(b[2:])),
		Offset: le.Uint64(b[8:]), Length: le.Uint64(b[16:]), CRC: le.Uint32(b[24:]),
	}
}

// TBFTrailer is the last 64 bytes of a file.
type TBFTrailer struct {
	DirectoryCRC uint32
	// SHA256 is the hash of all bytes before the trailer.
	SHA256 Hash
	Length uint64 // of the file
}

// Put encodes the trailer and its checksum.
func (t TBFTrailer) Put(b *[TBFTrailerSize]byte) {
	*b = [TBFTrailerSize]byte{}
	le := binary.LittleEndian
	copy(b[0:32], t.SHA256[:])
	le.PutUint64(b[32:], t.Length)
	le.PutUint32(b[40:], t.DirectoryCRC)
	le.PutUint32(b[56:], CRC32C(b[:56]))
	copy(b[60:], TBFEndMagic[:])
}

// ParseTBFTrailer decodes the last 64 bytes of a file.
func ParseTBFTrailer(b []byte) (TBFTrailer, error) {
	le := binary.LittleEndian
	if len(b) != TBFTrailerSize || [4]byte(b[60:]) != TBFEndMagic {
		return TBFTrailer{}, fmt.Errorf("trailer: the end mark is missing: the file was cut or never finished")
	}
	if got, want := CRC32C(b[:56]), le.Uint32(b[56:]); got != want {
		return TBFTrailer{}, fmt.Errorf("trailer: checksum %08x, want %08x", got, want)
	}
	return TBFTrailer{SHA256: Hash(b[0:32]), Length: le.Uint64(b[32:]), DirectoryCRC: le.Uint32(b[40:])}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C returns the checksum that TBF uses.
func CRC32C(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// UpdateCRC32C extends the checksum crc by b.
func UpdateCRC32C(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }
