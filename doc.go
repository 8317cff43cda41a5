// Package recount is the root of the module; it holds no code but the test that
// keeps the folders' imports as docs/ARCHITECTURE.md says. The program is
// cmd/recount.
//
// Other modules may rely on the packages schemas, schemas/recount/v1 and
// pipeline/broker. All others change without notice (docs/stability.md).
package recount
