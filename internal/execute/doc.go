// Package execute runs a command as a child that streams and signals pass through to, and records it
// with its outcome and the end of what it prints.
package execute
