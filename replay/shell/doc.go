// Package shell reads a command line as its shell does: the simple commands it runs, in order, with
// their words after quotes are removed, the directory each runs in, and what wraps it (sudo, env,
// xargs, find -exec, sh -c, ssh).
//
// It is the one reader of packages effects, danger and transform. Read is a pure function of the
// text; a word whose value depends on what happens at run time is marked as dynamic, and nothing is
// guessed about it.
package shell
