package broker

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Options configure a broker. The zero value is a broker without a TCP listener (connect by Dial),
// with limits suitable for one machine.
type Options struct {
	// Listen lists the TCP addresses for Kafka clients, such as "127.0.0.1:9092". Port 0 picks a
	// free one (see Addr). Empty: no listener.
	Listen []string

	// AdvertisedAddr is the host:port that clients are told to connect to. Set it if clients reach
	// the broker by another address than the one it is bound to (a container's published port).
	// Empty: each client is told the address that it has already reached.
	AdvertisedAddr string

	// TLS enables TLS on the listeners, with the certificates it holds. Nil: plain TCP.
	TLS *tls.Config

	// DefaultPartitions is the number of partitions of topics created without a number. Default 4.
	DefaultPartitions int

	// AutoCreateTopics lets a client create a topic by requesting its metadata with auto creation
	// allowed, as producers of the common clients do. Default false: an unknown topic is an error.
	AutoCreateTopics bool

	// FixedPartitions lists topics to which only the process itself (by Dial) may add partitions;
	// clients over TCP are refused.
	FixedPartitions []string

	// MaxPartitions is the maximum number of partitions of all topics together, because each costs
	// memory. Default 10,000.
	MaxPartitions int

	// MaxBatchBytes is the maximum size of a record batch, unless the topic's max.message.bytes is
	// set. Default 1,048,588, the default of the clients.
	MaxBatchBytes int

	// MaxFrameBytes is the maximum size of a request; a larger one closes its connection. Default
	// 100 MiB. Requests without records are limited to 2 MiB.
	MaxFrameBytes int

	// MaxFetchBytes is the maximum size of the records in one fetch response, whatever the client
	// asks for, except that a batch is never cut. Default 16 MiB.
	MaxFetchBytes int

	// MaxResponseBytes is the maximum memory that the responses of all clients take together, from
	// when they are read until they are written; one address gets at most half of it. Responses
	// become smaller as the limit comes nearer; beyond it they wait. Default 256 MiB: with what the
	// garbage collector has not freed yet, 512 MiB of memory. In-memory connections have the same
	// amount again, and do not wait.
	MaxResponseBytes int64

	// MaxRequestBytes is the maximum memory that unanswered requests above 64 KiB of all clients
	// take together; beyond it requests wait to be read. Default 512 MiB, and at least
	// MaxFrameBytes.
	MaxRequestBytes int64

	// MaxConnections is the maximum number of open TCP connections; a further one is closed at
	// once, unless a connection that has not sent a request yet can be closed instead. Default
	// 2,000.
	MaxConnections int

	// MaxConnectionsPerAddress is the maximum number per address (for IPv6, per /64 network).
	// Default half of MaxConnections.
	MaxConnectionsPerAddress int

	// MaxInFlightBytes is the maximum size, per connection, of requests read and not yet answered.
	// Beyond it the broker stops reading from the connection; a single larger request is still
	// served, alone. Default 32 MiB.
	MaxInFlightBytes int

	// IdleTimeout closes a connection on which no request has begun for this long. Default 10
	// minutes; negative: never. For the first request of a TCP connection FrameTimeout applies if
	// it is shorter.
	IdleTimeout time.Duration

	// FrameTimeout is the maximum time for a request that has begun to arrive, and for a client to
	// read each 256 KiB of a response; reading all of a response may take this time plus a second
	// for each 64 KiB. Default 30 seconds.
	FrameTimeout time.Duration

	// MinFreeBytes is the free disk space below which produces are refused with a retriable error.
	// Reads continue, and so do produces once there is space again. Default 256 MiB, which leaves
	// space to write out what is in memory; negative: no guard.
	MinFreeBytes int64

	// ProducerExpiry is how long the last sequence numbers of an idempotent producer are kept after
	// its last batch. Default 7 days.
	ProducerExpiry time.Duration

	// SASL configures the users that may connect over TCP. Empty: no authentication. In-memory
	// connections never authenticate.
	SASL SASLOptions

	// Groups limits consumer groups.
	Groups GroupOptions

	// AcceptLoss opens a log that has lost acknowledged records (ErrLoss) as it is. The offsets of
	// the lost records are never assigned again. Set it once, after reading the error; it has no
	// effect on a complete log.
	AcceptLoss bool

	// BulkBytes is the number of bytes of batches for one topic in one group commit from which they
	// go to a segment file, which writes each byte once but needs a second sync, instead of into
	// the store, which writes twice and syncs once. Default 256 KiB.
	BulkBytes int

	// SegmentBytes is the size at which a segment file is full and the next one begins. Default 256
	// MiB.
	SegmentBytes int

	// Logger receives messages for operators. Default: none.
	Logger *slog.Logger

	// FS is the file system of the log. Default: the host's. Tests pass in-memory ones that lose
	// unsynced data or inject errors.
	FS vfs.FS
}

// withDefaults replaces zero fields by their defaults.
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

// Validate returns an error that names the first invalid field. Open calls it.
func (o Options) Validate() error {
	o = o.withDefaults()
	for _, f := range []struct {
		name     string
		v        int
		min, max int
	}{
		{"DefaultPartitions", o.DefaultPartitions, 1, o.MaxPartitions},
		{"MaxPartitions", o.MaxPartitions, 1, 1_000_000},
		{"MaxBatchBytes", o.MaxBatchBytes, wire.BatchHeaderSize, 512 << 20},
		{"MaxFrameBytes", o.MaxFrameBytes, 1024, 1 << 30},
		{"MaxFetchBytes", o.MaxFetchBytes, 1, 1 << 30},
		{"MaxConnections", o.MaxConnections, 1, 1_000_000},
		{"MaxConnectionsPerAddress", o.MaxConnectionsPerAddress, 1, 1_000_000},
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
	if err := o.Groups.Validate(); err != nil {
		return err
	}
	return o.SASL.Validate()
}
