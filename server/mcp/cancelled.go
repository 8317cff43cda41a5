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
	mu  sync.Mutex
	all map[jsonrpc.ID]bool
}

// received notes what a message of the client asks for or cancels. What is unknown can't be
// cancelled, nor can initialize.
func (p *pending) received(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method == "initialize" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.IsCall() {
		if p.all == nil {
			p.all = map[jsonrpc.ID]bool{}
		}
		p.all[r.ID] = false
		return
	}
	var params struct {
		ID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &params) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(params.ID); err == nil {
		if _, known := p.all[id]; known {
			p.all[id] = true
		}
	}
}

// unwanted notes that a message is sent, and reports whether it responds to a cancelled request.
func (p *pending) unwanted(message []byte) bool {
	id, ok := respondsTo(message)
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	cancelled := p.all[id]
	delete(p.all, id)
	return cancelled
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
