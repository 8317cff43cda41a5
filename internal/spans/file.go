package spans

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
)

// maxExport limits one export of a file in bytes: a line, a document, a message.
const maxExport = 256 << 20

// gathered is the size in bytes of the exports made from a TracesData in protobuf, which may be as
// large as the file.
const gathered = 1 << 20

// SkipError reports that an export of a file, or some of its spans, cannot be read; later exports
// can.
type SkipError struct {
	// Where is "line 7" or "message 7", from 1.
	Where  string
	Reason error
	// Spans is the number of skipped spans; 0 if it is unknown.
	Spans int
}

func (e *SkipError) Error() string { return e.Where + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *SkipError) Unwrap() error { return e.Reason }

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Decompress returns the content of r, decompressed if it begins like gzip or zstd.
func Decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return gzip.NewReader(b)
	case bytes.Equal(head, zstdMagic):
		return zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxExport))
	}
	return b, nil
}

// Exports yields the exports of a file, each an ExportTraceServiceRequest in protobuf. It reads
// what collectors and SDKs write: OTLP in JSON, one document or one per line; a TracesData in
// protobuf; or messages with a length prefix (four bytes, big-endian), in protobuf or JSON, each
// possibly compressed by zstd, as the collector's file exporter writes them. The whole file may be
// compressed by gzip or zstd. Reading continues after a SkipError, and ends with any other error.
func Exports(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		plain, err := Decompress(r)
		if err != nil {
			yield(nil, err)
			return
		}
		b := bufio.NewReaderSize(plain, 64<<10)
		head, err := b.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			yield(nil, err)
		case head[0] == 0x0a: // field 1 of a TracesData
			messages(b, yield)
		case startsJSON(b):
			documents(b, yield)
		case head[0] <= maxExport>>24:
			framed(b, yield)
		default:
			yield(nil, fmt.Errorf("neither OTLP JSON nor OTLP protobuf: it begins with byte %#02x", head[0]))
		}
	}
}

// startsJSON reports whether the file begins with an object, after optional white space.
func startsJSON(b *bufio.Reader) bool {
	head, _ := b.Peek(64)
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\uFEFF"), []byte("{"))
}

// documents reads JSON: one value per line if the first line is a complete value, otherwise values
// that extend over any number of lines.
func documents(b *bufio.Reader, yield func([]byte, error) bool) {
	first, err := readLine(b)
	if err != nil {
		yield(nil, err)
		return
	}
	if !json.Valid(bytes.TrimPrefix(first, []byte("\uFEFF"))) {
		values(io.MultiReader(bytes.NewReader(bytes.TrimPrefix(first, []byte("\uFEFF"))), b), yield)
		return
	}
	for n := 1; ; n++ {
		if line := bytes.TrimSpace(bytes.TrimPrefix(first, []byte("\uFEFF"))); len(line) > 0 {
			if !yieldJSON(line, fmt.Sprint("line ", n), yield) {
				return
			}
		}
		if first, err = readLine(b); err != nil {
			if !errors.Is(err, io.EOF) {
				yield(nil, err)
			}
			return
		}
	}
}

// readLine reads a line with its line ending; io.EOF means that there is none.
func readLine(b *bufio.Reader) (line []byte, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxExport {
			return nil, fmt.Errorf("a line longer than %d bytes", maxExport)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func values(r io.Reader, yield func([]byte, error) bool) {
	limited := &io.LimitedReader{R: r}
	d := json.NewDecoder(limited)
	for n := 1; ; n++ {
		limited.N = maxExport
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return
		case limited.N <= 0:
			yield(nil, fmt.Errorf("a document larger than %d bytes: split it", maxExport))
			return
		case err != nil:
			yield(nil, fmt.Errorf("JSON at byte %d: %w", d.InputOffset(), err))
			return
		}
		if !yieldJSON(raw, fmt.Sprint("document ", n), yield) {
			return
		}
	}
}

func yieldJSON(doc []byte, where string, yield func([]byte, error) bool) bool {
	b, err := FromJSON(doc)
	if err != nil {
		return yield(nil, &SkipError{Where: where, Reason: err})
	}
	return yield(b, nil)
}

// noTraces returns why a document that held no spans is not an export of traces, or nil if it is
// one that is empty.
func noTraces(doc []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc, &fields); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(fields))
	for field, signal := range map[string]string{"resourceLogs": "logs", "resourceMetrics": "metrics", "resourceProfiles": "profiles"} {
		if _, ok := fields[field]; ok {
			return fmt.Errorf("it holds %s (%s): only traces are kept", signal, field)
		}
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n == "resourceSpans" || n == "resource_spans" }) {
		return nil
	}
	return fmt.Errorf("it has no resourceSpans, so it is not OTLP; its fields are %s", strings.Join(names[:min(len(names), 8)], ", "))
}

