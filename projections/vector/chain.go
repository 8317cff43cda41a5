package vector

import (
	"sync/atomic"

	"github.com/recountdb/recount/projections/chunks"
)

// none is the number of a run, row or entry that does not exist.
const none = ^uint32(0)

// block is the number of elements of lists and heads that are allocated together.
const block = 4096

// list is a list to which one goroutine appends while others read.
type list[T any] struct {
	n      int // used by the writer
	blocks chunks.List[[block]T]
}

func (l *list[T]) append(x T) {
	if l.n%block == 0 {
		l.blocks.Add(new([block]T))
	}
	l.blocks.At(uint32(l.n / block))[l.n%block] = x
	l.n++
}

func (l *list[T]) at(i uint32) T { return l.blocks.At(i / block)[i%block] }

// heads has the newest element of each chain, or none, in blocks that do not move.
type heads []*[block]atomic.Uint32

// grow adds a chain that has no element.
func (h *heads) grow(i uint32) {
	if int(i/block) == len(*h) {
		*h = append(*h, new([block]atomic.Uint32))
	}
	h.at(i).Store(none)
}

func (h heads) at(i uint32) *atomic.Uint32 { return &h[i/block][i%block] }

// chained is a run in the chain of its row's runs.
type chained struct {
	prev   uint32 // the previous run of the row, or none
	jump   uint32 // an earlier run of the row; of the first run: itself
	number uint32 // the run's number among those of its row, from 1 on
}

// chains link the runs of each row, the newest first. Jumps are chosen so that a walk from the
// newest run to any other takes a number of steps that is logarithmic in the number of runs (Myers:
// An applicative random-access stack, 1983).
//
// Only the heads of chains change. A reader that loads a head may find a run that came after its
// view; it walks to the runs of its view.
type chains struct{ *list[chained] }

func newChains() *chains { return &chains{&list[chained]{}} }

// add appends the next run, whose row's newest run so far is last, or none.
func (c *chains) add(last uint32) {
	x := chained{prev: last, jump: uint32(c.n), number: 1}
	if last != none {
		before := c.at(last)
		x.jump, x.number = last, before.number+1
		if over := c.at(before.jump); before.number-over.number == over.number-c.at(over.jump).number && over.number < before.number {
			x.jump = over.jump
		}
	}
	c.append(x)
}

// before returns the newest run below end in the chain that begins at head, with its number among
// the row's runs, and the run that follows it. What does not exist is none, and its number 0.
func (c *chains) before(head, end uint32) (run uint32, number int, next uint32) {
	next = none
	for run = head; run != none; {
		x := c.at(run)
		if run < end {
			return run, int(x.number), next
		}
		next = run
		if run = x.prev; x.jump != next && x.jump >= end {
			run = x.jump
		}
	}
	return none, 0, next
}
