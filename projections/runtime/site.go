package runtime

import (
	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/cut"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// site is everything in a span except its ids, times and outcome; spans are summed by it. A
// deployment has few sites, and spans refer to theirs by its hash.
type site struct {
	service   string
	side      recountv1.Side
	kind      recountv1.RuntimeKind
	templated bool
	operation string
	peer      string
	system    string

	// hash is the hash of all fields, named that of the service.
	hash, named uint64
}

// appendSite appends the site: side, kind and templated, a byte each, then service, operation, peer
// and system, each as a uvarint length and its bytes.
func appendSite(b []byte, s *site) []byte {
	templated := byte(0)
	if s.templated {
		templated = 1
	}
	b = append(b, byte(s.side), byte(s.kind), templated)
	for _, text := range [...]string{s.service, s.operation, s.peer, s.system} {
		b = cut.AppendText(b, text)
	}
	return b
}

func decodeSite(value []byte) (*site, error) {
	r := reader{b: value}
	s := &site{side: recountv1.Side(r.byte()), kind: recountv1.RuntimeKind(r.byte()), templated: r.byte() != 0}
	for _, text := range []*string{&s.service, &s.operation, &s.peer, &s.system} {
		*text = r.text()
	}
	s.hash, s.named = xxh3.Hash(value), xxh3.HashString(s.service)
	return s, r.end()
}

func (s *site) size() int {
	return 160 + len(s.service) + len(s.operation) + len(s.peer) + len(s.system)
}

// caller returns the site under which calls from s are summed. Only a span of the caller's side
// describes the call; for other spans the service alone is kept.
func (s *site) caller() site {
	c := site{service: s.service}
	if s.side == recountv1.Side_SIDE_CALLER {
		c.side, c.kind, c.operation, c.peer, c.system = s.side, s.kind, s.operation, s.peer, s.system
	}
	return c
}

// called returns the site under which calls from by to s are summed. A span of the called side
// describes what was called; otherwise a span of the caller's side does. If neither span has such a
// side, the callee's operation is used; its kind is used only for RPCs and calls, since a query or a
// message would describe something that the callee itself requested.
func (s *site) called(by *site) site {
	c := site{service: s.service, side: recountv1.Side_SIDE_CALLED, kind: s.kind, templated: s.templated, operation: s.operation, system: s.system}
	if s.side != recountv1.Side_SIDE_CALLED {
		c.kind, c.templated, c.operation, c.system = 0, false, "", ""
		switch {
		case by.side == recountv1.Side_SIDE_CALLER:
			c.kind, c.templated, c.operation, c.system = by.kind, by.templated, by.operation, by.system
		case s.side != recountv1.Side_SIDE_CALLER:
			c.operation = s.operation
			if s.kind == recountv1.RuntimeKind_RUNTIME_KIND_RPC || s.kind == recountv1.RuntimeKind_RUNTIME_KIND_CALLS {
				c.kind, c.templated, c.system = s.kind, s.templated, s.system
			}
		}
	} else if c.kind == 0 && by.side == recountv1.Side_SIDE_CALLER {
		c.kind = by.kind
	}
	if c.kind == 0 {
		c.kind = recountv1.RuntimeKind_RUNTIME_KIND_CALLS
	}
	return c
}
