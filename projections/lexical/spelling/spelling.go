// Package spelling says how far apart two words are, for suggestions and misspelled words.
package spelling

// rowRoom is the length of words up to which Distance allocates nothing.
const rowRoom = 64

// Distance returns the number of bytes to insert, to remove, to replace or to swap with the next one
// that make b of a (optimal string alignment). It returns limit+1 if there are more than limit.
func Distance(a, b string, limit int) int {
	var room [3][rowRoom + 1]int
	two, one, row := room[0][:], room[1][:], room[2][:]
	if len(b) > rowRoom {
		two, one, row = make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	}
	for j := range len(b) + 1 {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		two, one, row = one, row, two
	}
	return min(one[len(b)], limit+1)
}
