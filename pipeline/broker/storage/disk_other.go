//go:build !unix

package storage

import (
	"errors"
	"syscall"
)

func isReadOnly(error) bool { return false }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
