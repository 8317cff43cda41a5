// Package quickstart shows the program on a real sample, in a directory of its own.
package quickstart
