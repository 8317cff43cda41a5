package vector

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// CorruptError is damage in a file. Region is "header", "directory", "trailer", "padding", "file",
// or a region's tag with the number of its space, such as "like.0".
type CorruptError = sealed.CorruptError

func corrupt(path, region string, offset, length uint64, format string, args ...any) *CorruptError {
	return &CorruptError{Projection: Name, File: path, Region: region, Offset: offset, Length: length, Reason: fmt.Sprintf(format, args...)}
}

// The container format of all files; doc.go has the layout.
const (
	magic       = "RECOVEC1"
	headerSize  = 128
	entrySize   = 32
	trailerSize = 64
)

// fileKind is the kind of a file.
type fileKind uint32

const (
	kindStep fileKind = 1 + iota
	kindTail
	kindCodes
	kindLinks
)

// ofShard is the space of a region that belongs to the shard and not to a space.
const ofShard = ^uint32(0)

// Suffix of the steps, whose names begin with numbers, and the name of the checkpoint.
const (
	stepSuffix = ".step.vec"
	tailName   = "tail.vec"
)

func stepName(seq int) string { return fmt.Sprintf("%08d%s", seq, stepSuffix) }

// tag is the name of a region: four letters.
type tag [4]byte

func (t tag) String() string { return string(t[:]) }

var (
	tagParams    = tag{'p', 'a', 'r', 'a'}
	tagTopic     = tag{'t', 'o', 'p', 'c'}
	tagIDs       = tag{'i', 'd', 's', ' '}
	tagOffsets   = tag{'o', 'f', 'f', 's'}
	tagIndexes   = tag{'i', 'n', 'd', 'x'}
	tagParts     = tag{'p', 'r', 't', 's'}
	tagRows      = tag{'r', 'o', 'w', 's'}
	tagKeys      = tag{'k', 'e', 'y', 's'}
	tagFirst     = tag{'f', 'r', 's', 't'}
	tagGroups    = tag{'g', 'r', 'p', 's'}
	tagAudiences = tag{'a', 'u', 'd', 'i'}
	tagEmbedders = tag{'e', 'm', 'b', 'd'}
	tagName      = tag{'n', 'a', 'm', 'e'}
	tagContent   = tag{'c', 'o', 'n', 't'}
	tagLike      = tag{'l', 'i', 'k', 'e'}
	tagCosines   = tag{'c', 'o', 's', ' '}
	tagCodes     = tag{'c', 'o', 'd', 'e'}
	tagScales    = tag{'s', 'c', 'a', 'l'}
	tagVectors   = tag{'v', 'e', 'c', 's'}
	tagPacked    = tag{'p', 'v', 'e', 'c'}
	tagLinks     = tag{'l', 'i', 'n', 'k'}
)

// header identifies a file.
type header struct {
	kind      fileKind
	partition int32
	sequence  uint64
	space     uint32 // of codes and links
	base      int64
	next      int64
}

// region is a part of a file: its tag, the number of its space, its bytes in pieces.
type region struct {
	tag   tag
	space uint32
	parts [][]byte
}

func aligned(n uint64) uint64 { return (n + sealed.Align - 1) &^ (sealed.Align - 1) }

// writeFile writes a whole file to w.
func writeFile(w io.Writer, h header, regions []region) error {
	le := binary.LittleEndian
	directory := make([]byte, 0, len(regions)*entrySize)
	pos := uint64(headerSize)
	starts := make([]uint64, len(regions))
	for i, r := range regions {
		var n uint64
		var crc uint32
		for _, p := range r.parts {
			n += uint64(len(p))
			crc = schemas.UpdateCRC32C(crc, p)
		}
		pos = aligned(pos)
		starts[i] = pos
		directory = append(directory, r.tag[:]...)
		directory = le.AppendUint32(directory, r.space)
		directory = le.AppendUint64(directory, pos)
		directory = le.AppendUint64(directory, n)
		directory = le.AppendUint32(directory, crc)
		directory = le.AppendUint32(directory, 0)
		pos += n
	}
	directoryAt := aligned(pos)
	trailerAt := aligned(directoryAt + uint64(len(directory)))

	head := make([]byte, 0, headerSize)
	head = append(head, magic...)
	head = le.AppendUint32(head, Version)
	head = le.AppendUint32(head, uint32(h.kind))
	head = le.AppendUint64(head, h.sequence)
	head = le.AppendUint32(head, uint32(h.partition))
	head = le.AppendUint32(head, h.space)
	head = le.AppendUint64(head, uint64(h.base))
	head = le.AppendUint64(head, uint64(h.next))
	head = le.AppendUint64(head, directoryAt)
	head = le.AppendUint64(head, trailerAt+trailerSize)
	head = head[:headerSize-4]
	head = le.AppendUint32(head, schemas.CRC32C(head))

	out := sealed.NewHashing(w)
	out.Write(head)
	for i, r := range regions {
		out.PadTo(starts[i])
		for _, p := range r.parts {
			out.Write(p)
		}
	}
	out.PadTo(directoryAt)
	out.Write(directory)
	out.PadTo(trailerAt)
	if out.Err() != nil {
		return out.Err()
	}
	trailer := out.Sum(make([]byte, 0, trailerSize))
	trailer = le.AppendUint32(trailer, uint32(len(regions)))
	trailer = le.AppendUint32(trailer, schemas.CRC32C(directory))
	trailer = append(trailer[:trailerSize-12], magic...)
	trailer = le.AppendUint32(trailer, schemas.CRC32C(trailer))
	out.Write(trailer)
	return out.Err()
}

