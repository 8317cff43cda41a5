package mcp

import (
	"iter"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxHTTPSessions is the maximum number of sessions over HTTP. For one more, the oldest of the token
// that has most of them ends: no token ends the sessions of others by beginning many.
const maxHTTPSessions = 1000

// begun are the sessions over HTTP, the oldest first.
type begun struct {
	most int // how many there may be

	mu  sync.Mutex // guards all below
	all []begunSession
}

type begunSession struct {
	session *sdk.ServerSession
	owner   string // of the token
}

// add notes that a token began a session. It returns the session that has to end for it, nil while there
// is room. live are the sessions that have not ended.
func (b *begun) add(session *sdk.ServerSession, owner string, live iter.Seq[*sdk.ServerSession]) (surplus *sdk.ServerSession) {
	alive := map[*sdk.ServerSession]bool{}
	for s := range live {
		alive[s] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// A client may say twice that it begins.
	b.all = slices.DeleteFunc(b.all, func(s begunSession) bool { return !alive[s.session] || s.session == session })
	b.all = append(b.all, begunSession{session, owner})
	if len(b.all) <= b.most {
		return nil
	}
	count, largest := map[string]int{}, 0
	for _, s := range b.all {
		count[s.owner]++
		largest = max(largest, count[s.owner])
	}
	i := slices.IndexFunc(b.all, func(s begunSession) bool { return count[s.owner] == largest })
	surplus = b.all[i].session
	b.all = slices.Delete(b.all, i, i+1)
	return surplus
}
