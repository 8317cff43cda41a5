package context

import (
	"path"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

var (
	testDir  = lazyregexp.New(`(?i)(^|/)(tests?|__tests__|testing|testdata|testsuites?|specs?|it|e2e|integration[-_]tests?|[^/]*[._-](unit|integration)?tests?)/|(^|/)[^/]*(Unit|Integration)?Tests/`)
	testBase = lazyregexp.New(`(?i:^(test|spec)[_.-]|[_.-](test|spec|tests|specs)\.[a-z]+$|^conftest\.py$)|(Tests?|IT|Spec)\.(java|kt|cs|scala|php|swift)$|^Test[A-Z0-9].*\.java$`)
	noise    = lazyregexp.New(`(?i)(^|/)(dist|build|vendor|third_party|node_modules|target|snapshots?|__snapshots__|generated)/|\.(lock|min\.js|min\.css|map|snap|svg|png|gif|ico|woff2?|pb\.go|bundle\.js)$|_pb2(_grpc)?\.py$|(^|/)(package-lock\.json|pnpm-lock\.yaml|yarn\.lock|go\.sum|cargo\.lock|poetry\.lock|uv\.lock)$`)
	prose    = lazyregexp.New(`(?i)(^|/)(change(log|s)?|releases?|history|news|licen[cs]e|readme|contributing|authors|code_of_conduct|security)[^/]*$|\.(md|mdx|rst|adoc|txt)$`)
)

var setup = lazyregexp.New(`(?i)(^|/)(\.[a-z]+|docs?|website)/`)

// testPath, noisy, prosePath and asidePath judge a file by its path: a test or what tests read; what a
// program wrote; text for people; that, or what is about the code without being part of it.
func testPath(p string) bool  { return testDir.MatchString(p) || testBase.MatchString(path.Base(p)) }
func noisy(p string) bool     { return noise.MatchString(p) }
func prosePath(p string) bool { return prose.MatchString(p) }
func asidePath(p string) bool { return prosePath(p) || setup.MatchString(p) }

var stemMarks = lazyregexp.New(`(?i:^(test|tests|spec)[_.-]|[_.-](test|tests|spec|specs|unit|integration|e2e)$)|(UnitTests?|IntegrationTests?|Tests?|IT|Spec)$|^Test([A-Z])`)

// stemOf returns what a file and its test have in common: the base without extension and without the
// marks of a test, in lower case without underscores.
func stemOf(base string) string {
	name := base
	if i := strings.IndexByte(name[min(1, len(name)):], '.'); i >= 0 {
		name = name[:i+1]
	}
	name = stemMarks.ReplaceAllString(name, "$4")
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// nameSimilarity returns how alike the names of a file and of another are, 0 to 1: 1 where they differ only in
// the marks of a test and lie in the same or in corresponding folders.
func nameSimilarity(a, b *file) float64 {
	var s float64
	switch {
	case a.stem == "" || b.stem == "":
		return 0
	case a.stem == b.stem:
		s = 1
		if plainStems[a.stem] { // every folder has one
			s = 0.35
		}
	case len(a.stem) > 3 && len(b.stem) > 3 && (strings.HasPrefix(a.stem, b.stem) || strings.HasPrefix(b.stem, a.stem)):
		s = 0.5 * float64(min(len(a.stem), len(b.stem))) / float64(max(len(a.stem), len(b.stem)))
	case len(a.stem) > 3 && len(b.stem) > 3 && (strings.Contains(a.stem, b.stem) || strings.Contains(b.stem, a.stem)):
		s = 0.35 * float64(min(len(a.stem), len(b.stem))) / float64(max(len(a.stem), len(b.stem)))
	default:
		// A file in a folder, tested by a file with the folder's name.
		if n := len(a.dirs); n > 0 && strings.EqualFold(a.dirs[n-1], b.stem) && b.test != a.test {
			s = 0.3
		} else {
			return 0
		}
	}
	return s * (0.4 + 0.6*near(a, b))
}

var plainStems = map[string]bool{"index": true, "init": true, "": true, "mod": true, "main": true, "lib": true, "utils": true, "util": true, "types": true, "common": true, "helpers": true, "doc": true}

// near returns how much of their folders two files have in common, 0 to 1, ignoring folders that
// separate tests from code.
func near(a, b *file) float64 {
	x, y := placeDirs(a.dirs), placeDirs(b.dirs)
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	common := 0
	for common < len(x) && common < len(y) && x[common] == y[common] {
		common++
	}
	// Corresponding folders may begin at different ones: src/a/b and tests/a/b.
	end := 0
	for end < len(x)-common && end < len(y)-common && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return float64(2*(common+end)) / float64(len(x)+len(y))
}

// placeDirs leaves out folders that say only what kind of file is below them.
func placeDirs(dirs []string) (kept []string) {
	for _, d := range dirs {
		switch strings.ToLower(d) {
		case "src", "lib", "test", "tests", "__tests__", "main", "java", "kotlin", "spec", "specs", "unit", "unittests", "it", "testing":
		default:
			kept = append(kept, d)
		}
	}
	return kept
}
