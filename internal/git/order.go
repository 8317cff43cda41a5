package git

import (
	"cmp"
	"slices"
	"strings"
)

// order puts a walk's commits, given as rev-list's lines (an id, then its parents'),
// each after its parents, into an order in which the next one differs little from the
// one before it. Whoever makes one state of the last does less then.
//
// Before a merge come its sides, the shorter first, and of each only what the sides
// before it do not have: so a branch stands either right behind the commit that it
// left, or right before the merge that took it in. What is behind the last commit of a
// side is then the beginning of another, as far from it as the shorter side is long.
// rev-list has the main line first, however long: a commit of a branch that is merged a
// hundred commits later is a hundred commits away from both of its neighbours.
func order(lines []string) []string {
	number := make(map[string]int32, len(lines))
	for i, line := range lines {
		number[firstField(line)] = int32(i)
	}
	// height is how many commits stand above each other from the first one on: of two
	// sides of a merge, what it says of the longer one is more.
	height := make([]int32, len(lines))
	parent := make([]bool, len(lines)) // of another
	parents := func(i int32) (all []int32) {
		for _, id := range strings.Fields(lines[i])[1:] {
			if p, ok := number[id]; ok { // else it is not on the walk
				all = append(all, p)
			}
		}
		return all
	}
	for i := range lines {
		for _, p := range parents(int32(i)) {
			height[i] = max(height[i], height[p]+1)
			parent[p] = true
		}
	}
	type visit struct {
		commit int32
		before []int32 // parents that are still to be looked at
	}
	var stack []visit
	seen := make([]bool, len(lines))
	begin := func(i int32) {
		if seen[i] {
			return
		}
		seen[i] = true
		before := parents(i)
		slices.SortStableFunc(before, func(a, b int32) int { return cmp.Compare(height[a], height[b]) })
		stack = append(stack, visit{i, before})
	}
	ordered := make([]string, 0, len(lines))
	for i := range lines {
		if parent[i] {
			continue
		}
		begin(int32(i))
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.before) > 0 {
				p := top.before[0]
				top.before = top.before[1:]
				begin(p)
				continue
			}
			ordered = append(ordered, lines[top.commit])
			stack = stack[:len(stack)-1]
		}
	}
	return ordered
}

func firstField(line string) string {
	id, _, _ := strings.Cut(line, " ")
	return id
}
