package effects

import (
	"cmp"
	"path"

	"github.com/recountdb/recount/replay/shell"
)

// terminals judges tic, which compiles descriptions of terminals into a directory, and infocmp, which prints them:
// the directory is that of -o, of TERMINFO, or of the home directory.
func (f *finder) terminals(c *shell.Call) {
	f.Known = false // variables tell it where
	to := shell.Word{Value: cmp.Or(f.c.Vars["TERMINFO"], path.Join(f.c.Home, ".terminfo"))}
	if c.Name == "infocmp" {
		f.sees++
		f.path(to, c.Dir, Read, true)
		return
	}
	f.readWords(c, shell.Operands(c.Args, "-o -e -R -v"))
	if c.Flag("-c", "-C", "-I", "-V", "-D") {
		f.sees++
		return
	}
	f.acts++
	if w, ok := c.FlagValue("-o"); ok {
		to = w
	}
	f.path(to, c.Dir, Update, true)
}

// setsKeys judges crudini, which reads or changes the file of settings that it names first.
func (f *finder) setsKeys(c *shell.Call) {
	f.Known = false // it is no program of every machine, so its place may come from PATH
	ws := shell.Operands(c.Args, "--format --existing")
	access := Read
	if !c.Flag("--get") {
		access = Update
	}
	if f.readsOr(access); len(ws) > 0 {
		f.path(ws[0], c.Dir, access, false)
	}
}

// readsOr counts a call that reads, or changes something.
func (f *finder) readsOr(a Access) {
	if a == Read {
		f.sees++
	} else {
		f.acts++
	}
}
