package recording

import (
	"errors"
	"os"
	"path/filepath"
)

// DataDir is the data directory that the flag says, or else the environment, by default
// the user's data folder.
func DataDir(flag string, getenv func(string) string) (string, error) {
	for _, dir := range []string{flag, getenv("RECOUNT_DATA_DIR")} {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	base := getenv("XDG_DATA_HOME")
	if base == "" || !filepath.IsAbs(base) {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("no data directory: neither --data-dir, RECOUNT_DATA_DIR nor HOME is set")
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "recount"), nil
}

// ConfigFile is the config file that the flag says, or else the environment, by default
// that of the user's config folder, "" where there is none.
func ConfigFile(flag string, getenv func(string) string) string {
	for _, file := range []string{flag, getenv("RECOUNT_CONFIG")} {
		if file != "" {
			return file
		}
	}
	base := getenv("XDG_CONFIG_HOME")
	if base == "" || !filepath.IsAbs(base) {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	file := filepath.Join(base, "recount", "config.yaml")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}
