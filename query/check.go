package query

import (
	"fmt"
	"time"
)

// MaxName is the longest name, path or revision in a request, in bytes. It is part of the
// API.
const MaxName = 4096

// CheckLimit refuses a limit that is not from 1 to max; 0 asks for the default. The error
// is a *RequestError, as are those of the other checks.
func CheckLimit(n, max int) error {
	if n < 0 || n > max {
		return &RequestError{"limit", n, fmt.Sprintf("want 1 to %d", max)}
	}
	return nil
}

// CheckName refuses a name that is too long.
func CheckName(field, name string) error {
	if len(name) > MaxName {
		return &RequestError{field, fmt.Sprintf("%d bytes", len(name)), fmt.Sprintf("want at most %d", MaxName)}
	}
	return nil
}

// CheckWait refuses a wait that is longer than MaxWait; 0 asks for the default.
func CheckWait(ms int) error {
	if most := int(MaxWait / time.Millisecond); ms < 0 || ms > most {
		return &RequestError{"wait_ms", ms, fmt.Sprintf("want 1 to %d", most)}
	}
	return nil
}
