//go:build !unix

package broker

import (
	"errors"
	"syscall"
)

func isReadOnly(error) bool { return false }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
