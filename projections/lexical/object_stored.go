package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/schemas"
)

// partEntry identifies a document: a part of an object.
type partEntry struct {
	offset int64  // of the event
	sum    uint64 // of the lengths of the audience's documents up to this one
	hash   uint64 // content hash of the passage
	index  uint32 // of the object in its event
	part   uint32 // index of the part in the object
	parts  uint32 // number of the object's parts
}

const (
	entryBytes      = 36
	entriesPerBlock = 128
)

func (e partEntry) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
	b = binary.LittleEndian.AppendUint64(b, e.sum)
	b = binary.LittleEndian.AppendUint64(b, e.hash)
	b = binary.LittleEndian.AppendUint32(b, e.index)
	b = binary.LittleEndian.AppendUint32(b, e.part)
	return binary.LittleEndian.AppendUint32(b, e.parts)
}

// entries is a block of encoded entries.
type entries []byte

func (b entries) len() int { return len(b) / entryBytes }

// Version and Size implement bm25.Cached.
func (b entries) Version() int { return len(b) }
func (b entries) Size() int    { return len(b) }

func (b entries) at(i int) partEntry {
	v := b[i*entryBytes:]
	return partEntry{
		offset: int64(binary.LittleEndian.Uint64(v)), sum: binary.LittleEndian.Uint64(v[8:]), hash: binary.LittleEndian.Uint64(v[16:]),
		index: binary.LittleEndian.Uint32(v[24:]), part: binary.LittleEndian.Uint32(v[28:]), parts: binary.LittleEndian.Uint32(v[32:]),
	}
}

// checkEntries returns an error if b cannot be the entries of the documents from first on.
func checkEntries(b entries, first uint32) error {
	if len(b)%entryBytes != 0 || b.len() > entriesPerBlock {
		return fmt.Errorf("entries of parts: %d bytes", len(b))
	}
	var before partEntry
	for i := range b.len() {
		e := b.at(i)
		if e.offset < 0 || e.part >= e.parts || e.part > first+uint32(i) ||
			i > 0 && (e.offset < before.offset || e.sum <= before.sum || e.offset == before.offset && e.index < before.index) {
			return errors.New("entries of parts are nonsense")
		}
		before = e
	}
	return nil
}

// placed is the documents of the parts of an object.
type placed struct {
	index    uint32 // of the object in its event
	audience uint32 // its number
	first    uint32 // first document
	parts    uint32
}

func (p placed) append(b []byte) []byte {
	for _, v := range [...]uint32{p.index, p.audience, p.first, p.parts} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

func decodePlaced(b []byte) ([]placed, error) {
	r := reader{b: b}
	var all []placed
	for len(r.b) > 0 {
		var v [4]uint64
		for i := range v {
			if v[i] = r.uvarint(); v[i] > math.MaxUint32 {
				return nil, errors.New("objects of an event are nonsense")
			}
		}
		p := placed{uint32(v[0]), uint32(v[1]), uint32(v[2]), uint32(v[3])}
		if r.failed || p.parts == 0 || len(all) > 0 && p.index <= all[len(all)-1].index {
			return nil, errors.New("objects of an event are nonsense")
		}
		all = append(all, p)
	}
	return all, nil
}

// The keys of objects follow; shard is the key form of package store.

// collectionOf returns the number of an audience's collection, which follow those of the fields of
// commands.
func collectionOf(audience uint32) uint32 { return fields + audience }

func appendEntriesKey(b, shard []byte, audience, n uint32) []byte {
	b = binary.BigEndian.AppendUint32(append(append(b, kindEntries), shard...), audience)
	return binary.BigEndian.AppendUint32(b, n)
}

func appendAudienceKey(b, shard []byte, id schemas.AudienceID) []byte {
	return append(append(append(b, kindAudience), shard...), id[:]...)
}

func appendPlacedKey(b, shard []byte, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kindPlaced), shard...), uint64(offset))
}

func appendCallKey(b, shard []byte, call callID) []byte {
	return append(binary.BigEndian.AppendUint32(append(append(b, kindCall), shard...), call.audience), call.id[:]...)
}
