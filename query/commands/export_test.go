package commands

// ListFewRows sets up to how many rows a filter lists, until the function returned
// is called.
func ListFewRows(n int) (restore func()) {
	was := fewRows
	fewRows = n
	return func() { fewRows = was }
}
