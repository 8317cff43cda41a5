package effects

import (
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// product adds a call to what tells one build from another. A line that also calls other programs that may write
// anything is compared as it stands.
func (f *finder) product(c *shell.Call) {
	switch {
	case builders[c.Name] || compilers[c.Name]:
		words := []string{c.Dir}
		for _, v := range c.Assigns {
			words = append(words, v.Name+"="+v.Value.Text)
		}
		words = append(words, c.Head.Text)
		jobs := false
		for _, w := range c.Args {
			number := strings.Trim(w.Value, "0123456789") == ""
			if quiet := quietly[w.Value] || strings.HasPrefix(w.Value, "-j"); !quiet && !(jobs && number) {
				words = append(words, w.Text)
			}
			jobs = w.Value == "-j" || w.Value == "--jobs" || w.Value == "--parallel"
		}
		f.Product += strings.Join(words, " ") + "\n"
		f.cumulates = f.cumulates || !Remakes(c) && !compilers[c.Name]
	case !shows(c):
		f.mixed = true
	}
}

// remaking are builders that make their files anew from others, by what they are told to build.
var remaking = words("make gmake ninja cmake go cargo tsc latexmk pdflatex xelatex")

// Remakes reports whether a call makes its files anew from others, by what it is told to build.
func Remakes(c *shell.Call) bool {
	switch c.Name {
	case "cmake":
		return c.Flag("--build")
	case "go", "cargo":
		return c.Sub() == "build" || c.Sub() == "run"
	}
	return remaking[c.Name]
}

// quietly are flags of builders that change what they print, or how many jobs they run at once.
var quietly = words("-s -q -k -v --silent --quiet --verbose --no-print-directory --jobs --parallel")

// staging returns the directory that a call is told by DESTDIR to install below: a prefix is a path in it then.
func staging(c *shell.Call) (shell.Word, bool) {
	for _, v := range c.Assigns {
		if v.Name == "DESTDIR" && v.Value.Value != "" {
			return v.Value, true
		}
	}
	return shell.Word{}, false
}

// environment judges python -m venv DIR and virtualenv DIR. What a directory that is there already has stays.
func (f *finder) environment(c *shell.Call) {
	f.acts++
	dirs := shell.Operands(c.Args, "-p --python --prompt --creator --seeder --app-data")
	for _, w := range dirs {
		if name, t, ok := f.named(w, c.Dir); ok && !t.Glob && !t.Partial {
			f.add(Thing{Kind: Path, Name: name, Access: Write, Tree: true, Sure: 0.85})
			continue
		}
		f.opaque(c.Dir)
	}
	if len(dirs) == 0 {
		f.opaque(c.Dir)
	}
}
