package prolly

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// The stored form of a chunk: a checksum, how the rest is stored, and the rest.
const (
	storedForm = 8 // where the form is
	storedRest = 9

	formRaw  = 0x00
	formZstd = 0x01
)

// codec makes stored forms of chunks and reads them. It is used by many
// goroutines at once.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() *codec {
	// Neither fails with options that are right.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(MaxChunk), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithNoEntropyCompression(true))
	if err != nil {
		panic(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxChunk), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err)
	}
	return &codec{enc, dec}
}

// checksum covers what comes after it, and by its seed the address, so that a chunk in
// another's place is found out as well.
func checksum(h Hash, stored []byte) uint64 {
	return xxh3.HashSeed(stored[storedForm:], binary.LittleEndian.Uint64(h[:]))
}

// pack makes the stored form; room is scratch, returned for the next call. What zstd
// does not make shorter stays as it is.
func (c *codec) pack(h Hash, data, room []byte) (stored, scratch []byte) {
	room = append(room[:0], make([]byte, storedRest)...)
	room[storedForm] = formZstd
	if room = c.enc.EncodeAll(data, room); len(room) >= storedRest+len(data) {
		room = append(room[:storedRest], data...)
		room[storedForm] = formRaw
	}
	binary.LittleEndian.PutUint64(room, checksum(h, room))
	return bytes.Clone(room), room
}

// unpack reads the stored form; what it returns may be a part of stored.
func (c *codec) unpack(h Hash, stored []byte) ([]byte, error) {
	if len(stored) < storedRest {
		return nil, errShort
	}
	if checksum(h, stored) != binary.LittleEndian.Uint64(stored) {
		return nil, errors.New("the checksum is wrong")
	}
	switch stored[storedForm] {
	case formRaw:
		return stored[storedRest:], nil
	case formZstd:
		return c.dec.DecodeAll(stored[storedRest:], nil)
	}
	return nil, fmt.Errorf("form %#x is unknown", stored[storedForm])
}
