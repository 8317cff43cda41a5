package broker

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/sasl"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// conn is one client's connection. Three goroutines form a pipeline:
//
//	reader --in--> worker --out--> writer
//
// The reader reads frames and notices when the client disconnects. The worker serves requests in
// order: it waits for slow ones (long polls) and only starts those that overlap (produces). The
// writer finishes them in order and writes the answers. Requests that do not overlap are served
// only when every answer before theirs is written, as in Apache Kafka, so that for a client that
// sends without reading the broker holds one answer. When the client disconnects or the broker
// closes, the reader stops, and the other two finish the requests that have begun. When writing
// fails, all stop.
//
// Only the worker, and so a handler, may use the fields below "worker".
type conn struct {
	b   *Broker
	nc  net.Conn
	mem bool // created by Dial

	host  string      // the address for per-address limits
	spoke atomic.Bool // a request has begun
	// stuck is when the current write of an answer that holds memory last made progress, in
	// nanoseconds since 1970; 0 if there is none.
	stuck atomic.Int64

	ctx    context.Context // ends when the client disconnects or the broker closes
	cancel context.CancelFunc
	in     chan []byte
	out    chan outbound

	// authed reports that the client may do more than authenticate.
	authed atomic.Bool

	mu       sync.Mutex
	room     sync.Cond
	inFlight int          // bytes of requests read and not yet answered
	incoming atomic.Int64 // those of them that count towards the limit for all clients
	begun    int          // requests passed to the writer and not yet answered

	// worker
	principal string         // the authenticated user; "" without authentication
	auth      *sasl.Exchange // authentication in progress
	session   Session        // rights of the client; nil: everything
	held      int64          // memory for answers held by the request being served
	// raw, if set, gets the next frame instead of the dispatcher and returns the answer: the oldest
	// form of SASL sends tokens without a Kafka header.
	raw func(frame []byte) (answer []byte, err error)
}

// outbound is an answer that waits to be written.
type outbound struct {
	correlation int32
	frame       []byte // the request's bytes, accounted for until the answer is written
	reuse       bool
	held        int64 // memory reserved for the answer
	finish      func() (kmsg.Response, error)
	raw         []byte
}

const (
	maxPipelined = 64
	// maxControlFrame is the maximum size of requests without records.
	maxControlFrame = 2 << 20
	// maxOpenFrame is the maximum size of requests from clients that have not authenticated yet.
	maxOpenFrame = 64 << 10
	// closeTimeout is how long a client may take to read an answer when the connection is ending
	// anyway.
	closeTimeout = 2 * time.Second
)

func newConn(b *Broker, nc net.Conn, mem bool) *conn {
	c := &conn{b: b, nc: nc, mem: mem, in: make(chan []byte, maxPipelined), out: make(chan outbound, maxPipelined)}
	c.room.L = &c.mu
	c.host = hostOf(nc.RemoteAddr())
	c.ctx, c.cancel = context.WithCancel(b.ctx)
	c.authed.Store(mem || !b.authRequired())
	return c
}

// run serves the connection until it ends.
func (c *conn) run() {
	if err := c.secure(); err != nil {
		if c.ctx.Err() == nil {
			c.b.log.Info("client connection closed", "remote", c.nc.RemoteAddr().String(), "err", err)
		}
		c.cancel()
		c.nc.Close()
		return
	}
	var wg sync.WaitGroup
	wg.Go(c.write)
	wg.Go(c.work)
	if !c.authed.Load() {
		// A client that has not authenticated may not hold a connection for long.
		t := time.AfterFunc(c.b.opts.FrameTimeout, func() {
			if !c.authed.Load() {
				c.abort()
			}
		})
		defer t.Stop()
	}
	err := c.read()
	if err != nil && !errors.Is(err, io.EOF) && !isClosed(err) && c.ctx.Err() == nil {
		c.b.log.Info("client connection closed", "remote", c.nc.RemoteAddr().String(), "err", err)
	}
	close(c.in)
	c.cancel()
	wg.Wait()
	c.releaseIncoming(c.incoming.Load())
	c.nc.Close()
}

// secure completes the TLS handshake, if the listener uses TLS.
func (c *conn) secure() error {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.b.opts.FrameTimeout)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	return nil
}

// private reports whether nobody else can read the traffic: over TLS, or on this machine.
func (c *conn) private() bool {
	if _, ok := c.nc.(*tls.Conn); ok {
		return true
	}
	addr, ok := c.nc.RemoteAddr().(*net.TCPAddr)
	return c.mem || ok && addr.IP.IsLoopback()
}

// isClosed reports whether an error means that one of the two sides closed the connection in order;
// connections made by Dial have their own error for it.
func isClosed(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE)
}

// stop makes run return soon: as soon as the requests that have begun are finished, even if the
// client does not read its answers.
func (c *conn) stop() {
	c.cancel()
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	_ = c.nc.SetWriteDeadline(time.Now().Add(closeTimeout))
	c.mu.Lock()
	c.room.Broadcast()
	c.mu.Unlock()
}

