package sandbox

import (
	"fmt"
	"os/exec"
	"strings"
)

// lookPath finds a program in the PATH of env, as execvp would.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !strings.HasPrefix(name, "/") {
			name = dir + "/" + name
		}
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("%w: %s", ErrNoProgram, name)
		}
		return name, nil
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, e := range env {
		if p, ok := strings.CutPrefix(e, "PATH="); ok {
			path = p
		}
	}
	for _, d := range strings.Split(path, ":") {
		if d == "" {
			continue
		}
		if full, err := exec.LookPath(d + "/" + name); err == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not in PATH (%s)", ErrNoProgram, name, path)
}
