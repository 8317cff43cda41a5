package broker

import (
	"net"
	"time"
)

// maxDialed is the maximum number of connections made by Dial.
const maxDialed = 2000

// admit reports whether a new connection is within the limits. Connections made by Dial have a
// limit of their own, so that clients in the network never keep the process from its own log. One
// address may use only a part of the rest. If the limit is reached, a connection that has not sent
// a request yet is closed instead. The caller holds b.mu.
func (b *Broker) admit(c *conn) bool {
	if c.mem {
		return b.dialed < maxDialed
	}
	if b.byHost[c.host] >= b.opts.MaxConnectionsPerAddress && !b.evict(c.host) {
		return false
	}
	return len(b.conns)-b.dialed < b.opts.MaxConnections || b.evict("")
}

// evict closes a connection on which no request has begun, from the given address, or from any
// address if it is "".
func (b *Broker) evict(host string) bool {
	for c := range b.conns {
		if c.mem || c.spoke.Load() || host != "" && c.host != host {
			continue
		}
		b.drop(c)
		c.abort()
		return true
	}
	return false
}

// stallGrace is how long a client may read nothing of its answer while others wait for the memory
// that it occupies.
const stallGrace = 2 * time.Second

// freeStalled closes connections that hold memory for answers and have read nothing for stallGrace.
// It is called only when a client waits for memory; otherwise such connections have until
// FrameTimeout.
func (b *Broker) freeStalled(now time.Time) {
	last := b.freed.Load()
	if now.UnixNano()-last < int64(100*time.Millisecond) || !b.freed.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for c := range b.conns {
		since := c.stuck.Load()
		if !c.mem && since != 0 && now.UnixNano()-since > int64(stallGrace) {
			c.abort()
			n++
		}
	}
	if n > 0 {
		b.log.Warn("closed clients that do not read their answers while others wait", "connections", n)
	}
}

func (b *Broker) add(c *conn) {
	b.conns[c] = struct{}{}
	if c.mem {
		b.dialed++
	} else {
		b.byHost[c.host]++
	}
}

// drop removes a connection from the counts; further calls do nothing.
func (b *Broker) drop(c *conn) {
	if _, ok := b.conns[c]; !ok {
		return
	}
	delete(b.conns, c)
	if c.mem {
		b.dialed--
	} else if b.byHost[c.host]--; b.byHost[c.host] == 0 {
		delete(b.byHost, c.host)
	}
}

// hostOf returns the address for per-address limits: for IPv6 the /64 network, because one machine
// can use all addresses of its network.
func hostOf(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	if v4 := tcp.IP.To4(); v4 != nil {
		return v4.String()
	}
	return tcp.IP.Mask(net.CIDRMask(64, 128)).String()
}
