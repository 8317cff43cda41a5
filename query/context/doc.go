// Package context answers what an agent should read before it begins a task: which files, which
// symbols with their code, and what is known about them, in a given number of tokens. Who imports it
// names it packing.
//
// Several channels each rank the files of one revision: what places, names and words of the task
// point at, what is joined with the given or changed files by the graph, by their names, and by the
// commits that changed them together (channel_*.go). Their lists are fused (fuse.go), symbols are
// ranked with the files that hold them (symbols.go), and what comes first is packed into the budget
// (pack.go). Every file and item of the answer names the channels that brought it.
//
// An answer depends on the request and on the state at its watermark. Tokens are those of
// Response.Text, counted by package internal/tokens; they never exceed the budget.
package context
