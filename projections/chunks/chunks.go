// Package chunks has a list in memory that one goroutine extends while others read it without a
// lock. Its elements do not move.
package chunks

import (
	"slices"
	"sync/atomic"
)

// List is a growing list of chunks. The zero value is empty.
type List[C any] struct{ all atomic.Pointer[[]*C] }

// At returns chunk i, which was added before the caller learned of i.
func (l *List[C]) At(i uint32) *C { return (*l.all.Load())[i] }

// Add appends a chunk. Only one goroutine may call it.
func (l *List[C]) Add(c *C) {
	var all []*C
	if p := l.all.Load(); p != nil {
		all = slices.Clip(*p) // readers keep the old list
	}
	all = append(all, c)
	l.all.Store(&all)
}

// Set replaces the chunks by those of another list.
func (l *List[C]) Set(from *List[C]) { l.all.Store(from.all.Load()) }
