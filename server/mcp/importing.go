package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
)

type importIn struct {
	Path string `json:"path,omitempty" doc:"default: yours"`
	// History is how many commits before HEAD are imported with the contents of their files.
	History     int  `json:"history,omitempty"`
	WorkingTree bool `json:"working_tree,omitempty" doc:"uncommitted changes too"`
}

func imports(ctx context.Context, c *call, in importIn) (a answer, err error) {
	dirs := c.dirs(ctx)
	dir := in.Path
	if dir == "" {
		if len(dirs) == 0 {
			return a, &argumentError{toolImport, "path is missing: the directory of a git repository"}
		}
		dir = dirs[0]
	}
	if !filepath.IsAbs(dir) && len(dirs) > 0 {
		dir = filepath.Join(dirs[0], dir)
	}
	dir = filepath.Clean(dir)
	if err := mayImport(dir, dirs); err != nil {
		return a, err
	}
	history := in.History
	switch {
	case history < 0:
		return a, &argumentError{toolImport, fmt.Sprintf("history: %d: want 1 or more", history)}
	case history == 0:
		history = -1 // as many as before
	}
	report, err := c.server.o.Import(ctx, dir, history, in.WorkingTree, func(p api.Progress) { c.progress(ctx, p) })
	if err != nil {
		return a, fmt.Errorf("import %s: %w", dir, err)
	}
	a.add("import/git", report, query.Basis{Status: query.StatusOK}, "unread", "missing")
	return a, nil
}

// mayImport returns why a directory may not be imported (decision 82).
func mayImport(dir string, dirs []string) error {
	for _, root := range dirs {
		if rel, err := filepath.Rel(root, dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil
		}
	}
	return &refusedError{fmt.Sprintf("%s is not below your directories (%s): ask the user to run: recount import git %s", dir, strings.Join(dirs, ", "), dir)}
}
