package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The codecs of a record batch.
const (
	codecNone = iota
	codecGzip
	codecSnappy
	codecLZ4
	codecZstd
)

// maxUnpacked is the largest record block a batch may unpack to. A batch of a
// megabyte could unpack to gigabytes; no client means that.
const maxUnpacked = 128 << 20

var (
	errUnpack     = errors.New("the batch's records cannot be decompressed")
	errUnpackSize = errors.New("the batch's records are too large when decompressed")
)

// unpacker decompresses record blocks, a few at a time: what it may hold in
// memory is bounded, whatever the clients send.
type unpacker struct {
	max   int // bytes a block may unpack to
	slots chan struct{}
	gzip  sync.Pool // *gzip.Reader
	lz4   sync.Pool // *lz4.Reader
	zstd  *zstd.Decoder
	bufs  sync.Pool // *bytes.Buffer
}

var unpack = sync.OnceValue(func() *unpacker { return newUnpacker(maxUnpacked) })

func newUnpacker(limit int) *unpacker {
	u := &unpacker{max: limit, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	// Options that are constant and right cannot fail.
	u.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderConcurrency(0))
	u.bufs.New = func() any { return new(bytes.Buffer) }
	u.lz4.New = func() any { return lz4.NewReader(nil) }
	u.gzip.New = func() any { return new(gzip.Reader) }
	return u
}

// withRecords calls fn with the record block of b, decompressed. The block is
// only good during the call.
func withRecords(b batch, fn func(block []byte) error) error {
	if b.codec() == codecNone {
		return fn(b.records())
	}
	u := unpack()
	u.slots <- struct{}{}
	defer func() { <-u.slots }()
	buf := u.bufs.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= 8<<20 {
			u.bufs.Put(buf)
		}
	}()
	block, err := u.decompress(buf, b.codec(), b.records())
	if err != nil {
		return err
	}
	return fn(block)
}

func (u *unpacker) decompress(buf *bytes.Buffer, codec int16, src []byte) ([]byte, error) {
	switch codec {
	case codecGzip:
		r := u.gzip.Get().(*gzip.Reader)
		defer u.gzip.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", errUnpack, err)
		}
		return u.readAll(buf, r)
	case codecLZ4:
		r := u.lz4.Get().(*lz4.Reader)
		defer u.lz4.Put(r)
		r.Reset(bytes.NewReader(src))
		return u.readAll(buf, r)
	case codecZstd:
		buf.Grow(min(4*len(src), u.max))
		out, err := u.zstd.DecodeAll(src, buf.AvailableBuffer())
		switch {
		case errors.Is(err, zstd.ErrDecoderSizeExceeded), err == nil && len(out) > u.max:
			return nil, errUnpackSize
		case err != nil:
			return nil, fmt.Errorf("%w: zstd: %w", errUnpack, err)
		}
		return out, nil
	case codecSnappy:
		return u.unsnappy(buf, src)
	}
	return nil, fmt.Errorf("%w: codec %d", errUnpack, codec)
}

func (u *unpacker) readAll(buf *bytes.Buffer, r io.Reader) ([]byte, error) {
	n, err := io.Copy(buf, io.LimitReader(r, int64(u.max)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnpack, err)
	}
	if n > int64(u.max) {
		return nil, errUnpackSize
	}
	return buf.Bytes(), nil
}

var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

// unsnappy reads a plain snappy block, or the framing that Java clients put
// around several.
func (u *unpacker) unsnappy(buf *bytes.Buffer, src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) || len(src) < 16 {
		return u.appendSnappy(buf, src)
	}
	for src = src[16:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, fmt.Errorf("%w: snappy framing", errUnpack)
		}
		n := int(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > len(src) {
			return nil, fmt.Errorf("%w: snappy framing", errUnpack)
		}
		if _, err := u.appendSnappy(buf, src[:n]); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return buf.Bytes(), nil
}

func (u *unpacker) appendSnappy(buf *bytes.Buffer, src []byte) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, fmt.Errorf("%w: snappy: %w", errUnpack, err)
	}
	if buf.Len()+n > u.max {
		return nil, errUnpackSize
	}
	buf.Grow(n)
	out, err := s2.Decode(buf.AvailableBuffer()[:n], src)
	if err != nil {
		return nil, fmt.Errorf("%w: snappy: %w", errUnpack, err)
	}
	buf.Write(out)
	return buf.Bytes(), nil
}
