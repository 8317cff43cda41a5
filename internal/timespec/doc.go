// Package timespec parses times as people give them in flags: how long ago, a day, or RFC 3339.
package timespec
