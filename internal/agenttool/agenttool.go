// Package agenttool says what the tools of coding agents do: which files a call changes, as command
// lines, and how a command ended. Hooks and imports use it alike, so that both record the same
// commands with the same ids.
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
}

// Edits returns what a tool does to files as command lines: edit PATH, create PATH and rm PATH. The
// arguments are a JSON object, or the text of a patch.
func Edits(tool string, arguments []byte) []string {
	var c change
	if json.Unmarshal(arguments, &c) != nil {
		c.Patch = text(arguments)
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
		var edits []string
		for _, x := range c.Changes[:min(len(c.Changes), maxEdits)] {
			edits = append(edits, map[text]string{"add": "create ", "delete": "rm "}[x.Kind]+word(string(x.Path)))
			if x.Kind != "add" && x.Kind != "delete" {
				edits[len(edits)-1] = "edit " + word(string(x.Path))
			}
		}
		return edits
	case "apply_patch", "patch":
		for _, patch := range []text{c.Input, c.Patch, c.PatchText, c.Command} {
			if edits := patched(string(patch)); edits != nil {
				return edits
			}
		}
		return nil
	}
	for _, path := range []text{c.FilePath, c.FilePath2, c.NotebookPath, c.Path, c.TargetFile, c.Filename} {
		if verb != "" && path != "" {
			return []string{verb + " " + word(string(path))}
		}
	}
	return nil
}

// patched returns the files that a patch in the format of apply_patch changes.
func patched(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, h := range []struct{ head, verb string }{
			{"*** Update File: ", "edit "}, {"*** Add File: ", "create "}, {"*** Delete File: ", "rm "}, {"*** Move to: ", "create "},
		} {
			if path, ok := strings.CutPrefix(line, h.head); ok && path != "" && len(out) < maxEdits {
				out = append(out, h.verb+word(path))
			}
		}
	}
	return out
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
