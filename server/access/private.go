package access

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// LeastToken is the minimum length of the operator's token in characters; shorter ones can be
// guessed.
const LeastToken = 16

// mounted is the folder where docker and podman mount a container's secrets, readable by all of the
// container's processes.
const mounted = "/run/secrets/"

// CheckSecretFile fails if others on the machine can read a file that holds a token, or if others
// or its group can write it. A file that does not exist passes.
func CheckSecretFile(path string) error {
	mode, err := modeOf(path)
	switch {
	case err != nil || strings.HasPrefix(path, mounted):
		return nil
	case mode&0o004 != 0:
		return fmt.Errorf("%s: mode %04o: other users of this machine can read the token in it: run chmod 600 %s, and replace the token if someone may have read it", path, mode, path)
	}
	return checkWriters(path, mode)
}

// checkWriters fails if a file's group or others can write it.
func checkWriters(path string, mode fs.FileMode) error {
	if mode&0o022 != 0 {
		return fmt.Errorf("%s: mode %04o: users other than its owner can write it and so add tokens: run chmod go-w %s", path, mode, path)
	}
	return nil
}

func modeOf(path string) (fs.FileMode, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Mode().Perm(), nil
}

// CheckToken fails if an operator's token is short enough to be guessed.
func CheckToken(token string) error {
	if n := len([]rune(token)); n < LeastToken {
		return fmt.Errorf("the token has %d characters, want at least %d: openssl rand -hex 32 makes one", n, LeastToken)
	}
	return nil
}
