//go:build !unix

package broker

func isReadOnly(error) bool { return false }
