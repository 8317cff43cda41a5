// Package githook puts Recount's hooks into git repositories and takes them out
// again. A hook tells Recount of what was committed in the background; it never
// makes git wait and never fails.
//
// What a caller may rely on: a file that is not Recount's alone is never written
// or removed, nor is a link followed; Result says then what to add to it by hand.
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

// Names are the hooks that move HEAD or a branch by a user's command; what else
// does (a fetch, a push from elsewhere) has none.
var Names = []string{"post-commit", "post-merge", "post-rewrite", "post-checkout"}

// mark stands in the second line of what is ours.
const mark = "# recount-hook: made by recount watch git --install-hooks, removed by --uninstall-hooks"

// Result is what became of one hook.
type Result struct {
	Hook string `json:"hook"`
	File string `json:"file"`
	// Done is "installed", "there already", "removed", "not there" or "foreign".
	Done string `json:"done"`
	// Add is the line for a hook that is another's.
	Add string `json:"add,omitempty"`
}

// Line is what a hook runs: bin with args, in the background. git runs hooks in
// the root of the working tree, which "." names.
func Line(bin string, args ...string) string {
	words := []string{quote(bin)}
	for _, a := range args {
		words = append(words, quote(a))
	}
	return "( " + strings.Join(words, " ") + " . </dev/null >/dev/null 2>&1 & )"
}

// quote makes one word of the shell of any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func script(line string) []byte { return []byte("#!/bin/sh\n" + mark + "\n" + line + "\nexit 0\n") }

// Install makes the hooks in a folder, which is made if need be. Hooks of ours
// with another line are made anew.
func Install(dir, line string) ([]Result, error) {
	if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
		return nil, fmt.Errorf("%s: a link, or no folder: hooks are not put behind one", dir)
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

// Uninstall removes the hooks that are ours.
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

// Whose a file is.
const (
	absent = iota
	ours
	foreign
)

// look reads a hook and tells whose it is: ours has the mark in its second line
// and is as long as we write.
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

// write makes a file by a name of its own and a link or rename, so that a hook
// that git starts meanwhile is whole, and one that another made first stays.
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
