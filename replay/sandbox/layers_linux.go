package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// layerOf returns the directory, below state, of the layer that takes what commands write to path, a
// directory of tools in a home. Its name is that of the path, so that a later sandbox with the same
// state has each layer over the directory that it was over, whatever else PATH names by then.
func layerOf(state, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(state, "homes", hex.EncodeToString(sum[:8]))
}

// makeLayers makes the layers for the tools of the own home, and for those of other homes that the user
// may write to: pyenv, for one, writes a lock beside its shims to run a program. Nothing takes over what
// a layer holds.
func makeLayers(s setup) error {
	var all []string
	for _, rel := range s.Visible {
		all = append(all, filepath.Join(s.Home, rel))
	}
	for _, p := range s.Tools {
		if unix.Access(p, unix.W_OK) == nil {
			all = append(all, p)
		}
	}
	for _, p := range all {
		for _, d := range []string{"upper", "work"} {
			if err := os.MkdirAll(filepath.Join(layerOf(s.State, p), d), 0o755); err != nil {
				return fmt.Errorf("sandbox: %w", err)
			}
		}
	}
	return nil
}
