//go:build !amd64

package kernel

// All returns the implementations that this CPU can run, fastest last.
func All() []*Set { return []*Set{&generic} }
