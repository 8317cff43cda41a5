package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// pack compresses block in the forms that clients use for each codec.
func pack(t testing.TB, block []byte) map[int][]byte {
	t.Helper()
	packed := map[int][]byte{}
	for _, codec := range []int{codecGzip, codecSnappy, codecLZ4, codecZstd} {
		packed[codec] = packOne(t, codec, block)
	}
	return packed
}

func packOne(t testing.TB, codec int, block []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	var err error
	switch codec {
	case codecGzip:
		w = gzip.NewWriter(&buf)
	case codecLZ4:
		w = lz4.NewWriter(&buf)
	case codecZstd:
		w, err = zstd.NewWriter(&buf)
	default:
		return s2.EncodeSnappy(nil, block)
	}
	if err == nil {
		_, err = w.Write(block)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestDecompressionBomb checks that batches are refused if they unpack to more than the limit, and
// accepted if just below.
func TestDecompressionBomb(t *testing.T) {
	for codec, limit := range map[int]int{
		codecGzip: 1 << 20, codecSnappy: 1 << 20, codecLZ4: 1 << 20,
		codecZstd: 9 << 20, // above the window of a stream
	} {
		u := newUnpacker(limit, limit)
		if packed := packOne(t, codec, make([]byte, limit+1)); len(packed) > limit/10 {
			t.Errorf("codec %d: %d bytes are no bomb", codec, len(packed))
		} else if _, err := u.decompress(u.large, new(bytes.Buffer), int16(codec), packed); !errors.Is(err, errUnpackSize) {
			t.Errorf("codec %d, %d bytes: %v", codec, len(packed), err)
		}
		packed := packOne(t, codec, make([]byte, limit))
		if got, err := u.decompress(u.large, new(bytes.Buffer), int16(codec), packed); err != nil || len(got) != limit {
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
		got, err := unpack().decompress(unpack().large, new(bytes.Buffer), int16(codec), src)
		if err != nil || !bytes.Equal(got, block) {
			t.Errorf("codec %d: %d bytes, %v", codec, len(got), err)
		}
		if _, err := unpack().decompress(unpack().large, new(bytes.Buffer), int16(codec), src[:len(src)/2]); err == nil {
			t.Errorf("codec %d, cut in half: no error", codec)
		}
	}
	got, err := unpack().decompress(unpack().large, new(bytes.Buffer), codecSnappy, xerial)
	if err != nil || !bytes.Equal(got, block) {
		t.Errorf("framed snappy: %d bytes, %v", len(got), err)
	}
}

// TestBombsOfOneAddress checks that concurrent bombs are unpacked one at a time, and that after the
// first one the others of its address are refused unread, while small batches and other addresses
// continue.
func TestBombsOfOneAddress(t *testing.T) {
	const small, large = 1 << 20, 16 << 20
	u := newUnpacker(small, large)
	now := time.Unix(0, 0)
	b := NewUnpackLimiter()
	b.now = func() time.Time { return now }
	bomb := packOne(t, codecGzip, make([]byte, large+1))
	big := packOne(t, codecGzip, make([]byte, large))
	little := packOne(t, codecGzip, make([]byte, small))
	got := func(host string, src []byte) error {
		return u.with(Sender{b, host}, codecGzip, src, func([]byte) error { return nil })
	}
	if err := got("a", bomb); !errors.Is(err, errUnpackSize) {
		t.Errorf("a bomb: %v", err)
	}
	if err := got("a", bomb); !errors.Is(err, errUnpackPause) {
		t.Errorf("the next: %v", err)
	}
	if err := got("a", big); !errors.Is(err, errUnpackPause) {
		t.Errorf("a large batch of the same address: %v", err)
	}
	if err := got("a", little); err != nil {
		t.Errorf("a small one: %v", err)
	}
	if err := got("b", big); err != nil {
		t.Errorf("a large one of another address: %v", err)
	}
	if err := u.with(Sender{}, codecGzip, big, func([]byte) error { return nil }); err != nil {
		t.Errorf("the process's own: %v", err)
	}
	now = now.Add(unpackPause)
	if err := got("a", big); err != nil {
		t.Errorf("later: %v", err)
	}
}

// TestZstdThatDeclaresItsSize checks that a zstd frame that declares too large a size is not
// unpacked at all.
func TestZstdThatDeclaresItsSize(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll(make([]byte, 2<<20), nil) // with its size in the header
	u := newUnpacker(1<<20, 1<<20)
	u.large.zstd, u.small.zstd = nil, nil // so that unpacking panics
	if _, err := u.decompress(u.large, new(bytes.Buffer), codecZstd, packed); !errors.Is(err, errUnpackSize) {
		t.Errorf("got %v", err)
	}
}
