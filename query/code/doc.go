// Package code answers questions about the code graph (projections/code): what a symbol is called,
// who calls it, what a change reaches, which tests cover it, what differs between two revisions,
// and how an edge is proved.
//
// What a caller may rely on, besides what package query specifies for every answer:
//
//   - A query is about one repository at one revision (Scope), and includes other
//     repositories at their HEAD if edges lead there. Everything in the answer has a
//     file and a line in a snapshot, whose hash and position in the log the proof
//     names.
//   - The same query of the same snapshots gives the same answer, in the same order,
//     except for Timing.
//   - What is cut off is counted: Truncated is the number of omitted entries.
//
// # Names
//
// A symbol is named as people write it: by the end of its qualified name after a dot or a slash
// (Produce, Client.Produce, kgo.Client.Produce, pkg/kgo.Client.Produce), by a place
// (pkg/kgo/client.go:123, the innermost declaration there), by file and name
// (pkg/kgo/client.go:Client.Produce), or as a file or a directory. Each may have the prefix
// REPOSITORY:. If several match, an exact match of the whole name takes precedence over a match of
// its end, and other code over tests.
//
// # Walks
//
// Walks run over a Graph: the maps of a snapshot, read once into arrays and cached by snapshot hash
// (Cache). Between repositories, an edge to an external symbol (language, package, name) leads to
// the node with that name in another repository.
//
// A call through an interface leads to the interface's method; its implementations are one
// `implements` edge further. A walk over calls follows that edge with a confidence of at most 0.7,
// since the call may lead there.
package code
