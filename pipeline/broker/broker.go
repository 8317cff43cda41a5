package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/recountdb/recount/pipeline/broker/groups"
	"github.com/recountdb/recount/pipeline/broker/sasl"
	"github.com/recountdb/recount/pipeline/broker/storage"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// nodeID is the id of the only broker of the cluster.
const nodeID = 1

// Broker is an open log with its listeners.
type Broker struct {
	dir   string
	opts  Options
	log   *slog.Logger
	table map[int16]api

	data *storage.Log

	// The memory budgets for fetch responses: of clients, and of in-memory connections.
	answers, own *memoryLimiter
	freed        atomic.Int64 // when freeStalled last ran
	unpacking    *wire.UnpackLimiter
	// incoming is the memory budget for unanswered requests of all clients.
	incoming *semaphore.Weighted

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	listeners []net.Listener
	running   sync.WaitGroup // accept loops, connections, background work

	mu     sync.Mutex
	conns  map[*conn]struct{}
	dialed int            // number of in-memory connections in conns
	byHost map[string]int // number of the others, by address
	closed bool

	closeOnce sync.Once
	closeErr  error

	groups *groups.Coordinator
	auth   *sasl.Authenticator
}

// Open opens the log in dir, creating it if there is none, and starts serving. It takes the same
// short time whatever the log's size.
//
// Its errors say what is wrong and where. ErrLocked, ErrNewerFormat, ErrLoss and ErrDamaged can be
// told apart by errors.Is.
func Open(dir string, opts Options) (*Broker, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	b := &Broker{dir: dir, opts: opts, log: opts.Logger, conns: map[*conn]struct{}{}, byHost: map[string]int{}}
	b.answers, b.own = newMemoryLimiter(opts.MaxResponseBytes, false), newMemoryLimiter(opts.MaxResponseBytes, true)
	b.unpacking = wire.NewUnpackLimiter()
	b.incoming = semaphore.NewWeighted(opts.MaxRequestBytes)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.table = b.apis()
	if err := b.open(); err != nil {
		b.cancel()
		return nil, fmt.Errorf("open log in %s: %w", dir, storage.ExplainOpen(err))
	}
	return b, nil
}

func (b *Broker) open() (err error) {
	o := b.opts
	b.data, err = storage.Open(b.dir, storage.Options{
		DefaultPartitions: o.DefaultPartitions, MaxPartitions: o.MaxPartitions,
		MaxBatchBytes: o.MaxBatchBytes, MinFreeBytes: o.MinFreeBytes, ProducerExpiry: o.ProducerExpiry,
		AcceptLoss: o.AcceptLoss, BulkBytes: o.BulkBytes, SegmentBytes: o.SegmentBytes,
		ParseConfigs: parseTopicConfigs, Logger: b.log, FS: o.FS,
	})
	if err != nil {
		return err
	}
	b.openGroups()
	if err = b.openSASL(); err == nil {
		err = b.listen()
	}
	if err != nil {
		return errors.Join(err, b.data.Close())
	}
	b.data.Start()
	return nil
}

func (b *Broker) listen() error {
	var lc net.ListenConfig
	for _, addr := range b.opts.Listen {
		l, err := lc.Listen(b.ctx, "tcp", addr)
		if err != nil {
			for _, l := range b.listeners {
				l.Close()
			}
			return fmt.Errorf("listen on %s: %w", addr, err)
		}
		b.listeners = append(b.listeners, l)
	}
	for _, l := range b.listeners {
		b.running.Go(func() { b.accept(l) })
	}
	return nil
}

func (b *Broker) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			if b.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Most likely the process is out of file descriptors: existing connections continue.
			b.log.Warn("accept", "err", err)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-b.ctx.Done():
				return
			}
			continue
		}
		if b.opts.TLS != nil {
			nc = tls.Server(nc, b.opts.TLS)
		}
		if !b.serve(nc, false) {
			nc.Close()
		}
	}
}

// serve runs a connection in the background; false if there are too many.
func (b *Broker) serve(nc net.Conn, mem bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	c := newConn(b, nc, mem)
	if !b.admit(c) {
		c.cancel()
		b.log.Warn("too many connections", "remote", nc.RemoteAddr().String(), "limit", b.opts.MaxConnections, "by_address", b.opts.MaxConnectionsPerAddress)
		return false
	}
	b.add(c)
	b.running.Go(func() {
		c.run()
		b.mu.Lock()
		b.drop(c)
		b.mu.Unlock()
	})
	return true
}

// Addr returns the host:port of the first listener; "" without a listener.
func (b *Broker) Addr() string {
	if len(b.listeners) == 0 {
		return ""
	}
	return b.listeners[0].Addr().String()
}

// ClusterID returns the log's id, which never changes.
func (b *Broker) ClusterID() string { return b.data.ClusterID() }

// Dial connects to the broker in memory. The connection speaks the Kafka protocol like a TCP
// connection to Addr, with deadlines, at less cost. Use it as a client's dialer, with any address
// as seed.
func (b *Broker) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := memPipe()
	if !b.serve(server, true) {
		client.Close()
		server.Close()
		err := storage.ErrClosed
		if b.ctx.Err() == nil {
			err = fmt.Errorf("too many connections in memory: %d", maxDialed)
		}
		// Return the same type as a dialer of package net, which clients recognise.
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: err}
	}
	return client, nil
}

// Failed returns a channel that is closed when the store has failed; Err returns why.
// From then on every write and most reads are refused; starting the process again recovers.
func (b *Broker) Failed() <-chan struct{} { return b.data.Failed() }

// Err returns why the store failed, or nil.
func (b *Broker) Err() error { return b.data.Err() }

// Close stops listening, finishes the requests that have begun, and closes the log. It returns the
// store's failure if there was one; the store is then left as it is, and the directory stays locked
// until the process ends.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() { b.closeErr = b.close() })
	return b.closeErr
}

func (b *Broker) close() error {
	b.mu.Lock()
	b.closed = true
	conns := make([]*conn, 0, len(b.conns))
	for c := range b.conns {
		conns = append(conns, c)
	}
	b.mu.Unlock()
	b.cancel()
	for _, l := range b.listeners {
		l.Close()
	}
	for _, c := range conns {
		c.stop()
	}
	b.running.Wait()
	b.groups.Close()
	return b.data.Close()
}

// advertised returns the address at which the client of c is told to find the broker.
func (b *Broker) advertised(c *conn) (host string, port int32) {
	addr := b.opts.AdvertisedAddr
	if addr == "" && !c.mem {
		addr = c.nc.LocalAddr().String()
	}
	if addr == "" {
		addr = b.Addr()
	}
	if host, port, err := splitHostPort(addr); err == nil {
		return host, port
	}
	return "in-memory", nodeID // no listener: Dial ignores the address
}

func splitHostPort(addr string) (string, int32, error) {
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port of %s: %w", addr, err)
	}
	return host, int32(port), nil
}
