package broker

import (
	"net"
	"time"
)

// admit counts a new connection, and reports whether there is room for it. Those made
// by Dial have a budget of their own: what comes over the network never keeps the
// process from its own log. One address gets part of the rest, and where there is no
// room, connections that have not said a word yet make way. The caller has b.mu.
func (b *Broker) admit(c *conn) bool {
	if c.mem {
		return b.dialed < b.opts.MaxDialed
	}
	if b.byHost[c.host] >= b.opts.MaxConnectionsPerAddress && !b.evict(c.host) {
		return false
	}
	return len(b.conns)-b.dialed < b.opts.MaxConnections || b.evict("")
}

// evict closes a connection on which no request has begun, of an address or ("") of any.
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

// stallGrace is how long a client may take nothing of its answer while others wait for
// the room that it takes.
const stallGrace = 2 * time.Second

// freeStalled closes the connections that hold room and have taken nothing for a while,
// for a client that waits for room. Without such a client they have until FrameTimeout.
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
		b.log.Warn("closed clients that take no answers while others wait", "connections", n)
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

// drop takes a connection out of the count; once is enough.
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

// hostOf is the address that limits hold for: of IPv6 the network, as one machine has
// as many addresses of it as it likes.
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
