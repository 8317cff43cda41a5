package mcp

import (
	"container/list"
	"crypto/rand"
	"encoding/hex"
	"sync"
)

// The bounds of the answers that are kept for their resources. The oldest go first.
const (
	keptAnswers = 1024
	keptOfOwner = 128
	keptBytes   = 64 << 20
	// keptAnswer is the maximum size of one answer; a larger one is not kept.
	keptAnswer = 4 << 20
)

// keptStore keeps the newest answers, so that recount://answer/ID costs tokens only when it is read.
// An answer can be read by those who asked for it, and by nobody else.
type keptStore struct {
	mu    sync.Mutex // guards all below
	order *list.List // of *keptItem, the oldest first
	byID  map[string]*list.Element
	count map[string]int // by owner
	bytes int
}

type keptItem struct {
	id, owner string
	body      []byte
}

func newKeptStore() *keptStore {
	return &keptStore{order: list.New(), byID: map[string]*list.Element{}, count: map[string]int{}}
}

// keep keeps an answer and returns its id, "" if it is too large.
func (k *keptStore) keep(owner string, body []byte) string {
	if len(body) > keptAnswer {
		return ""
	}
	var b [6]byte
	rand.Read(b[:]) // never fails
	id := hex.EncodeToString(b[:])
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byID[id] = k.order.PushBack(&keptItem{id, owner, body})
	k.count[owner]++
	k.bytes += len(body)
	if k.count[owner] > keptOfOwner {
		for e := k.order.Front(); e != nil; e = e.Next() {
			if e.Value.(*keptItem).owner == owner {
				k.drop(e)
				break
			}
		}
	}
	for len(k.byID) > keptAnswers || k.bytes > keptBytes {
		k.drop(k.order.Front())
	}
	return id
}

// drop removes an item; the caller holds mu.
func (k *keptStore) drop(e *list.Element) {
	it := k.order.Remove(e).(*keptItem)
	delete(k.byID, it.id)
	k.bytes -= len(it.body)
	if k.count[it.owner]--; k.count[it.owner] == 0 {
		delete(k.count, it.owner)
	}
}

// get returns an answer that the owner asked for.
func (k *keptStore) get(owner, id string) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byID[id]
	if !ok || e.Value.(*keptItem).owner != owner {
		return nil, false
	}
	return e.Value.(*keptItem).body, true
}
