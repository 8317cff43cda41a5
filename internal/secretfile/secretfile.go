// Package secretfile checks that other users of the machine cannot read or write a file that holds
// a token.
package secretfile

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// mounted is the folder where docker and podman mount a container's secrets, readable by all of the
// container's processes.
const mounted = "/run/secrets/"

// Check fails if others on the machine can read a file that holds a token, or if others or its
// group can write it. A file that does not exist passes.
func Check(path string) error {
	mode, ok := modeOf(path)
	if ok && mode&0o004 != 0 {
		return fmt.Errorf("%s: mode %04o: other users of this machine can read the token in it: run chmod 600 %s, and replace the token if someone may have read it", path, mode, path)
	}
	return CheckWriters(path)
}

// CheckWriters fails if a file's group or others can write it, and so add tokens.
func CheckWriters(path string) error {
	if mode, ok := modeOf(path); ok && mode&0o022 != 0 {
		return fmt.Errorf("%s: mode %04o: users other than its owner can write it and so add tokens: run chmod go-w %s", path, mode, path)
	}
	return nil
}

// modeOf returns who may read and write a file. ok is false if there is none, and for a secret that
// a container mounts.
func modeOf(path string) (mode fs.FileMode, ok bool) {
	st, err := os.Stat(path)
	if err != nil || strings.HasPrefix(path, mounted) {
		return 0, false
	}
	return st.Mode().Perm(), true
}
