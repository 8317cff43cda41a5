package schemas

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
})

// Compress returns content as one zstd frame. Equal content gives equal frames with one version of
// the library, but not across versions, so no hash may be taken over a frame.
func Compress(content []byte) []byte {
	enc, err := encoder()
	if err != nil {
		panic(fmt.Sprintf("zstd encoder: %v", err)) // the options above are constant
	}
	return enc.EncodeAll(content, nil)
}

// Decompress reads one zstd frame whose content is limited to limit bytes.
func Decompress(frame []byte, limit int) ([]byte, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	out, err := dec.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("zstd frame of %d bytes: %w", len(frame), err)
	}
	return out, nil
}
