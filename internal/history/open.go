package history

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow limits the memory that a compressed history may require.
const maxWindow = 64 << 20

// Open returns the text of a history, which may be compressed by gzip, bzip2 or zstd. Any other
// binary file is an error.
func Open(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return textOf(gzip.NewReader(b))
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 3 && head[3] >= '1' && head[3] <= '9':
		return textOf(bzip2.NewReader(b), nil)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, err
		}
		return textOf(z.IOReadCloser(), nil)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return nil, errors.New("compressed with xz, which is not supported: run xz -dc FILE > PLAIN, and import PLAIN")
	}
	return textOf(b, nil)
}

// textOf returns an error if the first bytes are not text. A crash leaves NUL bytes in the files of
// shells, but no other control characters, and never many.
func textOf(r io.Reader, err error) (io.Reader, error) {
	if err != nil {
		return nil, err
	}
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(32 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("damaged, or not a history: %w", err)
	}
	control := 0
	for _, c := range head {
		// zsh writes bytes from 0x80 on as 0x83 and another byte; a typed escape is rare.
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0 {
			control++
		}
	}
	if control > 8 && control*50 > len(head) {
		return nil, errors.New("binary: want text")
	}
	return b, nil
}
