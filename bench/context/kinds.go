package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	sourceExtensions = []string{".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".java", ".go", ".rs", ".cs"}
	testFolders      = []string{"test", "tests", "__tests__", "testing", "testdata", "testsuite", "testsuites", "spec", "specs", "it", "integration-test", "integration-tests"}
	testFolder       = regexp.MustCompile(`(?i)([._-](unit|integration)?tests?|UnitTests)$`)
	testName         = regexp.MustCompile(`(?i)((^|[_.-])(test|spec)s?[_.-]|_test\.(go|rs|py)$)|(Tests?|IT)\.(java|cs)$|^Test[A-Z0-9].*\.java$`)
	madeBySomething  = regexp.MustCompile(`(?i)(^|/)(dist|build|vendor|third_party|node_modules|target|snapshots?|generated)/|\.(lock|min\.js|map|snap|snapshot|pb\.go|g\.cs|svg|png|gif|ico|woff2?)$|(^|/)(package-lock\.json|pnpm-lock\.yaml|go\.sum|[^/]*\.verified\.txt)$`)
	proseOrSetup     = regexp.MustCompile(`(?i)(^|/)(\.[a-z]+|docs?|website|changelogs?|release-notes)/|(^|/)(change(log|s)?|releases?|history|news|licen[cs]e|readme|contributing|authors|version|credits)[^/]*$|\.(md|mdx|rst|adoc|txt)$`)
)

// isSource, isTest and isMade sort files as Agent Retrieval Bench does, with C# in addition: source
// of a programming language, a test or what tests read, and what no person writes.
func isSource(p string) bool {
	return slices.Contains(sourceExtensions, strings.ToLower(path.Ext(p))) && !isMade(p)
}

func isMade(p string) bool { return madeBySomething.MatchString(p) }

func isTest(p string) bool {
	if isMade(p) {
		return false
	}
	dir, base := path.Split(p)
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if slices.Contains(testFolders, strings.ToLower(part)) || testFolder.MatchString(part) {
			return true
		}
	}
	return testName.MatchString(base)
}

// isWorthFinding reports whether a changed file can be what edit2ripple asks for: no prose, no
// list of changes, no setup of continuous integration, nothing that a program writes.
func isWorthFinding(p string) bool { return !isMade(p) && !proseOrSetup.MatchString(p) }
