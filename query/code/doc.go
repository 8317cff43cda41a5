// Package code answers questions about the code graph (projections/code):
// what a symbol is called, who calls it, what a change reaches, which tests say
// so, what differs between two revisions, and how one proves an edge.
//
// What a caller may rely on, besides what package query says of every answer:
//
//   - A question is asked of one repository at one revision (Scope), and of the
//     others at their HEAD where edges lead there. Everything in the answer stands
//     at a file and a line of a snapshot, whose hash and position in the log the
//     proof names.
//   - The same question of the same snapshots gives the same answer, in the same
//     order, but for Timing.
//   - What is cut off is counted: Truncated says how much is left out.
//
// # Names
//
// A symbol is named as people write it: by the end of its qualified name from
// behind a dot or a slash (Produce, Client.Produce, kgo.Client.Produce,
// pkg/kgo.Client.Produce), by a place (pkg/kgo/client.go:123, the innermost
// declaration there), by file and name (pkg/kgo/client.go:Client.Produce), or as a
// file or a directory. REPOSITORY: may stand before each. Of several, one whose
// whole name is as written goes before one that has more before it, and what is
// not a test before tests.
//
// # Walks
//
// Walks run over a Graph: the maps of a snapshot read once into arrays, kept by
// snapshot hash (Cache). Between repositories an edge to a symbol of elsewhere
// (language, package, name) leads to the node of that name in another repository.
//
// A call through an interface arrives at the interface's method; what implements
// that is one `implements` edge further, which a walk over calls follows at a
// confidence of 0.7 at most: the call could arrive there.
package code
