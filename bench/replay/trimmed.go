package main

import "fmt"

// trimmed replays each narrative with the executor as another user, without the steps that trials leave out, and
// compares what is left of the plans with the marks, and the trees.
func trimmed() error {
	needed, found, kept, right, untrimmed, same, n := 0, 0, 0, 0, 0, 0, 0
	return each(func(r *recorded) error {
		b, err := r.elsewhere()
		if err != nil {
			return err
		}
		if b.before, err = treeOf(b.dir, b.home, r.home); err != nil {
			return err
		}
		p, err := b.plan()
		if err != nil {
			return err
		}
		untrimmed += len(p.Steps)
		report, err := b.replay("--trim")
		if err != nil {
			fmt.Printf("  %s: not trimmed: %s\n", r.n.name, oneLine(err.Error()))
			report, err = b.replay()
		}
		if err != nil {
			return err
		}
		in := map[string]bool{}
		for _, s := range report.Steps {
			in[s.Intent.String()] = true
		}
		for i, st := range r.n.steps {
			if st.mark == '*' || navigates.MatchString(st.text) {
				continue
			}
			is := in[r.hits[i].ID.String()]
			switch {
			case st.mark == '+' && is:
				needed, found, kept, right = needed+1, found+1, kept+1, right+1
			case st.mark == '+':
				needed++
				fmt.Printf("  %s: missed %s\n", r.n.name, oneLine(st.text))
			case is:
				kept++
				if *verbose {
					fmt.Printf("  %s: kept %s\n", r.n.name, oneLine(st.text))
				}
			}
		}
		more, err := b.differences()
		if err == nil && len(more) > 0 {
			if err = b.leaveOut(); err == nil {
				more, err = b.differences()
			}
		}
		if err != nil {
			return err
		}
		if n++; len(more) == 0 {
			same++
		}
		for _, text := range more {
			fmt.Printf("  %s: %s\n", r.n.name, text)
		}
		return nil
	}, func() {
		fmt.Printf("%d of %d narratives end in the same tree without what trials left out\n", same, n)
		fmt.Printf("%d steps before trials\n", untrimmed)
		fmt.Printf("recall    %.3f (%d of %d needed steps)\n", float64(found)/float64(needed), found, needed)
		fmt.Printf("precision %.3f (%d of %d steps of plans)\n", float64(right)/float64(kept), right, kept)
	})
}