// FromJSON converts OTLP in JSON to protobuf. What holds metrics, logs or no OTLP is an error.
func FromJSON(doc []byte) ([]byte, error) {
	var m tracepb.TracesData
	if err := schemas.UnmarshalOTLP(doc, &m); err != nil {
		return nil, err
	}
	if len(m.ResourceSpans) == 0 {
		return nil, noTraces(doc)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(&m)
}

// messages reads a TracesData field by field, and combines its resources into exports.
func messages(b *bufio.Reader, yield func([]byte, error) bool) {
	var export bytes.Buffer
	for at := int64(0); ; {
		tag, err := binary.ReadUvarint(b)
		if errors.Is(err, io.EOF) {
			if export.Len() > 0 {
				yield(export.Bytes(), nil)
			}
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		num, typ := protowire.DecodeTag(tag)
		size, err := binary.ReadUvarint(b)
		if err != nil || num != fieldResourceSpans || typ != protowire.BytesType || size > maxExport {
			yield(nil, fmt.Errorf("not a TracesData in protobuf, from byte %d on", at))
			return
		}
		head := protowire.AppendVarint(protowire.AppendTag(nil, num, typ), size)
		export.Write(head)
		if _, err := io.CopyN(&export, b, int64(size)); err != nil {
			yield(nil, fmt.Errorf("cut short in the message at byte %d: %w", at, err))
			return
		}
		at += int64(len(head)) + int64(size)
		if export.Len() >= gathered {
			if !yield(export.Bytes(), nil) {
				return
			}
			export = bytes.Buffer{}
		}
	}
}

// framed reads messages with a length prefix.
func framed(b *bufio.Reader, yield func([]byte, error) bool) {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxExport))
	if err != nil {
		yield(nil, err)
		return
	}
	defer unpack.Close()
	for n := 1; ; n++ {
		var size [4]byte
		if _, err := io.ReadFull(b, size[:]); err != nil {
			if !errors.Is(err, io.EOF) {
				yield(nil, fmt.Errorf("message %d: cut short: %w", n, err))
			}
			return
		}
		length := binary.BigEndian.Uint32(size[:])
		if length > maxExport {
			yield(nil, fmt.Errorf("message %d: %d bytes, the maximum is %d: not an OTLP file", n, length, maxExport))
			return
		}
		var message bytes.Buffer // grows with the data, so that a wrong length does not allocate memory
		if got, err := io.CopyN(&message, b, int64(length)); err != nil {
			yield(nil, fmt.Errorf("message %d: cut short: %d of %d bytes", n, got, length))
			return
		}
		m, where := message.Bytes(), fmt.Sprint("message ", n)
		if bytes.HasPrefix(m, zstdMagic) {
			if m, err = unpack.DecodeAll(m, nil); err != nil {
				if !yield(nil, &SkipError{Where: where, Reason: err}) {
					return
				}
				continue
			}
		}
		if bytes.HasPrefix(m, []byte("{")) {
			if !yieldJSON(m, where, yield) {
				return
			}
		} else if !yield(m, nil) {
			return
		}
	}
}
