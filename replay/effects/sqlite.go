package effects

import (
	"slices"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Guessed is how sure it is that a program writes a file that it opens for what may be no more than questions.
const Guessed = 0.65

// sqlTakesBack matches one transaction that ends with its rollback, sqlKeeps what ends another before that.
var sqlTakesBack = lazyregexp.New(`(?is)^\s*begin(\s+\w+)*\s*;([^;]*;){0,8}\s*rollback\s*;?\s*$`)

var sqlKeeps = lazyregexp.New(`(?i)\b(commit|end|release)\b`)

// sqlReads matches the commands of sqlite3 that read a file.
var sqlReads = lazyregexp.New(`(?m)^\s*\.(?:import(?: +-\S+(?: +\d+)?)*|read) +([^\s|"']+)`)

// sqlChanges matches what changes a database.
var sqlChanges = lazyregexp.New(`(?i)\b(create|insert|update|delete|drop|alter|replace|vacuum|attach|begin|pragma\s+\w+\s*=)\b|(?m:^)\.(import|read|restore|load)`)

// sqlFiles match what the shell of SQLite writes beside its database.
var sqlFiles = lazyregexp.New(`(?m)^\.(save|backup|clone|output|once|excel|log|shell|system)\s+\S`)

// sqlite judges a call of the shell of SQLite by the statements that it is told.
func (f *finder) sqlite(c *shell.Call) {
	ws := shell.Operands(c.Args, "-cmd -separator -init -newline -nullvalue")
	if len(ws) == 0 {
		f.acts++
		f.opaque(c.Dir)
		return
	}
	changes, guessed := c.Piped, false // guessed means that nothing it is told is known to change anything
	if text, known := f.fed(c); known {
		ws = append(ws, shell.Word{Value: text})
	} else if c.Fed {
		changes, guessed = true, prints(c)
	}
	for _, w := range ws[1:] {
		guessed = false
		changes = changes || w.Dynamic || sqlChanges.MatchString(w.Value) && !(sqlTakesBack.MatchString(w.Value) && !sqlKeeps.MatchString(w.Value))
		if m := sqlReads.FindStringSubmatch(w.Value); m != nil {
			f.path(shell.Word{Value: m[1]}, c.Dir, Read, false)
		}
		if sqlFiles.MatchString(w.Value) {
			f.acts++
			f.opaque(c.Dir)
		}
	}
	if ws[0].Value == ":memory:" {
		f.sees++
		return
	}
	if changes {
		f.acts++
		f.path(ws[0], c.Dir, Update, false)
		if last := len(f.Things) - 1; guessed && last >= 0 && f.Things[last].Access == Update {
			f.Things[last].Sure = Guessed
		}
		return
	}
	f.sees++
	f.path(ws[0], c.Dir, Read, false)
}

// prints reports whether a call of sqlite3 says how its answers are printed, which only questions have.
func prints(c *shell.Call) bool {
	return slices.ContainsFunc(c.Args, func(w shell.Word) bool {
		switch w.Value {
		case "-header", "-column", "-box", "-table", "-markdown", "-json", "-html", "-line", "-list", "-tabs", "-quote":
			return true
		}
		return false
	})
}
