package commits

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/git"
)

// The table below lists what is skipped, with the reason stored in the commit. The first matching
// row applies; docs/code.md shows the table.
//
//	reason                 what
//	submodule              mode 160000: a commit of another repository
//	symlink                mode 120000
//	vendored: DIR          below a directory vendor, node_modules or third_party
//	vendored: .gitattributes  the root's .gitattributes sets linguist-vendored
//	generated: lock file   by name: package-lock.json, go.sum, Cargo.lock, …
//	generated: minified    JavaScript or CSS by name (.min.js) or with lines of
//	                       minifiedLine bytes on average; source maps
//	binary                 a zero byte among the first 8000, as in git
//	oversized: …           above the limit of one file, or of one event after
//	                       compression
//	missing                the clone does not have it
//
// If linguist-vendored is unset or false for a path, the vendored rows do not apply to it. Other
// generated code is kept, because it declares what its callers call.

var vendoredDirs = []string{"vendor", "node_modules", "third_party"}

var lockFiles = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "bun.lock": true,
	"deno.lock": true, "go.sum": true, "go.work.sum": true, "Cargo.lock": true, "Gemfile.lock": true, "composer.lock": true,
	"poetry.lock": true, "Pipfile.lock": true, "uv.lock": true, "pdm.lock": true, "packages.lock.json": true,
	"gradle.lockfile": true, "Podfile.lock": true, "pubspec.lock": true, "mix.lock": true, "flake.lock": true,
	".terraform.lock.hcl": true, "Package.resolved": true,
}

// These describe minified files.
var (
	minifiable    = []string{".js", ".mjs", ".cjs", ".css"}
	minifiedNames = []string{".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", ".js.map", ".mjs.map", ".css.map"}
)

const (
	minifiedLine = 300
	minifiedSize = 4096 // smaller files are never considered minified
)

// skipPath returns why a file is skipped by its mode or path, "" if it is not.
func skipPath(p string, mode uint32, attrs attributes) string {
	switch mode {
	case git.ModeSubmodule:
		return "submodule"
	case git.ModeSymlink:
		return "symlink"
	}
	vendored, said := attrs.vendored(p)
	if vendored {
		return "vendored: .gitattributes"
	}
	if !said {
		dirs := strings.Split(p, "/")
		for _, d := range dirs[:len(dirs)-1] {
			if slices.Contains(vendoredDirs, d) {
				return "vendored: " + d
			}
		}
	}
	name := path.Base(p)
	if lockFiles[name] {
		return "generated: lock file"
	}
	for _, suffix := range minifiedNames {
		if strings.HasSuffix(name, suffix) {
			return "generated: minified"
		}
	}
	return ""
}

// verdict is the result for a file's content.
type verdict byte

const (
	sent verdict = iota
	binaryFile
	oversized
	incompressible
	minified
)

// reason returns why a change in a commit has no content, "" if the content is on the log.
func (v verdict) reason(size int64, l Limits) string {
	switch v {
	case binaryFile:
		return "binary"
	case oversized:
		return fmt.Sprintf("oversized: %d bytes, the limit is %d", size, l.Content)
	case incompressible:
		return fmt.Sprintf("oversized: %d bytes are more than %d when compressed", size, l.Event)
	case minified:
		return "generated: minified"
	}
	return ""
}

// gitLooksAt is how many bytes of a file git examines to tell text from binary.
const gitLooksAt = 8000

// judge returns the verdict for a file's content.
func judge(p string, content []byte) verdict {
	if bytes.IndexByte(content[:min(len(content), gitLooksAt)], 0) >= 0 {
		return binaryFile
	}
	if len(content) >= minifiedSize && slices.Contains(minifiable, path.Ext(p)) &&
		len(content)/(bytes.Count(content, []byte("\n"))+1) > minifiedLine {
		return minified
	}
	return sent
}
