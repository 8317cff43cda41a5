package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// gitKeys are the settings of git that commands see; others may name credentials.
var gitKeys = []string{"user.name", "user.email", "init.defaultBranch"}

// writeGitConfig writes the settings that commits need into the home directory of a sandbox. A
// machine without git has none.
func writeGitConfig(ctx context.Context, home, to string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	path := filepath.Join(to, ".gitconfig")
	for _, key := range gitKeys {
		get := exec.CommandContext(ctx, git, "config", "--global", "--get", key)
		get.Env = append(os.Environ(), "HOME="+home)
		get.Dir = "/"
		value, err := get.Output()
		if err != nil {
			continue // it is not set
		}
		set := exec.CommandContext(ctx, git, "config", "--file", path, key, string(bytes.TrimSuffix(value, []byte("\n"))))
		set.Dir = "/"
		if out, err := set.CombinedOutput(); err != nil {
			return fmt.Errorf("sandbox: write %s: %w: %s", path, err, bytes.TrimSpace(out))
		}
	}
	return nil
}
