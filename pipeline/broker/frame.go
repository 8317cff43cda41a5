package broker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstChunk is how much of a frame is allocated before any of it has arrived, so that a false size
// costs its sender more than the broker.
const firstChunk = 1 << 20

// header is the header of a request.
type header struct {
	key, version  int16
	correlation   int32
	clientID      string
	unknownFormat bool // an ApiVersions newer than is known: its body was not read
}

var errFrame = errors.New("bad frame")

// frames holds buffers that are reused only for produce requests: their bytes are copied into the
// store before the answer, while handlers of other requests may keep theirs.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// readFrame reads the body of a frame of n bytes. With reuse it takes a buffer from frames, to
// which recycleFrame returns it.
func readFrame(r io.Reader, n int, reuse bool) ([]byte, error) {
	var buf []byte
	if reuse {
		buf = *frames.Get().(*[]byte)
	}
	// Use powers of two, so that the next frame of similar size fits.
	whole := 1 << bits.Len(uint(n-1))
	if cap(buf) < n {
		buf = make([]byte, 0, min(whole, firstChunk))
	}
	buf = buf[:0]
	for len(buf) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(whole, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		m := min(n, cap(buf))
		k, err := io.ReadFull(r, buf[len(buf):m])
		buf = buf[:len(buf)+k]
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

func recycleFrame(buf []byte) {
	if cap(buf) <= 32<<20 {
		frames.Put(&buf)
	}
}

// peekSize returns the size of the next frame and its API key, or -1 if the frame is too short for
// one. A frame too short for a header is refused when it is decoded, because it may be a bare SASL
// token.
func peekSize(r *bufio.Reader) (size int, key int16, err error) {
	p, err := r.Peek(4)
	if err != nil {
		return 0, 0, err
	}
	size = int(int32(binary.BigEndian.Uint32(p)))
	switch {
	case size < 0:
		return 0, 0, fmt.Errorf("%w: size %d", errFrame, size)
	case size < 2:
		return size, -1, nil
	}
	if p, err = r.Peek(6); err != nil {
		return 0, 0, err
	}
	return size, int16(binary.BigEndian.Uint16(p[4:])), nil
}

// decodeRequest decodes a frame. A nil request without an error means an unknown API, or a version
// that cannot be read; the header says which. It never panics: a panic of a decoder is converted to
// an error about bad bytes.
func decodeRequest(frame []byte) (h header, req kmsg.Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			req, err = nil, fmt.Errorf("%w: decode: %v", errFrame, p)
		}
	}()
	if len(frame) < 8 {
		return h, nil, fmt.Errorf("%w: %d bytes", errFrame, len(frame))
	}
	h.key = int16(binary.BigEndian.Uint16(frame))
	h.version = int16(binary.BigEndian.Uint16(frame[2:]))
	h.correlation = int32(binary.BigEndian.Uint32(frame[4:]))
	req = kmsg.RequestForKey(h.key)
	if req == nil || h.version < 0 {
		return h, nil, nil
	}
	if h.version > req.MaxVersion() {
		h.unknownFormat = true
		return h, nil, nil
	}
	req.SetVersion(h.version)
	body, err := h.readClientID(frame[8:], req.IsFlexible())
	if err != nil {
		return h, nil, err
	}
	if err := checkArrays(req, body); err != nil {
		return h, nil, err
	}
	if err := req.ReadFrom(body); err != nil {
		return h, nil, fmt.Errorf("%w: %s v%d: %w", errFrame, kmsg.NameForKey(h.key), h.version, err)
	}
	return h, req, nil
}

// readClientID reads the rest of the header and returns the body.
func (h *header) readClientID(b []byte, flexible bool) ([]byte, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("%w: no client id", errFrame)
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	if n >= 0 {
		if n > len(b) {
			return nil, fmt.Errorf("%w: client id of %d bytes", errFrame, n)
		}
		h.clientID = string(b[:n])
		b = b[n:]
	}
	if flexible {
		rest, err := skipTags(b)
		if err != nil {
			return nil, err
		}
		b = rest
	}
	return b, nil
}

// skipTags skips a section of tagged fields.
func skipTags(b []byte) ([]byte, error) {
	count, k := binary.Uvarint(b)
	if k <= 0 || count > uint64(len(b)) {
		return nil, fmt.Errorf("%w: tagged fields", errFrame)
	}
	b = b[k:]
	for range count {
		_, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, fmt.Errorf("%w: tag", errFrame)
		}
		b = b[k:]
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(len(b)-k) {
			return nil, fmt.Errorf("%w: tag size", errFrame)
		}
		b = b[k+int(size):]
	}
	return b, nil
}

// appendResponse appends the frame of a response.
func appendResponse(dst []byte, correlation int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	// ApiVersions keeps the old header, because its client does not know yet which versions the
	// broker supports.
	if resp.IsFlexible() && resp.Key() != kmsg.ApiVersions.Int16() {
		dst = append(dst, 0)
	}
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// refuse answers a request that is not supported, or not in this version, with e, if its response
// has a place for an error; else it returns nil, which closes the connection, as in Apache Kafka.
func refuse(req kmsg.Request, e *kerr.Error) kmsg.Response {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if d, ok := resp.(interface{ Default() }); ok {
		d.Default()
	}
	f := reflect.ValueOf(resp).Elem().FieldByName("ErrorCode")
	if !f.IsValid() || f.Kind() != reflect.Int16 {
		return nil
	}
	f.SetInt(int64(e.Code))
	return resp
}

// code returns the number of a Kafka error; 0 for nil.
func code(err *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	return err.Code
}
