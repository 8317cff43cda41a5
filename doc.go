// Package recount is the root of the module; it holds no code but the tests that
// keep the folders' imports as docs/ARCHITECTURE.md says, and the documents' links whole.
// The program is cmd/recount.
//
// Other modules may rely on the packages schemas, schemas/recount/v1 and
// pipeline/broker. All others change without notice (docs/stability.md).
package recount
