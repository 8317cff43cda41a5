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
