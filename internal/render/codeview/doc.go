// Package codeview prints answers about code: symbols, calls, impact, owners, routes, snapshots and
// their differences, as text and as Markdown.
package codeview
