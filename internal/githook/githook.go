// Package githook installs Recount's hooks in git repositories and removes them. A hook reports
// commits to Recount in the background; it never delays git and never fails.
//
// A file that is not completely Recount's is never written or removed, and links are not followed;
// Result then contains the line to add by hand.
package githook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names are the hooks that run when a user's command moves HEAD or a branch; other changes (a
// fetch, a push from elsewhere) have no hook.
var Names = []string{"post-commit", "post-merge", "post-rewrite", "post-checkout"}

// mark is in the second line of hooks that Recount made.
const mark = "# recount-hook: made by recount watch git --install-hooks, removed by --uninstall-hooks"

// Result is the result for one hook.
type Result struct {
	Hook string `json:"hook"`
	File string `json:"file"`
	// Done is "installed", "there already", "removed", "not there" or "foreign".
	Done string `json:"done"`
	// Add is the line to add to a hook that belongs to another program.
	Add string `json:"add,omitempty"`
}

// Line returns the line that a hook runs: bin with args, in the background. git runs hooks in the
// root of the working tree, so "." names it.
func Line(bin string, args ...string) string {
	words := []string{quote(bin)}
	for _, a := range args {
		words = append(words, quote(a))
	}
	return "( " + strings.Join(words, " ") + " . </dev/null >/dev/null 2>&1 & )"
}

// quote quotes any text as one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func script(line string) []byte { return []byte("#!/bin/sh\n" + mark + "\n" + line + "\nexit 0\n") }

// Install writes the hooks into a directory, which it creates if needed. Hooks of Recount with
// another line are rewritten.
func Install(dir, line string) ([]Result, error) {
	if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
		return nil, fmt.Errorf("%s: a link, or not a folder: hooks are not installed there", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	var results []Result
	for _, name := range Names {
		r := Result{Hook: name, File: filepath.Join(dir, name)}
		old, state, err := look(r.File)
		if err != nil {
			return results, err
		}
		switch {
		case state == foreign:
			r.Done, r.Add = "foreign", line
		case state == ours && bytes.Equal(old, script(line)):
			r.Done = "there already"
		default:
			if err := write(r.File, script(line), state == ours); err != nil {
				return results, err
			}
			r.Done = "installed"
		}
		results = append(results, r)
	}
	return results, nil
}

// Uninstall removes the hooks that Recount made.
func Uninstall(dir string) ([]Result, error) {
	var results []Result
	for _, name := range Names {
		r := Result{Hook: name, File: filepath.Join(dir, name), Done: "not there"}
		_, state, err := look(r.File)
		if err != nil {
			return results, err
		}
		switch state {
		case foreign:
			r.Done = "foreign"
		case ours:
			if err := os.Remove(r.File); err != nil {
				return results, fmt.Errorf("hooks: %w", err)
			}
			r.Done = "removed"
		}
		results = append(results, r)
	}
	return results, nil
}

// These are the owners of a file.
const (
	absent = iota
	ours
	foreign
)

// look reads a hook and determines its owner: one of Recount's has the mark in its second line and
// the length that Install writes.
func look(file string) (content []byte, state int, err error) {
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, absent, nil
	case err != nil:
		return nil, absent, fmt.Errorf("hooks: %w", err)
	case !st.Mode().IsRegular():
		return nil, foreign, nil
	}
	if content, err = os.ReadFile(file); err != nil {
		return nil, absent, fmt.Errorf("hooks: %w", err)
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) == 5 && lines[1] == mark && lines[3] == "exit 0" {
		return content, ours, nil
	}
	return content, foreign, nil
}

// write creates a file under a temporary name and links or renames it, so that a hook that git
// starts meanwhile is complete, and one that another program created first is kept.
func write(file string, content []byte, replace bool) (err error) {
	t, err := os.CreateTemp(filepath.Dir(file), ".recount-hook-*")
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	defer func() {
		if rerr := os.Remove(t.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}()
	_, err = t.Write(content)
	if err = errors.Join(err, t.Chmod(0o755), t.Close()); err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	if replace {
		err = os.Rename(t.Name(), file)
	} else {
		err = os.Link(t.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	return nil
}
