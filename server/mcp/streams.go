package mcp

import (
	"container/list"
	"context"
	"fmt"
	"iter"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what is kept for clients whose connection breaks while a call is answered.
const (
	maxStreams     = 4096
	maxStreamBytes = 32 << 20
)

// streams keeps the messages of the newest streams over HTTP, so that a client that lost its
// connection reads on where it was (Last-Event-ID). The oldest streams go first, whosever they are.
type streams struct {
	mu        sync.Mutex // guards all below
	order     *list.List // of *stream, the oldest first
	bySession map[string]map[string]*list.Element
	bytes     int
}

type stream struct {
	session, id string
	messages    [][]byte
	bytes       int
}

func newStreams() *streams {
	return &streams{order: list.New(), bySession: map[string]map[string]*list.Element{}}
}

// Open implements sdk.EventStore.
func (s *streams) Open(_ context.Context, session, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open(session, id)
	return nil
}

// open returns a stream; the caller holds mu.
func (s *streams) open(session, id string) *stream {
	of := s.bySession[session]
	if of == nil {
		of = map[string]*list.Element{}
		s.bySession[session] = of
	}
	if found := of[id]; found != nil {
		return found.Value.(*stream)
	}
	made := &stream{session: session, id: id}
	of[id] = s.order.PushBack(made)
	if s.order.Len() > maxStreams {
		s.drop(s.order.Front())
	}
	return made
}

// Append implements sdk.EventStore. A stream that was dropped is not begun again: its first messages
// are missing.
func (s *streams) Append(_ context.Context, session, id string, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.bySession[session][id]
	if at == nil {
		return nil
	}
	to := at.Value.(*stream)
	to.messages = append(to.messages, message)
	to.bytes += len(message)
	s.bytes += len(message)
	for s.bytes > maxStreamBytes {
		s.drop(s.order.Front())
	}
	return nil
}

// drop forgets a stream; the caller holds mu.
func (s *streams) drop(e *list.Element) {
	gone := s.order.Remove(e).(*stream)
	s.bytes -= gone.bytes
	delete(s.bySession[gone.session], gone.id)
	if len(s.bySession[gone.session]) == 0 {
		delete(s.bySession, gone.session)
	}
}

// After implements sdk.EventStore.
func (s *streams) After(_ context.Context, session, id string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.mu.Lock()
		at := s.bySession[session][id]
		var rest [][]byte
		if at != nil {
			if all := at.Value.(*stream).messages; index < len(all)-1 { // a client may name any index
				rest = all[max(index+1, 0):]
			}
		}
		s.mu.Unlock()
		if at == nil {
			yield(nil, fmt.Errorf("stream %s is no longer kept: %w", id, sdk.ErrEventsPurged))
			return
		}
		for _, message := range rest {
			if !yield(message, nil) {
				return
			}
		}
	}
}

// SessionClosed implements sdk.EventStore.
func (s *streams) SessionClosed(_ context.Context, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.bySession[session] {
		s.drop(e)
	}
	return nil
}
