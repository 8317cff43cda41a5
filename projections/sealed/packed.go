package sealed

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// packedMagic begins a file that ReplacePacked wrote. It is zstd's magic number.
var packedMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxPacked bounds the decompressed size of a packed file, which is a checkpoint of state that fits
// in memory.
const maxPacked = 4 << 30

// unpackBlock is the size of the blocks in which a packed file is decompressed.
const unpackBlock = 1 << 20

// ReplacePacked is Replace with compression, for a file that is read once and not in place. Map
// decompresses it.
func ReplacePacked(d Disk, dir, name string, durable bool, write func(io.Writer) error) error {
	return Replace(d, dir, name, durable, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			return err
		}
		return errors.Join(write(z), z.Close())
	})
}

// unpack returns the content of a file that may be packed, with the function that releases it.
func unpack(projection, path string, data []byte, release func() error) ([]byte, func() error, error) {
	if !bytes.HasPrefix(data, packedMagic) {
		return data, release, nil
	}
	out, err := unpacked(data)
	if err != nil {
		err = &CorruptError{Projection: projection, File: path, Region: "packed", Length: uint64(len(data)), Reason: err.Error()}
	}
	if err = errors.Join(err, release()); err != nil {
		return nil, nil, err
	}
	return out, func() error { return nil }, nil
}

func unpacked(data []byte) ([]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	// The size is not known before the end. Blocks instead of one growing buffer: that would be copied
	// over and over, and its earlier versions would double the memory.
	content := io.LimitReader(z, maxPacked)
	var blocks [][]byte
	size := 0
	for err == nil {
		block := make([]byte, 0, unpackBlock)
		for err == nil && len(block) < unpackBlock {
			var n int
			n, err = content.Read(block[len(block):unpackBlock])
			block = block[:len(block)+n]
		}
		blocks = append(blocks, block)
		size += len(block)
	}
	if !errors.Is(err, io.EOF) { // a file that ends early is another error
		return nil, err
	}
	out := Bytes(size)[:0] // aligned, since regions are read in place
	for _, block := range blocks {
		out = append(out, block...)
	}
	return out, nil
}
