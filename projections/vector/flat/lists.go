package flat

import "sync/atomic"

// none fills the slots of a list after its last link.
const none = ^uint32(0)

// perBlock is the number of lists that are allocated together.
const perBlock = 1024

// lists are neighbour lists of at most width rows each, numbered from 0. The writer changes them
// while others read.
//
// Invariants:
//
//   - While others may read a slot, it is stored and loaded atomically only.
//   - The links of a list come first, followed by none up to the width. A list never gets shorter.
//   - Each change of a list that others can read is a single store: a link is added in the first
//     slot that has none, or replaces another. So a list is never half changed. A reader sees each
//     concurrent change or does not; every link that it sees was there while it read.
type lists struct {
	width int
	slots [][]uint32 // perBlock × width each
}

// with returns the lists with one more block of empty ones.
func (l lists) with() lists {
	slots := make([]uint32, perBlock*l.width)
	for i := range slots {
		slots[i] = none
	}
	l.slots = append(l.slots[:len(l.slots):len(l.slots)], slots)
	return l
}

// all returns the slots of list i.
func (l *lists) all(i uint32) []uint32 {
	at := int(i%perBlock) * l.width
	return l.slots[i/perBlock][at : at+l.width : at+l.width]
}

// own returns the links of list i. Only the writer may call it, since nothing else changes them.
func (l *lists) own(i uint32) []uint32 {
	slots := l.all(i)
	for n, id := range slots {
		if id == none {
			return slots[:n]
		}
	}
	return slots
}

// fill makes ids the links of list i, which no reader can see yet.
func (l *lists) fill(i uint32, ids []uint32) {
	copy(l.all(i), ids)
}

// set stores a link in slot n of list i.
func (l *lists) set(i uint32, n int, id uint32) {
	atomic.StoreUint32(&l.all(i)[n], id)
}

// unseen returns the links of list i that are rows below len(visited) and not yet visited, and
// marks them visited. The result is in the memory of batch, which must have room for a whole list.
func (l *lists) unseen(i uint32, visited []uint8, epoch uint8, batch []uint32) []uint32 {
	slots := l.all(i)
	batch = batch[:len(slots)]
	found := 0
	for j := range slots {
		id := atomic.LoadUint32(&slots[j])
		if int(id) >= len(visited) {
			if id == none {
				break
			}
			continue // added since the search began
		}
		// This avoids a branch: whether a row was seen cannot be predicted.
		batch[found] = id
		next := found + 1
		if visited[id] == epoch {
			next = found
		}
		found = next
		visited[id] = epoch
	}
	return batch[:found]
}
