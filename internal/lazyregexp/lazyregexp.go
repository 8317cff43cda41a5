// Package lazyregexp has regular expressions that are compiled when they are first used. Each
// start of the program would otherwise compile the hundreds that are variables of packages, which
// took a third of the time of a short verb.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that its first use compiles. It is safe for concurrent use.
type Regexp struct {
	expr string
	get  func() *regexp.Regexp
}

var (
	mu sync.Mutex
	// all has every expression made, by its text. mu guards it.
	all = map[string]*Regexp{}
)

// New returns the regular expression expr, the same one for the same text. It is kept for ever, so
// that expr must be a constant. The first use panics if expr is none; CompileAll finds that in a test.
func New(expr string) *Regexp {
	mu.Lock()
	defer mu.Unlock()
	r := all[expr]
	if r == nil {
		r = &Regexp{expr: expr, get: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
		all[expr] = r
	}
	return r
}

// CompileAll compiles every expression of the packages that the program imports and returns how
// many there are. It panics at one that is wrong.
func CompileAll() int {
	mu.Lock()
	defer mu.Unlock()
	for _, r := range all {
		r.get()
	}
	return len(all)
}

// String returns the expression's text.
func (r *Regexp) String() string { return r.expr }

// MatchString is regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindAllString is regexp.Regexp.FindAllString.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex is regexp.Regexp.FindAllStringIndex.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllStringSubmatch is regexp.Regexp.FindAllStringSubmatch.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp.FindAllStringSubmatchIndex.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(s, repl string) string { return r.get().ReplaceAllString(s, repl) }

// ReplaceAllStringFunc is regexp.Regexp.ReplaceAllStringFunc.
func (r *Regexp) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, repl)
}
