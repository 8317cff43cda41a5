package wire

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

// RequestHeader is the header of a request.
type RequestHeader struct {
	Key, Version int16 // of the API
	Correlation  int32
	ClientID     string // "" if the client sent none
}

// ErrFrame reports bytes that are no request. The connection they came over can be closed only.
var ErrFrame = errors.New("bad frame")

// frames holds buffers that are reused only for produce requests: their bytes are copied into the
// store before the answer, while handlers of other requests may keep theirs.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// ReadFrame reads the body of a frame of n bytes. With reuse it takes a buffer from frames, to
// which RecycleFrame returns it.
func ReadFrame(r io.Reader, n int, reuse bool) ([]byte, error) {
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

// RecycleFrame returns the buffer of a frame that ReadFrame read with reuse. Nobody may use it after.
func RecycleFrame(buf []byte) {
	if cap(buf) <= 32<<20 {
		frames.Put(&buf)
	}
}

// PeekSize returns the size of the next frame and its API key, or -1 if the frame is too short for
// one. A frame too short for a header is refused when it is decoded, because it may be a bare SASL
// token.
func PeekSize(r *bufio.Reader) (size int, key int16, err error) {
	p, err := r.Peek(4)
	if err != nil {
		return 0, 0, err
	}
	size = int(int32(binary.BigEndian.Uint32(p)))
	switch {
	case size < 0:
		return 0, 0, fmt.Errorf("%w: size %d", ErrFrame, size)
	case size < 2:
		return size, -1, nil
	}
	if p, err = r.Peek(6); err != nil {
		return 0, 0, err
	}
	return size, int16(binary.BigEndian.Uint16(p[4:])), nil
}

// DecodeRequest decodes a frame. A nil request without an error means an unknown API, or a version
// that cannot be read; the header says which. It never panics: a panic of a decoder is converted to
// an error about bad bytes.
func DecodeRequest(frame []byte) (h RequestHeader, req kmsg.Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			req, err = nil, fmt.Errorf("%w: decode: %v", ErrFrame, p)
		}
	}()
	if len(frame) < 8 {
		return h, nil, fmt.Errorf("%w: %d bytes", ErrFrame, len(frame))
	}
	h.Key = int16(binary.BigEndian.Uint16(frame))
	h.Version = int16(binary.BigEndian.Uint16(frame[2:]))
	h.Correlation = int32(binary.BigEndian.Uint32(frame[4:]))
	req = kmsg.RequestForKey(h.Key)
	if req == nil || h.Version < 0 {
		return h, nil, nil
	}
	if h.Version > req.MaxVersion() {
		return h, nil, nil
	}
	req.SetVersion(h.Version)
	body, err := h.readClientID(frame[8:], req.IsFlexible())
	if err != nil {
		return h, nil, err
	}
	if err := checkArrays(req, body); err != nil {
		return h, nil, err
	}
	if err := req.ReadFrom(body); err != nil {
		return h, nil, fmt.Errorf("%w: %s v%d: %w", ErrFrame, kmsg.NameForKey(h.Key), h.Version, err)
	}
	return h, req, nil
}

// readClientID reads the rest of the header and returns the body.
func (h *RequestHeader) readClientID(b []byte, flexible bool) ([]byte, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("%w: no client id", ErrFrame)
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	if n >= 0 {
		if n > len(b) {
			return nil, fmt.Errorf("%w: client id of %d bytes", ErrFrame, n)
		}
		h.ClientID = string(b[:n])
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
		return nil, fmt.Errorf("%w: tagged fields", ErrFrame)
	}
	b = b[k:]
	for range count {
		_, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, fmt.Errorf("%w: tag", ErrFrame)
		}
		b = b[k:]
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(len(b)-k) {
			return nil, fmt.Errorf("%w: tag size", ErrFrame)
		}
		b = b[k+int(size):]
	}
	return b, nil
}

// AppendResponse appends the frame of a response.
func AppendResponse(dst []byte, correlation int32, resp kmsg.Response) []byte {
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

// ErrorResponse returns the response to req that says e and nothing else, or nil if such a response
// has no single place for an error. Then the connection is closed, as in Apache Kafka.
func ErrorResponse(req kmsg.Request, e *kerr.Error) kmsg.Response {
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

// ErrorCode returns the number of a Kafka error; 0 for nil.
func ErrorCode(err *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	return err.Code
}
