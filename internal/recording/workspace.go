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

// Workspaces returns Workspace with a cache, for histories that name the same directory many times.
func Workspaces() func(string) string {
	known := map[string]string{}
	return func(cwd string) string {
		ws, ok := known[cwd]
		if !ok {
			ws = Workspace(cwd)
			known[cwd] = ws
		}
		return ws
	}
}

// GitHead returns the commit that HEAD names, without running git; "" if there is none, or if the
// repository uses a newer format for references.
func GitHead(root string) string {
	if root == "" {
		return ""
	}
	dir := filepath.Join(root, ".git")
	if b, err := os.ReadFile(dir); err == nil { // a worktree or submodule: a file that names the directory
		link, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !ok {
			return ""
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(root, link)
		}
		dir = link
	}
	common := dir
	if b, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common = strings.TrimSpace(string(b))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
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
