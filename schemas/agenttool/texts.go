package agenttool

// replacement has the names that tools give to a text and what takes its place.
type replacement struct {
	OldString  *text `json:"old_string"`
	OldString2 *text `json:"oldString"`
	OldStr     *text `json:"old_str"`
	NewString  *text `json:"new_string"`
	NewString2 *text `json:"newString"`
	NewStr     *text `json:"new_str"`
	All        any   `json:"replace_all"`
	All2       any   `json:"replaceAll"`
	Expected   any   `json:"expected_replacements"`
}

// told sets the texts of a change from the arguments of its call.
func (out *Change) told(c *change) {
	if out.Verb == "create" {
		for _, t := range []*text{c.Content, c.FileText} {
			if t != nil {
				out.Content, out.Known = string(*t), true
			}
		}
		return
	}
	all := c.Edits
	if len(all) == 0 {
		all = []replacement{c.replacement}
	}
	for i, r := range all {
		p, ok := r.part()
		if !ok {
			out.Parts = nil
			return
		}
		if i == 0 && p.Old == "" {
			out.Content = p.New // it makes the file
			if len(all) > 1 {
				return
			}
			break
		}
		out.Parts = append(out.Parts, p)
	}
	out.Known = true
}

// part returns a replacement, if it has both texts.
func (r replacement) part() (p Part, ok bool) {
	first := func(all ...*text) (string, bool) {
		for _, t := range all {
			if t != nil {
				return string(*t), true
			}
		}
		return "", false
	}
	var both bool
	if p.Old, ok = first(r.OldString, r.OldString2, r.OldStr); ok {
		p.New, both = first(r.NewString, r.NewString2, r.NewStr)
	}
	n, _ := r.Expected.(float64)
	p.All = r.All == true || r.All == "true" || r.All2 == true || n > 1
	return p, ok && both
}
