package agenttool

import "strings"

// patched returns the files that a patch in the format of apply_patch changes.
func patched(patch string) []Change {
	var out []Change
	var hunk *hunk
	end := func() {
		if hunk != nil && len(out) > 0 {
			hunk.add(&out[len(out)-1])
		}
		hunk = nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if verb, path := heading(line); path != "" {
			if end(); len(out) < maxEdits {
				out = append(out, Change{Verb: verb, Path: path, Known: true})
			}
			if strings.HasPrefix(line, "*** Move to") {
				out[len(out)-1].Known = false
			}
			continue
		}
		switch {
		case len(out) == 0 || strings.HasPrefix(line, "***"):
			end()
		case out[len(out)-1].Verb == "create" && strings.HasPrefix(line, "+"):
			out[len(out)-1].Content += line[1:] + "\n"
		case strings.HasPrefix(line, "@@"):
			end()
			hunk = newHunk(strings.TrimPrefix(line[2:], " "))
		case out[len(out)-1].Verb == "edit":
			if hunk == nil {
				hunk = newHunk("")
			}
			hunk.line(line)
		}
	}
	end()
	for i := range out {
		out[i].Known = out[i].Known && (out[i].Verb != "edit" || len(out[i].Parts) > 0)
	}
	return out
}

// heading returns what the line of a patch that begins a file says of it.
func heading(line string) (verb, path string) {
	for _, h := range []struct{ head, verb string }{
		{"*** Update File: ", "edit"}, {"*** Add File: ", "create"}, {"*** Delete File: ", "rm"}, {"*** Move to: ", "create"},
	} {
		if path, ok := strings.CutPrefix(line, h.head); ok {
			return h.verb, path
		}
	}
	return "", ""
}

// hunk is a part of a patch while its lines are read: behind a line there are lines that others replace.
type hunk struct {
	behind   string
	old, new strings.Builder
	changes  bool
}

func newHunk(behind string) *hunk { return &hunk{behind: behind} }

func (h *hunk) line(s string) {
	if s == "" {
		s = " "
	}
	if s[0] != '+' {
		h.old.WriteString(s[1:] + "\n")
	}
	if s[0] != '-' {
		h.new.WriteString(s[1:] + "\n")
	}
	h.changes = h.changes || s[0] == '+' || s[0] == '-'
}

// add adds a hunk to the change of its file. One that says no line to stand at is not known.
func (h *hunk) add(c *Change) {
	if !h.changes {
		return
	}
	if c.Known = c.Known && h.old.Len() > 0; !c.Known {
		return
	}
	if h.behind != "" {
		c.Parts = append(c.Parts, Part{Old: h.behind + "\n", New: h.behind + "\n", Lines: true})
	}
	c.Parts = append(c.Parts, Part{Old: h.old.String(), New: h.new.String(), Lines: true})
}
