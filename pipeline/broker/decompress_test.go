package broker

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// pack compresses block as each codec's clients do.
func pack(t testing.TB, block []byte) map[int][]byte {
	t.Helper()
	packed := map[int][]byte{}
	write := func(codec int, open func(io.Writer) io.WriteCloser) {
		var buf bytes.Buffer
		w := open(&buf)
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		packed[codec] = buf.Bytes()
	}
	write(codecGzip, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	write(codecLZ4, func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) })
	write(codecZstd, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
	packed[codecSnappy] = s2.EncodeSnappy(nil, block)
	return packed
}

// A few bytes that unpack to more than anyone means are refused, and what is
// just allowed is not.
func TestDecompressionBomb(t *testing.T) {
	const limit = 9 << 20 // above the window of a zstd stream
	u := newUnpacker(limit)
	for codec, packed := range pack(t, make([]byte, limit+1)) {
		if _, err := u.decompress(new(bytes.Buffer), int16(codec), packed); !errors.Is(err, errUnpackSize) {
			t.Errorf("codec %d, %d bytes: %v", codec, len(packed), err)
		}
	}
	for codec, packed := range pack(t, make([]byte, limit)) {
		if got, err := u.decompress(new(bytes.Buffer), int16(codec), packed); err != nil || len(got) != limit {
			t.Errorf("codec %d, %d bytes: %d, %v", codec, len(packed), len(got), err)
		}
	}
}

func TestDecompress(t *testing.T) {
	block := bytes.Repeat([]byte("what is packed comes back "), 10_000)
	packed := pack(t, block)
	// The framing of Java's snappy: a header, then blocks with their length.
	xerial := append(append([]byte(nil), xerialMagic...), 0, 0, 0, 1, 0, 0, 0, 1)
	for part := block; len(part) > 0; {
		n := min(len(part), 32<<10)
		s := s2.EncodeSnappy(nil, part[:n])
		xerial = append(binary.BigEndian.AppendUint32(xerial, uint32(len(s))), s...)
		part = part[n:]
	}
	for codec, src := range packed {
		got, err := unpack().decompress(new(bytes.Buffer), int16(codec), src)
		if err != nil || !bytes.Equal(got, block) {
			t.Errorf("codec %d: %d bytes, %v", codec, len(got), err)
		}
		if _, err := unpack().decompress(new(bytes.Buffer), int16(codec), src[:len(src)/2]); err == nil {
			t.Errorf("codec %d, cut in half: no error", codec)
		}
	}
	got, err := unpack().decompress(new(bytes.Buffer), codecSnappy, xerial)
	if err != nil || !bytes.Equal(got, block) {
		t.Errorf("framed snappy: %d bytes, %v", len(got), err)
	}
}
