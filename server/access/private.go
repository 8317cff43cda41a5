package access

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// LeastToken is how many characters the operator's token has at least: fewer are guessed.
const LeastToken = 16

// mounted is where docker and podman put secrets for the processes of one container,
// readable by all of them.
const mounted = "/run/secrets/"

// CheckSecretFile refuses a file that holds a token where others of the machine can read
// it, or others or its group write it. A file that is not there is not its business.
func CheckSecretFile(path string) error {
	mode, err := modeOf(path)
	switch {
	case err != nil || strings.HasPrefix(path, mounted):
		return nil
	case mode&0o004 != 0:
		return fmt.Errorf("%s: mode %04o: others on this machine can read the token in it: chmod 600 %s, and make another token if they may have", path, mode, path)
	}
	return checkWriters(path, mode)
}

// checkWriters refuses a file that others than its owner can write.
func checkWriters(path string, mode fs.FileMode) error {
	if mode&0o022 != 0 {
		return fmt.Errorf("%s: mode %04o: others than its owner can write it, and let in whom they like: chmod go-w %s", path, mode, path)
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

// CheckToken refuses an operator's token that can be guessed.
func CheckToken(token string) error {
	if n := len([]rune(token)); n < LeastToken {
		return fmt.Errorf("a token of %d characters, want %d at least: openssl rand -hex 32 makes one", n, LeastToken)
	}
	return nil
}
