package replay

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// CycleError is the error for steps that need each other.
type CycleError struct {
	// Steps are the commands of one cycle, each of which needs the next, and the last the first.
	Steps []string
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("%d steps need each other: %s: leave one out of the narrative, or plan one of them alone with --to", len(e.Steps), strings.Join(e.Steps, " → "))
}

// Sort puts steps into a topological order of their needs and numbers them. Of the steps that are
// free to come next the one that was given first does, so an order that the needs allow stays as it
// is. Need.On and Postcondition.ReplacedBy name steps by their place in the argument, and by their
// new one in the result. The error is a *CycleError.
func Sort(steps []Step) ([]Step, error) {
	waits := make([]int, len(steps)) // how many needs of a step are not placed yet
	next := make([][]int, len(steps))
	for i, s := range steps {
		seen := map[int]bool{}
		for _, n := range s.Needs {
			if n.On < 0 || n.On >= len(steps) {
				return nil, fmt.Errorf("step %q needs step %d of %d: a bug", s.Original, n.On, len(steps))
			}
			if !seen[n.On] {
				seen[n.On] = true
				waits[i]++
				next[n.On] = append(next[n.On], i)
			}
		}
	}
	var free intHeap
	for i := range steps {
		if waits[i] == 0 {
			free = append(free, i)
		}
	}
	heap.Init(&free)
	order := make([]int, 0, len(steps))
	for len(free) > 0 {
		i := heap.Pop(&free).(int)
		order = append(order, i)
		for _, j := range next[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(&free, j)
			}
		}
	}
	if len(order) < len(steps) {
		return nil, &CycleError{cycle(steps, waits)}
	}
	place := make([]int, len(steps))
	for to, from := range order {
		place[from] = to
	}
	out := make([]Step, len(steps))
	for to, from := range order {
		s := steps[from]
		s.Index = to
		s.Needs = slices.Clone(s.Needs)
		for i := range s.Needs {
			s.Needs[i].On = place[s.Needs[i].On]
		}
		slices.SortStableFunc(s.Needs, func(a, b Need) int {
			return cmp.Or(cmp.Compare(a.On, b.On), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
		})
		s.Post = slices.Clone(s.Post)
		for i := range s.Post {
			if r := s.Post[i].ReplacedBy; r != nil {
				by := place[*r]
				s.Post[i].ReplacedBy = &by
			}
		}
		out[to] = s
	}
	return out, nil
}

// cycle returns the commands of one cycle among the steps that wait for others.
func cycle(steps []Step, waits []int) []string {
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var path []int
	for {
		if from, again := seen[at]; again {
			var names []string
			for _, i := range path[from:] {
				names = append(names, fmt.Sprintf("%q", Brief(steps[i].Original)))
			}
			return names
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, n := range steps[at].Needs {
			if waits[n.On] > 0 { // each step that waits needs one that does
				at = n.On
				break
			}
		}
	}
}

// Brief returns the first line of a command, cut to 60 characters.
func Brief(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if r := []rune(line); len(r) > 60 {
		line, more = string(r[:59]), true
	}
	if more {
		line += "…"
	}
	return line
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
