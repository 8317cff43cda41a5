// Package mcp serves the questions of Recount to coding agents by the Model Context Protocol: on
// stdio (recount mcp) and at /mcp of the HTTP API.
//
// A tool is a thin adapter: it fills in what the client did not say (the repository, the workspace),
// asks the same questions as every other API through api.Backend, and writes the answer as compact
// text. There are few tools, because each costs every conversation tokens: table.go lists them.
//
// A caller may rely on this: a tool never answers more than its principal may see (gated.go); the
// text of an answer quotes recorded data and is never an instruction; every answer names a resource,
// recount://answer/ID, which has its watermark, its proof and its data for as long as the server
// keeps it (kept.go); and an error says what to call instead (fail.go).
package mcp
