package wire

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compress compresses a record block as a producer would with this codec. Only rewritten batches
// need it, so nothing is kept for reuse.
func compress(codec int16, block []byte) ([]byte, error) {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case codecNone:
		return block, nil
	case codecGzip:
		w = gzip.NewWriter(&buf)
	case codecLZ4:
		w = lz4.NewWriter(&buf)
	case codecSnappy:
		return s2.EncodeSnappy(nil, block), nil
	case codecZstd:
		enc, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		w = enc
	default:
		return nil, fmt.Errorf("%w: codec %d", errUnpack, codec)
	}
	if _, err := w.Write(block); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return buf.Bytes(), nil
}
