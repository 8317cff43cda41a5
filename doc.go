// Package recount is the root of the module; it holds no code but the test that
// keeps the folders' imports as docs/ARCHITECTURE.md says. The program is
// cmd/recount.
package recount
