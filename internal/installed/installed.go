// Package installed finds the programs of the same installation: an archive of a release holds
// recount, which people type, and the programs that it starts.
package installed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The programs of a release besides recount.
const (
	// Engine has every verb. recount starts it for what it does not do itself. It is cmd/recount; a
	// build of that alone is complete, and is called recount then.
	Engine = "recount-engine"
	// Local answers what recount asks a server, from the data directory.
	Local = "recount-local"
	// Pipeline has Benthos.
	Pipeline = "recount-pipeline"
)

// Beside returns the path of a program: beside this one, else on the PATH.
func Beside(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if path := filepath.Join(filepath.Dir(self), name); runnable(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s: not beside recount and not on the PATH: install it from the archive that recount came from, or build the programs from source with make build", name)
	}
	return path, err
}

// EnginePath returns the path of the program that has every verb, for the small program. Under any
// other name than recount, such as go install ./cmd/... gives it, the whole program may be called
// recount.
func EnginePath() (string, error) {
	path, err := Beside(Engine)
	if err == nil {
		return path, nil
	}
	if self, bad := os.Executable(); bad == nil && filepath.Base(self) != "recount" {
		if path := filepath.Join(filepath.Dir(self), "recount"); runnable(path) {
			return path, nil
		}
	}
	return "", err
}

// Recount returns the path of the program that people type, which hooks and settings of other
// programs name: this program, or recount beside it if this is the engine.
func Recount() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of this program: %w", err)
	}
	return front(self), nil
}

// front returns the path of recount beside the engine, and any other path as it is.
func front(self string) string {
	if filepath.Base(self) != Engine {
		return self
	}
	if path := filepath.Join(filepath.Dir(self), "recount"); runnable(path) {
		return path
	}
	return self
}

func runnable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
