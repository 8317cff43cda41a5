package runtime

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// callee is the later end of a possible call: a span with its parent, or a consumer with one of its
// links.
type callee struct {
	*span
	trace [16]byte
	// to is the id of the span that may have called it: its parent, or the target of the link.
	to uint64
	// known reports that to is set.
	known bool
	// isLink reports that to is that of a link, which may be in another trace than the span.
	isLink bool
}

func childOf(t *trace, s *span) callee {
	// A span that is its own parent has none.
	return callee{span: s, trace: t.id, to: s.parent, known: s.hasParent && s.parent != s.id}
}

func linkOf(l *link) callee {
	return callee{span: &l.from, trace: l.trace, to: l.target, known: true, isLink: true}
}

// same reports whether two spans of one trace are the same span.
func same(a, b *span) bool {
	return a.id == b.id && a.shard == b.shard && a.side == b.side && a.service == b.service
}

// mayCall reports whether x, the parent of y or the target of its link, can have called y: from one
// service to another, or from the caller's side to the called side within one.
func mayCall(x, y *span) bool {
	return x.service != y.service ||
		x.side == recountv1.Side_SIDE_CALLER && y.side == recountv1.Side_SIDE_CALLED
}

// sharesID reports whether two spans with one id are the two ends of one call, as Zipkin reports
// them, with the same parent.
func sharesID(client, server *span) bool {
	return client.side == recountv1.Side_SIDE_CALLER && server.side == recountv1.Side_SIDE_CALLED &&
		client.hasParent == server.hasParent && client.parent == server.parent
}

// caller returns the span of a trace that called y, or nil. It is a function of the set of known
// spans, whatever their order. In order of preference it is:
//
//   - the client with the id of y, if it shares the id with its server;
//   - of y's own service, only a span of the caller's side: a span below another of
//     its own service was called by no other service;
//   - a server that shares its id with its client, for a child of it is below the
//     server; then a span of the caller's side, of the called side, and any other;
//   - the first in order of partition and log.
func (m *memory) caller(t *trace, y callee) *span {
	var best *span
	bestRank := 0
	if !y.isLink && y.side == recountv1.Side_SIDE_CALLED {
		t.named(y.id, func(x *span) {
			if !same(x, y.span) && sharesID(x, y.span) && (best == nil || m.before(x, best)) {
				best = x
			}
		})
		if best != nil {
			return best
		}
	}
	if !y.known {
		return nil
	}
	own, local := false, false
	t.named(y.to, func(x *span) {
		if y.isLink && t.id == y.trace && same(x, y.span) {
			return
		}
		if x.service == y.service {
			own = true
			local = local || !mayCall(x, y.span)
		}
	})
	if local {
		return nil
	}
	t.named(y.to, func(x *span) {
		if y.isLink && t.id == y.trace && same(x, y.span) || own && x.service != y.service {
			return
		}
		rank := t.rank(x)
		if best == nil || rank < bestRank || rank == bestRank && m.before(x, best) {
			best, bestRank = x, rank
		}
	})
	return best
}

func (t *trace) rank(x *span) int {
	switch x.side {
	case recountv1.Side_SIDE_CALLED:
		rank := 2
		t.named(x.id, func(client *span) {
			if sharesID(client, x) {
				rank = 0
			}
		})
		return rank
	case recountv1.Side_SIDE_CALLER:
		return 1
	}
	return 3
}

// candidates calls f with every span that may be the caller of y in some state.
func (t *trace) candidates(y callee, f func(x *span)) {
	if !y.isLink && y.side == recountv1.Side_SIDE_CALLED {
		t.named(y.id, func(x *span) {
			if !same(x, y.span) && sharesID(x, y.span) {
				f(x)
			}
		})
	}
	if !y.known {
		return
	}
	t.named(y.to, func(x *span) {
		if mayCall(x, y.span) {
			f(x)
		}
	})
}
