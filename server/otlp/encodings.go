package otlp

import (
	"compress/gzip"
	"compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // registers gzip, which every sender supports
)

// encodings are the compressions of requests besides none, by the names that HTTP and gRPC share.
// What is decompressed is bounded by its reader; zstdWindow bounds what zstd needs besides.
var encodings = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, // RFC 9110, 8.4.1.2
	"zlib":    func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, // as collectors name it
	"zstd": func(r io.Reader) (io.Reader, error) {
		// Without concurrency the decoder has no goroutine that would need an end.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
	},
}

// zstdWindow is the largest window of zstd, in bytes, that RFC 9659 lets senders over HTTP use.
const zstdWindow = 8 << 20

// init registers compressors with gRPC, which has one global list of them that may be changed only
// before the first connection.
func init() {
	encoding.RegisterCompressor(compressor{"zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
	}})
	encoding.RegisterCompressor(compressor{"deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }})
}

// compressor is a compression of gRPC's messages.
type compressor struct {
	name     string
	compress func(io.Writer) (io.WriteCloser, error)
}

// Name returns the value of grpc-encoding.
func (c compressor) Name() string { return c.name }

// Compress compresses an answer.
func (c compressor) Compress(w io.Writer) (io.WriteCloser, error) { return c.compress(w) }

// Decompress decompresses a request; gRPC reads no more of it than the largest message.
func (c compressor) Decompress(r io.Reader) (io.Reader, error) { return encodings[c.name](r) }
