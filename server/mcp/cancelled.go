package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeCancelled is the code of the error that ends a cancelled call over HTTP, where something has to
// end its stream: that of the Language Server Protocol, since MCP has none.
const codeCancelled = -32800

// pending are the requests of a stream that were not answered yet, and whether their client has
// cancelled them. The specification (2025-06-18, Cancellation) asks that no response is sent for
// cancelled ones.
type pending struct {
	fewer chan struct{} // holds one value when all became smaller

	mu  sync.Mutex
	all map[jsonrpc.ID]*request
}

type request struct {
	method    string
	cancelled bool
}

func newPending() *pending {
	return &pending{fewer: make(chan struct{}, 1), all: map[jsonrpc.ID]*request{}}
}

// received notes what a message of the client asks for or cancels. What is unknown can't be
// cancelled, nor can initialize.
func (p *pending) received(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.IsCall() {
		p.all[r.ID] = &request{method: r.Method}
		return
	}
	var params struct {
		ID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &params) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(params.ID); err == nil {
		if known := p.all[id]; known != nil && known.method != "initialize" {
			known.cancelled = true
		}
	}
}

// answers returns the request that a message responds to, nil if there is none.
func (p *pending) answers(message []byte) (jsonrpc.ID, *request) {
	id, ok := respondsTo(message)
	if !ok {
		return id, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return id, p.all[id]
}

// unwanted reports whether the client has cancelled a request; nil is none.
func (p *pending) unwanted(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r != nil && r.cancelled
}

// answered notes that a request has its answer, or gets none.
func (p *pending) answered(id jsonrpc.ID, r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r == nil || p.all[id] != r { // the client may use an id again
		return
	}
	delete(p.all, id)
	select {
	case p.fewer <- struct{}{}:
	default:
	}
}

// wait returns when all requests are answered, or done is closed. A subscription lasts for as long as its
// connection, and nobody waits for its answer.
func (p *pending) wait(done <-chan struct{}) {
	for {
		p.mu.Lock()
		open := false
		for _, r := range p.all {
			open = open || r.method != "subscriptions/listen"
		}
		p.mu.Unlock()
		if !open {
			return
		}
		select {
		case <-p.fewer:
		case <-done:
			return
		}
	}
}

// respondsTo returns the id of a response, of which it reads the beginning alone, or false for another
// message.
func respondsTo(message []byte) (id jsonrpc.ID, ok bool) {
	d := json.NewDecoder(bytes.NewReader(message))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return id, false
	}
	for {
		key, err := d.Token()
		if err != nil {
			return id, false
		}
		switch key {
		case "result", "error":
			return id, id.IsValid()
		case "jsonrpc", "id":
		default:
			return id, false
		}
		var v any
		if d.Decode(&v) != nil {
			return id, false
		}
		if key == "id" {
			if id, err = jsonrpc.MakeID(v); err != nil {
				return id, false
			}
		}
	}
}
