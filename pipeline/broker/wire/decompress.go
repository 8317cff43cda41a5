package wire

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

// maxUnpacked is the maximum decompressed size of a batch's records. A batch of a megabyte could
// unpack to gigabytes, which no honest client sends.
const maxUnpacked = 128 << 20

// smallUnpacked is the decompressed size up to which as many batches are unpacked at once as there
// are processors. Larger ones are unpacked one at a time, in one buffer, so that all together need
// maxUnpacked and a few times smallUnpacked of memory, whatever clients send.
const smallUnpacked = 8 << 20

// unpackSlack is how far a decoder may write beyond the limit before it notices: a block of zstd
// has at most 128 KiB.
const unpackSlack = 256 << 10

var (
	errUnpack     = errors.New("the batch's records cannot be decompressed")
	errUnpackSize = errors.New("the batch's records are too large when decompressed")
)

// unpacker decompresses record blocks with limited concurrency, so that its memory is bounded
// whatever clients send.
type unpacker struct {
	small, large *tier
	gzip         sync.Pool // *gzip.Reader
	lz4          sync.Pool // *lz4.Reader
}

// tier unpacks blocks up to a maximum size.
type tier struct {
	max   int // maximum decompressed size of a block
	slots chan struct{}
	zstd  *zstd.Decoder
	bufs  sync.Pool // *bytes.Buffer
}

var unpack = sync.OnceValue(func() *unpacker { return newUnpacker(smallUnpacked, maxUnpacked) })

func newUnpacker(small, large int) *unpacker {
	u := &unpacker{small: newTier(small, runtime.GOMAXPROCS(0)), large: newTier(large, 1)}
	u.small.bufs.New = func() any { return new(bytes.Buffer) }
	// The buffer is allocated at full size, because growing it would need as much memory again.
	// Unused pages take no memory.
	u.large.bufs.New = func() any { return bytes.NewBuffer(make([]byte, 0, large+unpackSlack)) }
	u.lz4.New = func() any { return lz4.NewReader(nil) }
	u.gzip.New = func() any { return new(gzip.Reader) }
	return u
}

func newTier(limit, slots int) *tier {
	t := &tier{max: limit, slots: make(chan struct{}, slots)}
	// NewReader cannot fail with these constant options.
	t.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderConcurrency(slots))
	return t
}

// withRecords calls fn with the record block of b, decompressed. The block is valid only during the
// call.
func withRecords(b Batch, fn func(block []byte) error) error {
	return withRecordsOf(Sender{}, b, fn)
}

// withRecordsOf is withRecords for a batch that a client has just sent.
func withRecordsOf(from Sender, b Batch, fn func(block []byte) error) error {
	if b.codec() == codecNone {
		return fn(b.Records())
	}
	return unpack().with(from, b.codec(), b.Records(), fn)
}

func (u *unpacker) with(from Sender, codec int16, src []byte, fn func(block []byte) error) error {
	err := u.within(u.small, codec, src, fn)
	if !errors.Is(err, errUnpackSize) {
		return err
	}
	u.large.slots <- struct{}{} // waiting goroutines hold no memory
	defer func() { <-u.large.slots }()
	if !from.limiter.allows(from.host) {
		return errUnpackPause
	}
	err = u.unpackTo(u.large, codec, src, fn)
	if errors.Is(err, errUnpackSize) {
		from.limiter.note(from.host)
	}
	return err
}

// within unpacks once a slot of the tier is free.
func (u *unpacker) within(t *tier, codec int16, src []byte, fn func(block []byte) error) error {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	return u.unpackTo(t, codec, src, fn)
}

func (u *unpacker) unpackTo(t *tier, codec int16, src []byte, fn func(block []byte) error) error {
	buf := t.bufs.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= t.max+unpackSlack {
			t.bufs.Put(buf)
		}
	}()
	block, err := u.decompress(t, buf, codec, src)
	if err != nil {
		return err
	}
	return fn(block)
}

func (u *unpacker) decompress(t *tier, buf *bytes.Buffer, codec int16, src []byte) ([]byte, error) {
	switch codec {
	case codecGzip:
		r := u.gzip.Get().(*gzip.Reader)
		defer u.gzip.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", errUnpack, err)
		}
		return t.readAll(buf, r)
	case codecLZ4:
		r := u.lz4.Get().(*lz4.Reader)
		defer u.lz4.Put(r)
		r.Reset(bytes.NewReader(src))
		return t.readAll(buf, r)
	case codecZstd:
		return t.unzstd(buf, src)
	case codecSnappy:
		return t.unsnappy(buf, src)
	}
	return nil, fmt.Errorf("%w: codec %d", errUnpack, codec)
}

func (t *tier) unzstd(buf *bytes.Buffer, src []byte) ([]byte, error) {
	var h zstd.Header
	if h.Decode(src) == nil && h.HasFCS && h.FrameContentSize > uint64(t.max) {
		return nil, errUnpackSize // the declared size is too large, so nothing is unpacked
	}
	buf.Grow(min(4*len(src), t.max))
	out, err := t.zstd.DecodeAll(src, buf.AvailableBuffer())
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded), err == nil && len(out) > t.max:
		return nil, errUnpackSize
	case err != nil:
		return nil, fmt.Errorf("%w: zstd: %w", errUnpack, err)
	}
	return out, nil
}

func (t *tier) readAll(buf *bytes.Buffer, r io.Reader) ([]byte, error) {
	n, err := io.Copy(buf, io.LimitReader(r, int64(t.max)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnpack, err)
	}
	if n > int64(t.max) {
		return nil, errUnpackSize
	}
	return buf.Bytes(), nil
}

var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

// unsnappy decodes a plain snappy block, or the framing that Java clients put around several
// blocks.
func (t *tier) unsnappy(buf *bytes.Buffer, src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) || len(src) < 16 {
		return t.appendSnappy(buf, src)
	}
	for src = src[16:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, fmt.Errorf("%w: snappy framing", errUnpack)
		}
		n := int(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > len(src) {
			return nil, fmt.Errorf("%w: snappy framing", errUnpack)
		}
		if _, err := t.appendSnappy(buf, src[:n]); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return buf.Bytes(), nil
}

func (t *tier) appendSnappy(buf *bytes.Buffer, src []byte) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, fmt.Errorf("%w: snappy: %w", errUnpack, err)
	}
	if buf.Len()+n > t.max {
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
