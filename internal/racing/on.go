//go:build race

package racing

// On reports whether the race detector is built in.
const On = true
