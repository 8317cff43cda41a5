package usage

import "fmt"

// Error reports a command line that cannot be understood.
type Error struct{ err error }

// Error returns the message.
func (e Error) Error() string { return e.err.Error() }

// Unwrap returns the error that says what is wrong.
func (e Error) Unwrap() error { return e.err }

// Wrap returns err as an Error.
func Wrap(err error) error { return Error{err} }

// Errorf returns an Error with a formatted message.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }
