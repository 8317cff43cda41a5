package recording

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// DataDir returns the data directory: the flag's value, else the environment's, else the default in
// the user's data directory.
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

// Directory returns the data directory: that of DataDir, but where neither the flag nor the
// environment has one, that of the config file. config is the flag that names the file.
func Directory(flag, config string, getenv func(string) string) (string, error) {
	if path := ConfigFile(config, getenv); path != "" && flag == "" && getenv("RECOUNT_DATA_DIR") == "" {
		var settings struct {
			DataDir string `yaml:"data_dir"`
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = yaml.Unmarshal(b, &settings)
		}
		if err != nil {
			return "", fmt.Errorf("config %s: %w", path, err)
		}
		if settings.DataDir != "" {
			return settings.DataDir, nil
		}
	}
	return DataDir(flag, getenv)
}

// ConfigFile returns the config file: the flag's value, else the environment's, else the one in the
// user's config directory, "" if that does not exist.
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
