package runtime

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// site is all that a span says but for its ids, times and outcome: what spans are
// summed by. A deployment has few, and spans name theirs by its hash.
type site struct {
	service   string
	side      recountv1.Side
	kind      recountv1.RuntimeKind
	templated bool
	operation string
	peer      string
	system    string

	// hash is of all, named of the service.
	hash, named uint64
}

// appendSite appends the site: side, kind and templated, a byte each, and service,
// operation, peer and system, each a uvarint length and its bytes.
func appendSite(b []byte, s *site) []byte {
	templated := byte(0)
	if s.templated {
		templated = 1
	}
	b = append(b, byte(s.side), byte(s.kind), templated)
	for _, text := range [...]string{s.service, s.operation, s.peer, s.system} {
		b = appendText(b, text)
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

// caller is how the sum of a call names the site on the caller's side: a span of
// another side says nothing of calls but where it stands.
func (s *site) caller() site {
	c := site{service: s.service}
	if s.side == recountv1.Side_SIDE_CALLER {
		c.side, c.kind, c.operation, c.peer, c.system = s.side, s.kind, s.operation, s.peer, s.system
	}
	return c
}

// called is how the sum of a call names the callee's site. What was called is said
// by a span of the called side, else by the caller's. Where neither tells its side, the
// callee says it, whose words for a query or a message are not for what it answers.
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

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
