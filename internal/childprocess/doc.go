// Package childprocess runs a command as a child that streams and signals pass through to, and keeps
// the end of what it prints.
package childprocess
