package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewWith returns a server like New, with options of the SDK that are changed, and with what add
// registers on it besides. Everything else is what New returns.
func NewWith(o Options, change func(*sdk.ServerOptions), add func(*sdk.Server)) *Server {
	s := build(o, change)
	add(s.sdk)
	return s
}

// Streams is what is kept for connections that break.
type Streams = streams

// NewStreams returns an empty one.
func NewStreams() *Streams { return newStreams() }

// The bounds of Streams.
const (
	MaxStreams     = maxStreams
	MaxStreamBytes = maxStreamBytes
)

// Len returns how many streams are kept, of how many sessions, with how many bytes.
func (s *streams) Len() (all, sessions, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len(), len(s.bySession), s.bytes
}

// MostSessions sets the maximum number of sessions over HTTP.
func (s *Server) MostSessions(n int) { s.begun.most = n }

// NewTurns returns n turns.
func NewTurns(n int64) *turns { return newTurns(n) }

// Take waits for a turn of a token's session.
func (t *turns) Take(ctx context.Context, token, session string) (done func(), err error) {
	return t.take(ctx, token, session)
}
