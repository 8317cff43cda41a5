package broker

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options says how a broker behaves. The zero value is a broker without a TCP
// listener (reach it by Dial) with limits fit for one machine.
type Options struct {
	// Listen are the TCP addresses to serve Kafka clients on, as "127.0.0.1:9092".
	// Port 0 picks a free one (see Addr). Empty: no listener.
	Listen []string

	// AdvertisedAddr is the host:port that clients are told to connect to. Set it
	// when clients reach the broker by another address than the one it is bound
	// to (a container's published port). Empty: each client is told the address
	// it has already reached.
	AdvertisedAddr string

	// TLS serves the listeners by TLS, with the certificates it holds. Nil: plain TCP.
	TLS *tls.Config

	// ClusterID names the log for ever; it is generated at the first opening when
	// empty. Opening an existing log under another id is an error.
	ClusterID string

	// DefaultPartitions is how many partitions a topic gets that does not say.
	// Default 4.
	DefaultPartitions int

	// AutoCreateTopics lets a client create a topic by asking for its metadata
	// with auto creation allowed, as producers of the common clients do.
	// Default false: an unknown topic is an error.
	AutoCreateTopics bool

	// FixedPartitions are topics to which only the process itself (by Dial) may add
	// partitions; clients by TCP are refused.
	FixedPartitions []string

	// MaxPartitions bounds the partitions of all topics together, because each
	// costs memory. Default 10,000.
	MaxPartitions int

	// MaxBatchBytes is the largest record batch accepted, where the topic's
	// max.message.bytes does not say otherwise. Default 1,048,588, as the
	// clients' own default.
	MaxBatchBytes int

	// MaxFrameBytes is the largest request accepted; a larger one closes its
	// connection. Default 100 MiB. Requests that carry no records stop at 2 MiB.
	MaxFrameBytes int

	// MaxFetchBytes bounds the records in one fetch response, however many the
	// client asks for, except that a batch is never cut. Default 16 MiB.
	MaxFetchBytes int

	// MaxResponseBytes bounds what the responses of all clients hold together, from
	// when they are read until they are written, and half of it those to one address.
	// The nearer it comes the smaller they get; beyond it they wait. Default 256 MiB:
	// with what the collector has not freed yet, 512 MiB of memory. Connections in
	// memory have as much again, and do not wait.
	MaxResponseBytes int64

	// MaxRequestBytes bounds what the requests of all clients hold together that are
	// larger than 64 KiB and not answered; beyond it they wait to be read. Default
	// 512 MiB, and at least MaxFrameBytes.
	MaxRequestBytes int64

	// MaxConnections bounds the TCP connections open at one time; the next is closed
	// at once, unless one that has not sent a request yet can make way. Default 2,000.
	MaxConnections int

	// MaxConnectionsPerAddress bounds those of one address (of IPv6, one network of
	// 64 bits). Default half of MaxConnections.
	MaxConnectionsPerAddress int

	// MaxDialed bounds the connections made by Dial. Default 2,000.
	MaxDialed int

	// MaxInFlightBytes bounds, for each connection, the bytes of requests read
	// and not yet answered. Beyond it the broker stops reading from the
	// connection; a single larger request is still served, alone. Default 32 MiB.
	MaxInFlightBytes int

	// IdleTimeout closes a connection on which no request has begun for so long.
	// Default 10 minutes; negative: never. For the first request of a TCP connection
	// it is FrameTimeout, if that is less.
	IdleTimeout time.Duration

	// FrameTimeout is how long a request that has begun may take to arrive, and each
	// 256 KiB of a response to be taken off our hands; the whole of it may take that
	// and a second for each 64 KiB. Default 30 seconds.
	FrameTimeout time.Duration

	// MinFreeBytes is the free disk space below which produces are refused with a
	// retriable error; reads go on, and so do produces once there is room again.
	// Default 256 MiB, which leaves room for what is in memory to be written
	// out; negative: no guard.
	MinFreeBytes int64

	// ProducerExpiry is how long the last sequence numbers of an idempotent
	// producer are kept after its last batch. Default 7 days.
	ProducerExpiry time.Duration

	// SASL names the users that may connect over TCP. Empty: no authentication. In
	// memory nobody needs to authenticate.
	SASL SASLOptions

	// Groups bounds consumer groups.
	Groups GroupOptions

	// AcceptLoss opens a log that has lost acknowledged records (ErrLoss), as it
	// is. The offsets of the lost records are never given out again. Set it once,
	// after reading the error; it changes nothing on a log that is whole.
	AcceptLoss bool

	// BulkBytes is from how many bytes of batches for one topic in one group commit
	// they go to a segment file, where each byte is written once but a commit needs
	// two syncs, rather than into the store, which writes twice and syncs once.
	// Default 256 KiB.
	BulkBytes int

	// SegmentBytes is the size at which a segment file is full and the next begun.
	// Default 256 MiB.
	SegmentBytes int

	// Logger gets what an operator should know. Default: none.
	Logger *slog.Logger

	// Hooks are called as things happen, for metrics.
	Hooks Hooks

	// FS is the file system to store on. Default: the host's. Tests pass
	// in-memory ones that lose unsynced data or inject errors.
	FS vfs.FS
}

