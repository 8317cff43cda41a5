package effects

import (
	"github.com/recountdb/recount/replay/shell"
)

// see adds what a call reads to print it: among what the command reads if that is kept, and otherwise among what it
// only shows.
func (f *finder) see(t Thing, kept bool) {
	if kept {
		f.add(t)
		return
	}
	shown := Effects{Things: f.Shown}
	shown.add(t)
	f.Shown = shown.Things
}

// keeps reports whether what a call prints, or says by its exit code, is kept or decides something: it goes to a file,
// into the line, or to a program that does something with it.
func (f *finder) keeps(c *shell.Call) bool {
	if c.Kept || c.Inner || f.kept || asks(c) {
		return true
	}
	if !c.Drained {
		return false
	}
	for i := f.at + 1; i < len(f.Line.Calls); i++ {
		o := &f.Line.Calls[i]
		switch {
		case o.Inner:
			continue // in the words of one that reads it
		case !o.Piped:
			return false
		case o.Kept || asks(o) || f.acting(o):
			return true
		}
	}
	return false
}

// acting reports whether a call does something by itself, beside what it prints.
func (f *finder) acting(c *shell.Call) bool {
	if c.Wraps {
		return false // what it runs is a call of its own
	}
	in := newFinder(&shell.Line{Calls: []shell.Call{*c}}, Command{Cwd: c.Dir, Home: f.c.Home})
	in.judgeCall(c)
	return in.acts > 0
}

// asks reports whether a call displays nothing, so that it was made for its exit code.
func asks(c *shell.Call) bool {
	if c.Name == "git" {
		return c.Sub() != "status" && c.Flag("-q", "--quiet", "--exit-code", "--is-ancestor", "--error-unmatch")
	}
	return searching[c.Name] && c.Flag("-q", "--quiet", "--silent")
}

// searching are programs that look for words in what they read.
var searching = words("grep egrep fgrep zgrep rg ag")

// listed adds what a program reads that lists a directory, or looks through one, where it is told none.
func (f *finder) listed(c *shell.Call, operands []shell.Word) {
	t := Thing{Kind: Path, Name: c.Dir, Access: Read, Tree: true, Sure: 0.6}
	switch {
	case c.Dir == "":
		return
	case listing[c.Name] && len(operands) == 0:
		if !c.Flag("-R", "--recursive", "--tree", "-T") {
			t.Kind, t.Tree = Entries, false
		}
		if c.Flag("-d") {
			return
		}
	case searching[c.Name] && walks(c) && len(operands) == 1 && !c.Piped && !c.Fed:
	case (c.Name == "tree" || c.Name == "du") && len(operands) == 0:
	default:
		return
	}
	f.see(t, f.keeps(c))
}

// listing are programs that list the directory in which they run, unless they are told another.
var listing = words("ls dir ll la l exa eza lsd")
