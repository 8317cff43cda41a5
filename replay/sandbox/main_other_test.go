//go:build !linux

package sandbox

func attackMain() {}
