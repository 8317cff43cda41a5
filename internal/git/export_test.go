package git

// Changes returns the changes from a parent to a commit, sorted by path; with parent "" those from
// the empty tree.
func (d *Diffs) Changes(commit, parent string) (changes []Change, err error) {
	err = d.Each([]Pair{{commit, parent}}, func(_ int, all []Change, lacks Lacks) error {
		if lacks == LacksTrees {
			return &ObjectError{ID: commit, Detail: "its trees are missing"}
		}
		changes = all
		return nil
	})
	return changes, err
}
