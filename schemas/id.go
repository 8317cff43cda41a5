package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Hash is a SHA-256, used as a root or as the address of content.
type Hash [32]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in lower-case hex.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads lower- or upper-case hex.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 2*len(h) {
		return fmt.Errorf("hash %q: want %d hexadecimal digits", b, 2*len(h))
	}
	if _, err := hex.Decode(h[:], b); err != nil {
		return fmt.Errorf("hash %q: not hexadecimal", b)
	}
	return nil
}

// EventID identifies an event: 16 bytes, written as a UUID.
type EventID [16]byte

// String returns the id in UUID text form.
func (id EventID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], id[0:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:36], id[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// MarshalText returns the id in UUID text form.
func (id EventID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the UUID text form.
func (id *EventID) UnmarshalText(b []byte) error {
	parsed, err := ParseEventID(string(b))
	if err == nil {
		*id = parsed
	}
	return err
}

// IsZero reports whether id is the zero id, which is never assigned to an event.
func (id EventID) IsZero() bool { return id == EventID{} }

// ParseEventID reads a UUID of any version, with hyphens.
func ParseEventID(s string) (EventID, error) {
	var id EventID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, fmt.Errorf("event id %q: want a UUID, such as 018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55", s)
	}
	packed := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(id[:], []byte(packed)); err != nil {
		return EventID{}, fmt.Errorf("event id %q: not hexadecimal", s)
	}
	return id, nil
}

// EventIDFromBytes returns the id stored in a record; it fails unless b has 16 bytes.
func EventIDFromBytes(b []byte) (EventID, error) {
	if len(b) != 16 {
		return EventID{}, fmt.Errorf("event id: %d bytes, want 16", len(b))
	}
	return EventID(b), nil
}

// Canon builds the canonical encoding that Recount hashes: a domain tag, then each field as its
// length (uint64, little-endian) and its bytes, so that two different sequences of fields never
// have the same encoding. An integer is a field of eight little-endian bytes.
type Canon struct {
	// Short encodings, the common case, are hashed in one call from this array on the stack.
	room [256]byte
	n    int
	h    hash.Hash // holds everything before the content of room, if it did not fit
}

// NewCanon starts an encoding under a domain tag, such as "recount/event/1".
func NewCanon(domain string) *Canon {
	c := &Canon{}
	return c.String(domain)
}

// Bytes appends b as a field.
func (c *Canon) Bytes(b []byte) *Canon {
	if !c.fits(len(b)) {
		c.h.Write(b)
		return c
	}
	c.n += copy(c.room[c.n:], b)
	return c
}

// String appends s as a field.
func (c *Canon) String(s string) *Canon {
	if !c.fits(len(s)) {
		c.h.Write([]byte(s))
		return c
	}
	c.n += copy(c.room[c.n:], s)
	return c
}

// Int appends v as an integer field.
func (c *Canon) Int(v int64) *Canon {
	c.fits(8)
	binary.LittleEndian.PutUint64(c.room[c.n:], uint64(v))
	c.n += 8
	return c
}

// fits appends the length of a field and reports whether its bytes fit into room. If not, all
// previous bytes were written to h.
func (c *Canon) fits(length int) bool {
	const lengthBytes = 8
	if c.n+lengthBytes+length > len(c.room) {
		c.spill()
	}
	binary.LittleEndian.PutUint64(c.room[c.n:], uint64(length))
	c.n += lengthBytes
	if c.n+length > len(c.room) {
		c.spill()
		return false
	}
	return true
}

func (c *Canon) spill() {
	if c.h == nil {
		c.h = sha256.New()
	}
	c.h.Write(bytes.Clone(c.room[:c.n])) // a copy, or every Canon would escape to the heap
	c.n = 0
}

// Sum returns the hash of all fields so far.
func (c *Canon) Sum() Hash {
	if c.h == nil {
		return sha256.Sum256(c.room[:c.n])
	}
	c.spill()
	return Hash(c.h.Sum(nil))
}

// ID returns the first 16 bytes of Sum as a UUIDv8 (RFC 9562 §5.8).
func (c *Canon) ID() EventID {
	sum := c.Sum()
	id := EventID(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}
