package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// HooksDir returns the directory from which git runs this repository's hooks (core.hooksPath, else
// hooks). shared means that it is outside the repository, so that other repositories may use it as
// well.
func (r *Repo) HooksDir(ctx context.Context) (dir string, shared bool, err error) {
	// This is not hardened, because that would set core.hooksPath itself; reading a setting runs
	// nothing.
	out, err := finish(r.commandIn(ctx, r.Root(), []string{"--git-dir=" + r.GitDir, "config", "--null", "--type=path", "--get", "core.hooksPath"}), "config")
	var ge *Error
	if errors.As(err, &ge) && ge.ExitCode() == 1 {
		return filepath.Join(r.CommonDir, "hooks"), false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("core.hooksPath: %w", err)
	}
	dir = strings.TrimSuffix(string(out), "\x00")
	if !filepath.IsAbs(dir) {
		root := r.TopLevel
		if root == "" {
			root = r.GitDir
		}
		dir = filepath.Join(root, dir)
	}
	return dir, !within(dir, r.CommonDir) && (r.TopLevel == "" || !within(dir, r.TopLevel)), nil
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