// Hooks are functions that the broker calls as things happen. Any may be nil.
// They run on the broker's own goroutines: they must be quick and not call back.
type Hooks struct {
	// Request: a request was served.
	Request func(api int16, took time.Duration, err error)
	// Commit: a group of writes became durable.
	Commit func(writes int, took time.Duration)
	// Fatal: the store failed. From now on every write and most reads are
	// refused; the process should stop, and starting again recovers.
	Fatal func(err error)
}

func (h Hooks) onRequest(api int16, took time.Duration, err error) {
	if h.Request != nil {
		h.Request(api, took, err)
	}
}

func (h Hooks) onCommit(writes int, took time.Duration) {
	if h.Commit != nil {
		h.Commit(writes, took)
	}
}

func (h Hooks) onFatal(err error) {
	if h.Fatal != nil {
		h.Fatal(err)
	}
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.DefaultPartitions, 4)
	def(&o.MaxPartitions, 10_000)
	def(&o.MaxBatchBytes, 1_048_588)
	def(&o.MaxFrameBytes, 100<<20)
	def(&o.MaxFetchBytes, 16<<20)
	def(&o.MaxConnections, 2000)
	def(&o.MaxConnectionsPerAddress, max(1, o.MaxConnections/2))
	def(&o.MaxDialed, 2000)
	if o.MaxResponseBytes == 0 {
		o.MaxResponseBytes = 256 << 20
	}
	if o.MaxRequestBytes == 0 {
		o.MaxRequestBytes = max(512<<20, int64(o.MaxFrameBytes))
	}
	def(&o.MaxInFlightBytes, 32<<20)
	def(&o.BulkBytes, 256<<10)
	def(&o.SegmentBytes, 256<<20)
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 10 * time.Minute
	}
	if o.FrameTimeout == 0 {
		o.FrameTimeout = 30 * time.Second
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 256 << 20
	}
	if o.ProducerExpiry == 0 {
		o.ProducerExpiry = 7 * 24 * time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	return o
}

// Validate names the first field that makes no sense. Open calls it.
func (o Options) Validate() error {
	o = o.withDefaults()
	for _, f := range []struct {
		name     string
		v        int
		min, max int
	}{
		{"DefaultPartitions", o.DefaultPartitions, 1, o.MaxPartitions},
		{"MaxPartitions", o.MaxPartitions, 1, 1_000_000},
		{"MaxBatchBytes", o.MaxBatchBytes, batchHeaderSize, 512 << 20},
		{"MaxFrameBytes", o.MaxFrameBytes, 1024, 1 << 30},
		{"MaxFetchBytes", o.MaxFetchBytes, 1, 1 << 30},
		{"MaxConnections", o.MaxConnections, 1, 1_000_000},
		{"MaxConnectionsPerAddress", o.MaxConnectionsPerAddress, 1, 1_000_000},
		{"MaxDialed", o.MaxDialed, 1, 1_000_000},
		{"MaxResponseBytes", int(o.MaxResponseBytes), 4 * minFetch, 1 << 40},
		{"MaxRequestBytes", int(o.MaxRequestBytes), o.MaxFrameBytes, 1 << 40},
		{"MaxInFlightBytes", o.MaxInFlightBytes, 1, 1 << 30},
		{"BulkBytes", o.BulkBytes, 1, 1 << 30},
		{"SegmentBytes", o.SegmentBytes, 1, 1 << 30},
	} {
		if f.v < f.min || f.v > f.max {
			return fmt.Errorf("option %s is %d, want %d to %d", f.name, f.v, f.min, f.max)
		}
	}
	if o.FrameTimeout < 0 {
		return fmt.Errorf("option FrameTimeout is %s, want more than 0", o.FrameTimeout)
	}
	if o.ProducerExpiry < 0 {
		return fmt.Errorf("option ProducerExpiry is %s, want more than 0", o.ProducerExpiry)
	}
	if o.AdvertisedAddr != "" {
		if _, _, err := splitHostPort(o.AdvertisedAddr); err != nil {
			return fmt.Errorf("option AdvertisedAddr: %w", err)
		}
	}
	if err := o.Groups.validate(); err != nil {
		return err
	}
	return o.SASL.validate()
}
