package flat

import (
	"runtime"
	"sync/atomic"
)

// none fills the slots of a list behind its last link.
const none = ^uint32(0)

// perBlock is the number of lists that are allocated together.
const perBlock = 1024

// lists are neighbour lists of at most width rows each, numbered from 0. The
// writer changes them while others read.
//
// Invariants:
//
//   - A slot is only ever stored to and loaded atomically while others may read.
//   - The links of a list come first, then none up to the width.
//   - Adding a link is one store, into the first slot that has none: a reader
//     sees the list before or after it.
//   - Replacing a list makes its version odd, stores the slots, and makes the
//     version even again. A reader who saw it odd, or different afterwards, reads
//     the list again: it never uses a list that is half old and half new. The
//     writer does nothing else meanwhile, so that this is short.
type lists struct {
	width    int
	slots    [][]uint32 // perBlock × width each
	versions [][]uint32 // perBlock each
}

// with is the lists with one more block of empty ones.
func (l lists) with() lists {
	slots := make([]uint32, perBlock*l.width)
	for i := range slots {
		slots[i] = none
	}
	l.slots = append(l.slots[:len(l.slots):len(l.slots)], slots)
	l.versions = append(l.versions[:len(l.versions):len(l.versions)], make([]uint32, perBlock))
	return l
}

// all is the slots of list i.
func (l *lists) all(i uint32) []uint32 {
	at := int(i%perBlock) * l.width
	return l.slots[i/perBlock][at : at+l.width : at+l.width]
}

// own is the links of list i, for the writer: nobody else changes them.
func (l *lists) own(i uint32) []uint32 {
	slots := l.all(i)
	for n, id := range slots {
		if id == none {
			return slots[:n]
		}
	}
	return slots
}

// add puts a link behind the others of list i, if there is room.
func (l *lists) add(i, id uint32) bool {
	n := len(l.own(i))
	if n == l.width {
		return false
	}
	atomic.StoreUint32(&l.all(i)[n], id)
	return true
}

// replace makes ids the links of list i.
func (l *lists) replace(i uint32, ids []uint32) {
	version := &l.versions[i/perBlock][i%perBlock]
	atomic.AddUint32(version, 1)
	slots := l.all(i)
	for n := range slots {
		id := none
		if n < len(ids) {
			id = ids[n]
		}
		atomic.StoreUint32(&slots[n], id)
	}
	atomic.AddUint32(version, 1)
}

// unseen gives the links of list i that are below n and that visited does not
// have yet, and notes them there. What it gives is in the memory of batch, which
// has room for a whole list.
func (l *lists) unseen(i, n uint32, visited []uint8, epoch uint8, batch []uint32) []uint32 {
	version := &l.versions[i/perBlock][i%perBlock]
	slots := l.all(i)
	batch = batch[:l.width]
	visited = visited[:n]
	for try := 1; ; try++ {
		before := atomic.LoadUint32(version)
		if before%2 == 0 {
			found := 0
			for j := range slots {
				id := atomic.LoadUint32(&slots[j])
				if id >= uint32(len(visited)) {
					if id == none {
						break
					}
					continue
				}
				// Without a branch: whether a row was seen cannot be guessed.
				batch[found] = id
				next := found + 1
				if visited[id] == epoch {
					next = found
				}
				found = next
				visited[id] = epoch
			}
			if atomic.LoadUint32(version) == before {
				return batch[:found]
			}
			for _, id := range batch[:found] {
				visited[id] = epoch - 1
			}
		}
		if try%64 == 0 {
			runtime.Gosched() // the writer was interrupted halfway
		}
	}
}
