package broker

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// memPipe returns the two ends of an in-memory connection: two buffered pipes, one in each
// direction. A write returns when its bytes are in the buffer, so that the two sides run
// concurrently, as over a socket.
func memPipe() (client, server net.Conn) {
	up, down := newHalfPipe(), newHalfPipe()
	return &memConn{r: down, w: up, name: "client"}, &memConn{r: up, w: down, name: "broker"}
}

// halfPipeSize holds a batch of maximum size, so that a produce is passed on as a whole.
const halfPipeSize = 2 << 20

// halfPipe is a ring buffer, allocated as it is used.
type halfPipe struct {
	mu       sync.Mutex
	readable sync.Cond // signalled when bytes arrive, at the end, or at the deadline
	writable sync.Cond // signalled when space is freed, at the end, or at the deadline
	buf      []byte
	head, n  int
	done     bool // the writer has closed: what is buffered can still be read
	gone     bool // the reader has closed
	rd, wd   deadline
}

// deadline is a point in time at which the waiters on a cond are woken.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) set(t time.Time, wake func()) {
	d.at = t
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if !t.IsZero() {
		d.timer = time.AfterFunc(time.Until(t), wake)
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// errGone is the error of writing to a closed peer, the same as that of a socket: a Kafka client
// retries after a network error, and drops its records after any other.
var errGone = &net.OpError{Op: "write", Net: "memory", Err: os.NewSyscallError("write", syscall.EPIPE)}

func newHalfPipe() *halfPipe {
	p := &halfPipe{}
	p.readable.L, p.writable.L = &p.mu, &p.mu
	return p
}

func (p *halfPipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.gone:
			return 0, net.ErrClosed
		case p.rd.passed():
			return 0, os.ErrDeadlineExceeded
		case p.n > 0 || len(b) == 0:
			n := copy(b, p.buf[p.head:min(p.head+p.n, len(p.buf))])
			n += copy(b[n:], p.buf[:p.n-n])
			p.head = (p.head + n) % max(len(p.buf), 1)
			if p.n -= n; p.n == 0 {
				p.head = 0
			}
			p.writable.Signal()
			return n, nil
		case p.done:
			return 0, io.EOF
		}
		p.readable.Wait()
	}
}

func (p *halfPipe) write(b []byte) (written int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.done:
			return written, net.ErrClosed
		case p.gone:
			return written, errGone
		case p.wd.passed():
			return written, os.ErrDeadlineExceeded
		case len(b) == 0:
			return written, nil
		}
		p.grow(len(b))
		if free := len(p.buf) - p.n; free > 0 {
			n := min(free, len(b))
			tail := (p.head + p.n) % len(p.buf)
			k := copy(p.buf[tail:], b[:n])
			copy(p.buf, b[k:n])
			p.n += n
			written += n
			b = b[n:]
			p.readable.Signal()
			continue
		}
		p.writable.Wait()
	}
}

// grow enlarges the buffer for n more bytes, up to the pipe's size.
func (p *halfPipe) grow(n int) {
	want := min(p.n+n, halfPipeSize)
	if want <= len(p.buf) {
		return
	}
	size := max(len(p.buf), 4<<10)
	for size < want {
		size *= 2
	}
	buf := make([]byte, size)
	k := copy(buf[:p.n], p.buf[p.head:min(p.head+p.n, len(p.buf))])
	copy(buf[k:p.n], p.buf)
	p.buf, p.head = buf, 0
}

func (p *halfPipe) wake() {
	p.mu.Lock()
	p.readable.Broadcast()
	p.writable.Broadcast()
	p.mu.Unlock()
}

func (p *halfPipe) set(f func()) {
	p.mu.Lock()
	f()
	p.readable.Broadcast()
	p.writable.Broadcast()
	p.mu.Unlock()
}

type memConn struct {
	r, w *halfPipe
	name string
}

func (c *memConn) Read(b []byte) (int, error)  { return c.r.read(b) }
func (c *memConn) Write(b []byte) (int, error) { return c.w.write(b) }

func (c *memConn) Close() error {
	c.r.set(func() { c.r.gone = true; c.r.rd.set(time.Time{}, nil); c.r.buf, c.r.n, c.r.head = nil, 0, 0 })
	c.w.set(func() { c.w.done = true; c.w.wd.set(time.Time{}, nil) })
	return nil
}

// CloseWrite ends the writes, like that of a TCP connection.
func (c *memConn) CloseWrite() error {
	c.w.set(func() { c.w.done = true })
	return nil
}

func (c *memConn) LocalAddr() net.Addr  { return memAddr(c.name) }
func (c *memConn) RemoteAddr() net.Addr { return memAddr("in-memory peer of " + c.name) }

func (c *memConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memConn) SetReadDeadline(t time.Time) error {
	c.r.set(func() { c.r.rd.set(t, c.r.wake) })
	return nil
}

func (c *memConn) SetWriteDeadline(t time.Time) error {
	c.w.set(func() { c.w.wd.set(t, c.w.wake) })
	return nil
}

type memAddr string

func (memAddr) Network() string  { return "memory" }
func (a memAddr) String() string { return string(a) }