// abort stops without finishing requests: the client cannot be written to, or sent something that
// must not be answered.
func (c *conn) abort() {
	c.nc.Close()
	c.stop()
}

func (c *conn) read() error {
	r := bufio.NewReaderSize(c.nc, 64<<10)
	for c.ctx.Err() == nil {
		if err := c.awaitRequest(r); err != nil {
			return err
		}
		if err := c.readWithin(c.b.opts.FrameTimeout); err != nil {
			return err
		}
		size, key, err := wire.PeekSize(r)
		if err != nil {
			return err
		}
		if limit := c.frameLimit(key); size > limit {
			if size>>8 == 0x160301 {
				return fmt.Errorf("%w: the client uses TLS, but this listener does not", wire.ErrFrame)
			}
			return fmt.Errorf("%w: %d bytes, at most %d for %s", wire.ErrFrame, size, limit, kmsg.NameForKey(key))
		}
		if _, err := r.Discard(4); err != nil {
			return err
		}
		if !c.acquire(size) {
			return nil
		}
		if waited, err := c.acquireIncoming(size); err != nil {
			return nil
		} else if waited {
			if err := c.readWithin(c.b.opts.FrameTimeout); err != nil {
				return err
			}
		}
		frame, err := wire.ReadFrame(r, size, key == kmsg.Produce.Int16())
		if err != nil {
			return err
		}
		select {
		case c.in <- frame:
		case <-c.ctx.Done():
			return nil
		}
	}
	return nil
}

// awaitRequest waits for the first byte of a request. A connection that waits for one of our
// answers is not idle.
func (c *conn) awaitRequest(r *bufio.Reader) error {
	within := c.b.opts.IdleTimeout
	if !c.mem && !c.spoke.Load() && (within < 0 || within > c.b.opts.FrameTimeout) {
		within = c.b.opts.FrameTimeout
	}
	for {
		if err := c.readWithin(within); err != nil {
			return err
		}
		_, err := r.Peek(1)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			c.spoke.Store(err == nil)
			return err
		}
		c.mu.Lock()
		idle := c.inFlight == 0
		c.mu.Unlock()
		if idle && c.ctx.Err() == nil {
			return fmt.Errorf("idle for %s", within)
		}
	}
}

// readWithin sets the deadline of subsequent reads; a negative d means none. It fails if the
// connection was stopped, because it may have overwritten the deadline that stop set.
func (c *conn) readWithin(d time.Duration) error {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	if err := c.nc.SetReadDeadline(at); err != nil {
		return err
	}
	return c.ctx.Err()
}

func (c *conn) frameLimit(key int16) int {
	if !c.authed.Load() {
		return maxOpenFrame
	}
	if c.b.table[key].large {
		return c.b.opts.MaxFrameBytes
	}
	return min(maxControlFrame, c.b.opts.MaxFrameBytes)
}

// acquire waits until n more bytes may be in flight; false if the connection ends first.
func (c *conn) acquire(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.inFlight > 0 && c.inFlight+n > c.b.opts.MaxInFlightBytes && c.ctx.Err() == nil {
		c.room.Wait()
	}
	c.inFlight += n
	return c.ctx.Err() == nil
}

// countedFrame is the size above which a request counts towards the limit for all clients.
const countedFrame = 64 << 10

// acquireIncoming waits until the limit for all clients leaves room for a request of n bytes.
// Connections of the process itself do not wait.
func (c *conn) acquireIncoming(n int) (waited bool, err error) {
	if c.mem || n <= countedFrame {
		return false, nil
	}
	if !c.b.incoming.TryAcquire(int64(n)) {
		waited = true
		if err := c.b.incoming.Acquire(c.ctx, int64(n)); err != nil {
			return waited, err
		}
	}
	c.incoming.Add(int64(n))
	return waited, nil
}

func (c *conn) releaseIncoming(n int64) {
	if c.mem || n == 0 {
		return
	}
	c.incoming.Add(-n)
	c.b.incoming.Release(n)
}

func (c *conn) release(n int) {
	if n > countedFrame {
		c.releaseIncoming(int64(n))
	}
	c.mu.Lock()
	c.inFlight -= n
	c.begun--
	c.room.Broadcast()
	c.mu.Unlock()
}

// awaitAnswered waits until all requests that have begun are answered or given up; that happens
// whatever the client does.
func (c *conn) awaitAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.begun > 0 {
		c.room.Wait()
	}
}

func (c *conn) work() {
	defer close(c.out)
	for frame := range c.in {
		o, err := c.handle(frame)
		if err != nil {
			c.b.log.Info("client connection refused a request", "remote", c.nc.RemoteAddr().String(), "err", err)
			c.stop() // requests that began before are still answered
			for range c.in {
			}
			return
		}
		c.mu.Lock()
		c.begun++
		c.mu.Unlock()
		c.out <- o
	}
}

