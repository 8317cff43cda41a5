// Package statview draws the statistics of commands. It imports no projection, as package ask does
// not.
package statview