// file is a file open for reading in place, whose regions' checksums have been verified, except for
// those that openFile left out.
type file struct {
	path    string
	data    []byte
	release func() error
	header
	regions map[regionKey]regionData
}

// regionKey names a region: its tag and its space, or ofShard.
type regionKey struct {
	tag   tag
	space uint32
}

// regionData is where a region begins in the file, and its bytes.
type regionData struct {
	offset uint64
	b      []byte
}

// openFile maps a file and checks all of it except the padding and the regions with the tags of
// unread.
func openFile(path string, unread ...tag) (*file, error) {
	data, release, err := sealed.Map(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, data: data, release: release}
	if err := f.parse(unread...); err != nil {
		_ = release()
		return nil, err
	}
	return f, nil
}

func (f *file) close() { _ = f.release() }

func closeAll(files []*file) {
	for _, f := range files {
		f.close()
	}
}

// parse reads header, trailer and directory, and checks every region but those with the tags of
// unread.
func (f *file) parse(unread ...tag) *CorruptError {
	le := binary.LittleEndian
	size := uint64(len(f.data))
	if size < headerSize+trailerSize {
		return corrupt(f.path, "header", 0, size, "the file is too short")
	}
	h := f.data[:headerSize]
	badHeader := func(format string, args ...any) *CorruptError {
		return corrupt(f.path, "header", 0, headerSize, format, args...)
	}
	if string(h[:8]) != magic {
		return badHeader("it begins with %x, want %x", h[:8], magic)
	}
	if got, want := schemas.CRC32C(h[:headerSize-4]), le.Uint32(h[headerSize-4:]); got != want {
		return badHeader("checksum %08x, want %08x", got, want)
	}
	if v := le.Uint32(h[8:]); v != Version {
		return badHeader("version %d, this program reads %d", v, Version)
	}
	f.header = header{
		kind: fileKind(le.Uint32(h[12:])), sequence: le.Uint64(h[16:]), partition: int32(le.Uint32(h[24:])), space: le.Uint32(h[28:]),
		base: int64(le.Uint64(h[32:])), next: int64(le.Uint64(h[40:])),
	}
	directoryAt, length := le.Uint64(h[48:]), le.Uint64(h[56:])
	if length != size {
		return badHeader("the file has %d bytes, the header says %d", size, length)
	}
	trailerAt := size - trailerSize
	t := f.data[trailerAt:]
	badTrailer := func(format string, args ...any) *CorruptError {
		return corrupt(f.path, "trailer", trailerAt, trailerSize, format, args...)
	}
	if got, want := schemas.CRC32C(t[:trailerSize-4]), le.Uint32(t[trailerSize-4:]); got != want {
		return badTrailer("checksum %08x, want %08x", got, want)
	}
	if got := string(t[trailerSize-12 : trailerSize-4]); got != magic {
		return badTrailer("it ends with %x, want %x", got, magic)
	}
	n := uint64(le.Uint32(t[32:])) * entrySize
	if directoryAt < headerSize || directoryAt > trailerAt || n > trailerAt-directoryAt {
		return corrupt(f.path, "directory", directoryAt, n, "outside of the file's %d bytes", size)
	}
	directory := f.data[directoryAt : directoryAt+n]
	if got, want := schemas.CRC32C(directory), le.Uint32(t[36:]); got != want {
		return corrupt(f.path, "directory", directoryAt, n, "checksum %08x, want %08x", got, want)
	}
	f.regions = map[regionKey]regionData{}
	end := uint64(headerSize)
	for ; len(directory) > 0; directory = directory[entrySize:] {
		at := regionKey{tag(directory[:4]), le.Uint32(directory[4:])}
		off, n, crc := le.Uint64(directory[8:]), le.Uint64(directory[16:]), le.Uint32(directory[24:])
		if off%sealed.Align != 0 || off < end || off > directoryAt || n > directoryAt-off {
			return corrupt(f.path, at.String(), off, n, "not in its place between %d and %d", end, directoryAt)
		}
		end = off + n
		if _, twice := f.regions[at]; twice {
			return corrupt(f.path, at.String(), off, n, "in the directory twice")
		}
		b := f.data[off:end:end]
		if slices.Contains(unread, at.tag) {
			// checked later
		} else if got := schemas.CRC32C(b); got != crc {
			return corrupt(f.path, at.String(), off, n, "checksum %08x, want %08x", got, crc)
		}
		f.regions[at] = regionData{off, b}
	}
	return nil
}

func (p regionKey) String() string { return fmt.Sprintf("%s.%d", p.tag, p.space) }

// hash returns the SHA-256 of the file's current bytes.
func (f *file) hash() schemas.Hash { return sha256.Sum256(f.data) }

// get returns a region's bytes.
func (f *file) get(t tag, space uint32) ([]byte, error) {
	r, ok := f.regions[regionKey{t, space}]
	if !ok {
		return nil, corrupt(f.path, regionKey{t, space}.String(), 0, 0, "missing from the directory")
	}
	return r.b, nil
}

// array returns a region as elements of T, in place.
func array[T sealed.Fixed](f *file, t tag, space uint32) ([]T, error) {
	b, err := f.get(t, space)
	if err != nil {
		return nil, err
	}
	a, ok := sealed.ViewOf[T](b)
	if !ok {
		return nil, f.wrong(t, space, "not a whole number of values")
	}
	return a, nil
}

// wrong returns an error about the content of a region.
func (f *file) wrong(t tag, space uint32, format string, args ...any) error {
	r := f.regions[regionKey{t, space}]
	return corrupt(f.path, regionKey{t, space}.String(), r.offset, uint64(len(r.b)), format, args...)
}
