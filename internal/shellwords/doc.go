// Package shellwords quotes words for a shell.
package shellwords
