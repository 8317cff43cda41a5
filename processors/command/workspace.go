package command

import (
	"path"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// sourceDirs are directories in which people keep one directory per project.
var sourceDirs = map[string]bool{
	"src": true, "code": true, "dev": true, "devel": true, "projects": true, "project": true, "repos": true,
	"repo": true, "git": true, "work": true, "workspace": true, "workspaces": true, "github": true,
	"gitlab": true, "Code": true, "Projects": true, "Developer": true, "Documents": true, "Desktop": true,
}

// workspace returns the event's own workspace, or a guess from the text of the working directory:
// the directory below a directory of projects, or the first one below a home directory, or the
// first two of any other path.
//
//	/home/ann/src/app/cmd/x                    → /home/ann/src/app
//	/home/ann/go/src/github.com/o/r/internal   → /home/ann/go/src/github.com/o/r
//	/home/ann/notes/2026                       → /home/ann/notes
//	/home/ann                                  → /home/ann
//	/srv/shop/web                              → /srv/shop
func workspace(c *recountv1.CommandExecuted) string {
	if c.Workspace != "" || c.Cwd == "" || c.Cwd[0] != '/' {
		// A relative or a Windows path does not show enough of its parents.
		if c.Workspace != "" {
			return c.Workspace
		}
		return c.Cwd
	}
	dir := path.Clean(c.Cwd)
	parts := strings.Split(dir[1:], "/")
	home := homeDepth(parts)
	for i := home; i < len(parts); i++ {
		if i > home+1 {
			break
		}
		if !sourceDirs[parts[i]] {
			continue
		}
		// A forge's host name is followed by an owner and a repository.
		next := i + 1
		if next < len(parts) && strings.Contains(parts[next], ".") && len(parts) > next+1 {
			next += 2
		}
		return prefix(parts, next+1)
	}
	if home > 0 {
		return prefix(parts, home+1)
	}
	return prefix(parts, 2)
}

// homeDepth returns the number of leading elements that name a home directory, 0 if none do.
func homeDepth(parts []string) int {
	switch {
	case parts[0] == "root":
		return 1
	case len(parts) > 1 && (parts[0] == "home" || parts[0] == "Users"):
		return 2
	}
	return 0
}

func prefix(parts []string, n int) string {
	return "/" + strings.Join(parts[:min(n, len(parts))], "/")
}
