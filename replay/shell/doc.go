// Package shell reads a command line as its shell does: the simple commands it runs, in order, with
// their words after quotes are removed, the directory each runs in, and what wraps it (sudo, env,
// xargs, find -exec, sh -c, ssh).
//
// Lines of fish are read into the syntax tree of bash's with the same effects (fish.go), and session.go has what carries the
// state of a shell of zsh or fish to the next one.
//
// It is the one reader of packages effects, danger and transform. Read is a pure function of the
// text; a word whose value depends on what happens at run time is marked as dynamic, and nothing is
// guessed about it.
package shell
