package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// gitKeys are the settings of git that commands see, in lower case: who commits, and what decides how
// commands come out. Others may name credentials, or programs.
var gitKeys = []string{
	"user.name", "user.email", "init.defaultbranch", "protocol.file.allow", "pull.rebase", "pull.ff", "merge.ff", "merge.conflictstyle",
	"rebase.autosquash", "rebase.autostash", "push.default", "core.autocrlf", "core.eol", "core.quotepath", "commit.cleanup", "diff.algorithm",
}

// writeGitConfig writes the settings that commands need into the home directory of a sandbox. A
// machine without git has none.
func writeGitConfig(ctx context.Context, home, to string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	list := exec.CommandContext(ctx, git, "config", "--global", "--null", "--list")
	list.Env = append(os.Environ(), "HOME="+home)
	list.Dir = "/"
	all, err := list.Output()
	if err != nil {
		return nil // there are none
	}
	path := filepath.Join(to, ".gitconfig")
	for _, entry := range bytes.Split(all, []byte{0}) {
		key, value, ok := bytes.Cut(entry, []byte("\n"))
		if !ok || !slices.Contains(gitKeys, string(key)) {
			continue
		}
		set := exec.CommandContext(ctx, git, "config", "--file", path, string(key), string(value))
		set.Dir = "/"
		if out, err := set.CombinedOutput(); err != nil {
			return fmt.Errorf("sandbox: write %s: %w: %s", path, err, bytes.TrimSpace(out))
		}
	}
	return nil
}
