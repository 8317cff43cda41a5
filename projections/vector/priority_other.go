//go:build !linux

package vector

// lowerPriority: only Linux gives threads of a process different priorities.
func lowerPriority() {}
