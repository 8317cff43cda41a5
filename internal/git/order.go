package git

import (
	"cmp"
	"slices"
	"strings"
)

// order sorts a walk's commits, given as rev-list's lines (an id, then its parents'), so that each
// follows its parents and differs little from its predecessor. A consumer that derives each state
// from the previous one then has less work.
//
// The sides of a merge precede it, the shorter first, and each contains only commits that the sides
// before it do not have. A branch is thus either directly after the commit where it started, or
// directly before the merge that ended it. The commit after the last one of a side is the start of
// another side, and its distance is the length of the shorter side. rev-list puts the main line
// first, whatever its length: a commit of a branch that is merged a hundred commits later is then a
// hundred commits away from both of its neighbours.
func order(lines []string) []string {
	number := make(map[string]int32, len(lines))
	for i, line := range lines {
		number[firstField(line)] = int32(i)
	}
	// height is the length of the longest chain below each commit; for the sides of a merge, the
	// height of the longer one is larger.
	height := make([]int32, len(lines))
	parent := make([]bool, len(lines)) // of another commit in the walk
	parents := func(i int32) (all []int32) {
		for _, id := range strings.Fields(lines[i])[1:] {
			if p, ok := number[id]; ok { // other parents are not in the walk
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
		before []int32 // parents that are still to be visited
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
