// Package render prints answers for people: text in the width of a terminal, colours, tables,
// times, numbers, progress, and JSON. Terminal is where a program prints; Drawing is one answer of
// lines that fit. The packages below it draw the answers to one kind of question each:
// commandview, codeview, runtimeview, evidenceview, and nodeview for the log and the process.
// Package diagram writes diagrams for other programs.
package render
