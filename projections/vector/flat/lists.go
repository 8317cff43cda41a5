package flat

import "sync/atomic"

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
//   - The links of a list come first, then none up to the width. A list never gets
//     shorter.
//   - Whatever changes a list that others can read is one store: a link added in
//     the first slot that has none, or put in the place of another. So there is no
//     moment at which a list is half changed. A reader that is passed by several
//     changes sees each of them or does not: every link that it sees was there
//     while it read.
type lists struct {
	width int
	slots [][]uint32 // perBlock × width each
}

// with is the lists with one more block of empty ones.
func (l lists) with() lists {
	slots := make([]uint32, perBlock*l.width)
	for i := range slots {
		slots[i] = none
	}
	l.slots = append(l.slots[:len(l.slots):len(l.slots)], slots)
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

// fill makes ids the links of list i, which nobody can read yet.
func (l *lists) fill(i uint32, ids []uint32) {
	copy(l.all(i), ids)
}

// set stores a link in slot n of list i.
func (l *lists) set(i uint32, n int, id uint32) {
	atomic.StoreUint32(&l.all(i)[n], id)
}

// unseen gives the links of list i that visited has room for and does not have
// yet, and notes them there. What it gives is in the memory of batch, which has
// room for a whole list.
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
		// Without a branch: whether a row was seen cannot be guessed.
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
