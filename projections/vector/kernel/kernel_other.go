//go:build !amd64

package kernel

// All lists the implementations that this CPU can run, fastest last.
func All() []*Set { return []*Set{&generic} }
