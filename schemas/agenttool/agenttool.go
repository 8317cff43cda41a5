// Package agenttool says what the tools of coding agents do: which files a call changes, as command
// lines and with the texts that it writes, and how a command ended. Hooks, imports and replays use it alike,
// so that all mean the same commands by the same ids.
package agenttool

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// CommandID returns the id of the event of the i-th command of a tool use. A hook and an import of
// the same session's file give a command the same id.
func CommandID(agent, session, useID string, i int) schemas.EventID {
	return schemas.NewCanon("recount/agent-hook/1").String(agent).String(session).String(useID).Int(int64(i)).ID()
}

// Change is what a tool does to a file.
type Change struct {
	Verb, Path string // edit, create or rm
	// Content is the text of the whole file. Otherwise Parts are replaced, one after the other. Known tells that the
	// call says either.
	Content string
	Parts   []Part
	Known   bool
}

// Part is a text of a file that is replaced by another one: where it first stands, or everywhere if All is set. That of a
// patch (Lines) are whole lines behind those of the part before it.
type Part struct {
	Old, New   string
	All, Lines bool
}

// Command returns a change as a command line, as which it is recorded.
func (c Change) Command() string { return c.Verb + " " + word(c.Path) }

// maxEdits limits the files of one patch that are reported.
const maxEdits = 64

// change is the union of the arguments of tools that change files.
type change struct {
	Command      text `json:"command"` // of editors with several verbs; of apply_patch the patch
	Input        text `json:"input"`
	Patch        text `json:"patch"`
	PatchText    text `json:"patchText"`
	FilePath     text `json:"file_path"`
	FilePath2    text `json:"filePath"`
	Path         text `json:"path"`
	NotebookPath text `json:"notebook_path"`
	TargetFile   text `json:"target_file"`
	Filename     text `json:"filename"`
	Changes      []struct {
		Path text `json:"path"`
		Kind text `json:"kind"`
	} `json:"changes"`
	Content  *text         `json:"content"`
	FileText *text         `json:"file_text"`
	Edits    []replacement `json:"edits"`
	replacement
}

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

// Edits returns what a tool does to files as command lines: edit PATH, create PATH and rm PATH. The
// arguments are a JSON object, or the text of a patch.
func Edits(tool string, arguments []byte) []string {
	var edits []string
	for _, c := range Changes(tool, arguments) {
		edits = append(edits, c.Command())
	}
	return edits
}

// Changes returns what a tool does to files, with the texts that its arguments have.
func Changes(tool string, arguments []byte) []Change {
	var c change
	if json.Unmarshal(arguments, &c) != nil {
		c = change{Patch: text(arguments)}
	}
	verb := ""
	switch strings.ToLower(tool) {
	case "edit", "multiedit", "replace", "notebookedit", "edit_file", "search_replace", "insert_edit_into_file":
		verb = "edit"
	case "write", "write_file", "create_file", "write_to_file":
		verb = "create"
	case "str_replace_editor", "str_replace_based_edit_tool", "file_editor":
		verb = map[text]string{"create": "create", "str_replace": "edit", "insert": "edit", "undo_edit": "edit"}[c.Command]
	case "file_change":
		var changes []Change
		for _, x := range c.Changes[:min(len(c.Changes), maxEdits)] {
			verb, ok := map[text]string{"add": "create", "delete": "rm"}[x.Kind]
			if !ok {
				verb = "edit"
			}
			changes = append(changes, Change{Verb: verb, Path: string(x.Path)})
		}
		return changes
	case "apply_patch", "patch":
		for _, patch := range []text{c.Input, c.Patch, c.PatchText, c.Command} {
			if changes := patched(string(patch)); changes != nil {
				return changes
			}
		}
		return nil
	}
	for _, path := range []text{c.FilePath, c.FilePath2, c.NotebookPath, c.Path, c.TargetFile, c.Filename} {
		if verb != "" && path != "" {
			out := Change{Verb: verb, Path: string(path)}
			out.told(&c)
			return []Change{out}
		}
	}
	return nil
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

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// word quotes a path for the shell, if necessary.
func word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// text is a string; it is absent if the JSON has another type.
type text string

// UnmarshalJSON accepts any value.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}
