package prolly

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

const (
	storedRaw  = 0x00
	storedZstd = 0x01

	storedHeader = 1 + 8
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

// checksum covers the canonical form and the address it is stored under, so that
// a chunk in another's place is found out as well.
func checksum(h Hash, data []byte) uint64 {
	return xxh3.HashSeed(data, binary.LittleEndian.Uint64(h[:]))
}

// pack makes the stored form. What zstd does not make shorter stays as it is.
func (c *codec) pack(h Hash, data []byte) []byte {
	stored := make([]byte, storedHeader, storedHeader+len(data))
	binary.LittleEndian.PutUint64(stored[1:], checksum(h, data))
	stored[0] = storedZstd
	if stored = c.enc.EncodeAll(data, stored); len(stored) < storedHeader+len(data) {
		return stored
	}
	stored[0] = storedRaw
	return append(stored[:storedHeader], data...)
}

// unpack reads the stored form; what it returns may be a part of stored.
func (c *codec) unpack(h Hash, stored []byte) ([]byte, error) {
	if len(stored) < storedHeader {
		return nil, errShort
	}
	data := stored[storedHeader:]
	switch stored[0] {
	case storedRaw:
	case storedZstd:
		var err error
		if data, err = c.dec.DecodeAll(data, nil); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("stored form %#x is unknown", stored[0])
	}
	if checksum(h, data) != binary.LittleEndian.Uint64(stored[1:]) {
		return nil, errors.New("the checksum is wrong")
	}
	return data, nil
}