// handle begins one request. An error ends the connection.
func (c *conn) handle(frame []byte) (outbound, error) {
	o := outbound{frame: frame}
	if raw := c.raw; raw != nil {
		c.raw = nil
		answer, err := raw(frame)
		o.raw = answer
		return o, err
	}
	h, req, err := wire.DecodeRequest(frame)
	if err != nil {
		return o, err
	}
	o.correlation = h.Correlation
	answer := func(resp kmsg.Response) (outbound, error) {
		o.finish = func() (kmsg.Response, error) { return resp, nil }
		return o, nil
	}
	a, served := c.b.table[h.Key]
	if h.Key == kmsg.ApiVersions.Int16() && (req == nil || h.Version > a.max) {
		return answer(c.b.apiVersions(0, kerr.UnsupportedVersion.Code))
	}
	if req == nil {
		return o, fmt.Errorf("%w: api %d version %d is unknown", wire.ErrFrame, h.Key, h.Version)
	}
	if !c.authed.Load() && !a.open {
		return o, fmt.Errorf("%s before authentication", kmsg.NameForKey(h.Key))
	}
	if !served || h.Version < a.min || h.Version > a.max {
		resp := wire.ErrorResponse(req, kerr.UnsupportedVersion)
		if resp == nil {
			return o, fmt.Errorf("%s v%d is not served", kmsg.NameForKey(h.Key), h.Version)
		}
		return answer(resp)
	}
	rights, err := c.limits()
	if err != nil {
		return o, err
	}
	if rights != nil {
		if resp, no := denied(req); resp != nil {
			return answer(resp)
		} else if no {
			return o, fmt.Errorf("user %q may not ask for %s", c.principal, kmsg.NameForKey(h.Key))
		}
	}
	o.reuse = h.Key == kmsg.Produce.Int16()
	if a.begin == nil {
		c.awaitAnswered()
	}
	o.finish, err = c.b.begin(c.ctx, a, &request{conn: c, clientID: h.ClientID, msg: req, rights: rights})
	o.held, c.held = c.held, 0
	if err != nil {
		c.answers().give(c.host, o.held)
	}
	return o, err
}

// answers returns the memory budget for responses to this client.
func (c *conn) answers() *memoryLimiter {
	if c.mem {
		return c.b.own
	}
	return c.b.answers
}

func (c *conn) write() {
	var buf []byte
	var broken bool
	for o := range c.out {
		var err error
		if buf, err = c.answer(buf[:0], &o, broken); err != nil && !broken {
			broken = true
			c.abort()
			if !isClosed(err) {
				c.b.log.Info("client connection closed", "remote", c.nc.RemoteAddr().String(), "err", err)
			}
		}
		c.stuck.Store(0)
		c.answers().give(c.host, o.held)
		c.release(len(o.frame))
		// If the store has failed, the committer may still be reading the frame.
		if o.reuse && c.b.data.Err() == nil {
			wire.RecycleFrame(o.frame)
		}
		if cap(buf) > 1<<20 {
			buf = nil
		}
	}
}

// answer finishes one request and writes its response, unless the connection is broken.
func (c *conn) answer(buf []byte, o *outbound, broken bool) ([]byte, error) {
	if o.finish != nil {
		resp, err := o.finish()
		o.finish = nil // what it refers to is garbage once it is in buf
		if n := int(o.held/2) + len(o.frame) + 4<<10; o.held > 0 && n > cap(buf) {
			buf = make([]byte, 0, n)
		}
		if err != nil {
			return buf, err
		}
		if resp == nil || broken {
			return buf, nil
		}
		buf = wire.AppendResponse(buf, o.correlation, resp)
	} else {
		buf = append(buf, byte(len(o.raw)>>24), byte(len(o.raw)>>16), byte(len(o.raw)>>8), byte(len(o.raw)))
		buf = append(buf, o.raw...)
	}
	// The deadline for each chunk allows slow clients large answers but not stuck ones. The
	// deadline for the whole stops clients that read just enough to hold an answer for long.
	last := time.Now().Add(c.b.opts.FrameTimeout + time.Duration(len(buf)/(64<<10))*time.Second)
	for rest := buf; len(rest) > 0 && !broken; {
		timeout := c.b.opts.FrameTimeout
		if c.ctx.Err() != nil {
			timeout = closeTimeout
		}
		at := time.Now().Add(timeout)
		if at.After(last) {
			at = last
		}
		if o.held > 0 {
			c.stuck.Store(time.Now().UnixNano())
		}
		if err := c.nc.SetWriteDeadline(at); err != nil {
			return buf, err
		}
		n, err := c.nc.Write(rest[:min(len(rest), 256<<10)])
		if err != nil {
			return buf, fmt.Errorf("write response: %w", err)
		}
		rest = rest[n:]
	}
	return buf, nil
}
