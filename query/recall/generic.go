package recall

const (
	// genericFew is how many results must have a line so that it can be judged whether it is generic,
	// and telling is how alike they must be otherwise so that it is not.
	genericFew = 3
	telling    = 0.7
)

// genericRounds is how often lines are judged: two generic lines that always stand together
// speak for each other in the first round.
const genericRounds = 3

// genericIn returns the lines of a failure that results have in common which have nothing else in
// common, such as "Some errors were emitted while running checks": the sum of a tool's complaints,
// which stands under each. A line that stands alone in its results is not generic.
func genericIn(marks []mark, results []*met) map[string]bool {
	generic := map[string]bool{}
	for range genericRounds {
		next := map[string]bool{}
		for _, m := range marks {
			var rests [][]mark
			for _, r := range results {
				if rest, ok := beside(m, r.marks); ok {
					rests = append(rests, specificOf(rest, generic))
				}
			}
			if len(rests) >= genericFew {
				next[m.line] = agreement(rests) < telling
			}
		}
		generic = next
	}
	return generic
}

// agreement returns how alike sets of marks are in the mean, two by two. Two sets of little weight
// are alike.
func agreement(sets [][]mark) float64 {
	var sum float64
	pairs := 0
	for i := range sets {
		for j := range i {
			pairs++
			if weigh(sets[i]) < 1 && weigh(sets[j]) < 1 {
				sum++
				continue
			}
			share, _ := alike(sets[i], sets[j])
			sum += share
		}
	}
	return sum / float64(pairs)
}

// weigh returns the sum of the weights of marks.
func weigh(marks []mark) float64 {
	var sum float64
	for _, m := range marks {
		sum += m.weight
	}
	return sum
}

// beside returns the marks but one; ok is false if that one is not among them.
func beside(m mark, marks []mark) (rest []mark, ok bool) {
	for _, x := range marks {
		if x.line == m.line {
			ok = true
		} else {
			rest = append(rest, x)
		}
	}
	return rest, ok
}

// specificOf returns the marks that are not generic.
func specificOf(marks []mark, generic map[string]bool) []mark {
	var all []mark
	for _, m := range marks {
		if !generic[m.line] {
			all = append(all, m)
		}
	}
	return all
}
