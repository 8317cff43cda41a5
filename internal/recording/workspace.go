package recording

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// Workspace returns the root of the repository that contains a directory, found by the directory of
// a version control system; "" if there is none.
func Workspace(cwd string) string {
	if !filepath.IsAbs(cwd) {
		return ""
	}
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		for _, mark := range []string{".git", ".jj", ".hg"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// MemoryWorkspace returns the workspace that agents' memory of a directory belongs to: the root of its repository, as
// Workspace returns it, or of the main working tree if it is in a linked one (git worktree). Of a bare repository it is
// the repository's own directory. A submodule is a repository of its own.
func MemoryWorkspace(cwd string) string {
	root := Workspace(cwd)
	dir, common := gitDirs(root)
	if dir == common {
		return root
	}
	main := filepath.Dir(common)
	if f, err := os.ReadFile(filepath.Join(common, "config")); err == nil { // that of a submodule names its working tree
		for line := range strings.Lines(string(f)) {
			if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "worktree" {
				main = below(common, strings.TrimSpace(value))
			}
		}
	}
	if _, its := gitDirs(main); its != common {
		return common
	}
	return main
}

// Cached returns a function of directories with a cache, for histories that name the same directory many times.
func Cached(of func(dir string) string) func(string) string {
	known := map[string]string{}
	return func(dir string) string {
		ws, ok := known[dir]
		if !ok {
			ws = of(dir)
			known[dir] = ws
		}
		return ws
	}
}

// gitDirs returns the directory of git for a working tree, and the one that it shares with the repository's other
// working trees; "" if there is none.
func gitDirs(root string) (dir, common string) {
	if root == "" {
		return "", ""
	}
	dir = filepath.Join(root, ".git")
	if b, err := os.ReadFile(dir); err == nil { // a worktree or submodule: a file that names the directory
		link, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !ok {
			return "", ""
		}
		dir = below(root, link)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		return dir, below(dir, strings.TrimSpace(string(b)))
	}
	return dir, dir
}

// below returns a path that is relative to a directory, or absolute.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// GitHead returns the commit that HEAD names, without running git; "" if there is none, or if the
// repository uses a newer format for references.
func GitHead(root string) string {
	dir, common := gitDirs(root)
	if dir == "" {
		return ""
	}
	b, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	head := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return commitID(head)
	}
	for _, d := range []string{dir, common} {
		if b, err := os.ReadFile(filepath.Join(d, filepath.FromSlash(ref))); err == nil {
			return commitID(strings.TrimSpace(string(b)))
		}
	}
	f, err := os.Open(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if id, name, ok := strings.Cut(sc.Text(), " "); ok && name == ref {
			return commitID(id)
		}
	}
	return ""
}

// commitID returns s if it is the hexadecimal id of a commit, else "".
func commitID(s string) string {
	if (len(s) != 40 && len(s) != 64) || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}
