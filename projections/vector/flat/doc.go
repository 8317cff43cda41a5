// Package flat is an HNSW graph in flat arrays: 8-bit codes for the walk, exact float32 scores for
// the results, uint32 links.
//
// A caller may rely on the following, besides what package index promises:
//
//   - The same vectors added in the same order make the same graph, on every CPU, whatever was read
//     meanwhile and however often it was stored and loaded in between. Levels come from a hash of
//     the row's number; comparisons are by score, then row; scores of the walk come from integer
//     sums. The result of AppendLinks has all of it.
//   - A search with ef keeps ef + ef/2 candidates: the walk compares codes, which rank a little
//     worse than vectors do. Building keeps EfConstruction.
//   - A row costs Dim + 4 bytes of chunk, 8 × M + 8 of links, and above layer 0 a sixteenth of
//     4 × M + 4 on average (with M = 16): 529 bytes at 384. The caller keeps its vector.
//
// # Readers and the writer
//
// A reader loads the entry, then Len = n, then the tables of rows and lists. From then on it
// ignores rows of n and above, to which it may find links. Before the writer publishes Len, the
// row, its lists and the links to it are complete. Both tables are copied when they grow and never
// shrink. The comment of lists says how a list is changed while it is read. A search covers the
// rows below n, but the links among them keep changing: while rows are added, two searches for one
// query may miss different rows.
//
// # The format of AppendLinks
//
// Little-endian; rows in order:
//
//	offset  bytes
//	0       8     "RFLAT" 0 0, and the version: 2
//	8       4     Dim
//	12      4     M
//	16      4     EfConstruction
//	20      4     rows, n
//	24      4     row at which walks begin; 0 if there are no rows
//	28      4     its level
//	32      4     lists above layer 0, of all rows
//	36      …     for each row, one of
//	              1 byte, 255, and 4 bytes, the head of its chain, the earliest row
//	              of the same code (see duplicates.go)
//	              for each layer from 0 to the row's level: 1 byte, the number of
//	              links; 4 bytes each, the rows
//
// The level of a row is not stored: it follows from its number (see level).
package flat
