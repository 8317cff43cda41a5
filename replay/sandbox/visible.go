package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// VisibleHome lists what of the home directory commands can see: programs, libraries and caches
// that builds use, in which no tool keeps credentials. Everything else does not exist for them.
var VisibleHome = []string{
	".bun/bin", ".bun/install",
	".cache/go-build", ".cache/pip", ".cache/uv", ".cache/yarn", ".cache/pnpm",
	".cargo/bin", ".cargo/env", ".cargo/git", ".cargo/registry/cache", ".cargo/registry/index", ".cargo/registry/src",
	".deno/bin", ".dotnet/tools", ".fnm", ".gem/ruby", ".ghcup/bin", ".ghcup/ghc",
	".gradle/caches", ".gradle/wrapper", ".ivy2/cache",
	".local/bin", ".local/lib", ".local/pipx", ".local/share/fnm", ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv",
	".m2/repository", ".npm/_cacache", ".npm-global", ".nvm", ".opam", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".volta",
	"bin", "go/bin", "go/pkg", "miniconda3", "anaconda3", "sdk", ".linuxbrew",
}

// ToolVariables name where tools are, if they are not where they are by default.
var ToolVariables = []string{"RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "NVM_DIR", "SDKMAN_DIR", "GOROOT", "JAVA_HOME"}

// toolPath returns the directories in which the caller's environment has programs and tools.
func toolPath(getenv func(string) string) string {
	all := []string{getenv("PATH")}
	for _, name := range ToolVariables {
		if v := getenv(name); v != "" {
			all = append(all, v)
		}
	}
	return strings.Join(all, string(filepath.ListSeparator))
}

// toolsElsewhere returns what is visible of other homes, as absolute paths: those of which path names a
// directory, as /home/linuxbrew/.linuxbrew/bin.
func toolsElsewhere(home, path, dir string) (all []string) {
	var homes []string
	for _, p := range filepath.SplitList(path) {
		other := homeOf(p)
		if other == "" || other == home || slices.Contains(homes, other) {
			continue
		}
		homes = append(homes, other)
		for _, rel := range visibleIn(other, path, dir) {
			all = append(all, filepath.Join(other, rel))
		}
	}
	return all
}

// homeOf returns the home directory that a path lies in, "" if it is in none.
func homeOf(path string) string {
	parts := strings.Split(filepath.Clean(path), "/")
	switch {
	case len(parts) > 2 && parts[0] == "" && parts[1] == "root":
		return "/root"
	case len(parts) > 3 && parts[0] == "" && parts[1] == "home":
		return "/home/" + parts[2]
	}
	return ""
}

// neverVisible are directories below which a directory of PATH is not shown.
var neverVisible = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".password-store", ".mozilla", ".thunderbird"}

// visibleIn returns the entries of VisibleHome that exist in home, and the directories of path
// below it, shortest first, without those that lie in another. dir, the working directory, and what
// lies in it is left out, as it has a view of its own.
func visibleIn(home, path, dir string) []string {
	var all []string
	add := func(rel string) {
		full := filepath.Join(home, rel)
		if _, err := os.Stat(full); err != nil || Within(dir, full) {
			return
		}
		// A link out of the home directory would show what the host has there.
		if real, err := filepath.EvalSymlinks(full); err != nil || real != full {
			return
		}
		all = append(all, rel)
	}
	for _, rel := range VisibleHome {
		add(rel)
	}
	for _, p := range filepath.SplitList(path) {
		rel, err := filepath.Rel(home, p)
		if err != nil || !filepath.IsAbs(p) || rel == "." || strings.HasPrefix(rel, "..") {
			continue
		}
		if first, _, _ := strings.Cut(rel, "/"); !slices.Contains(neverVisible, first) {
			add(rel)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	var out []string
	for _, rel := range all {
		if !slices.ContainsFunc(out, func(shorter string) bool { return Within(shorter, rel) }) {
			out = append(out, rel)
		}
	}
	return out
}
