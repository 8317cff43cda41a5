package schemas

import (
	"errors"
	"fmt"
)

// ErrTransient, ErrPoison and ErrFatal are the three classes of error. A caller asks errors.Is(err,
// ErrPoison) and knows what to do. An error without a class is treated as transient.
var (
	// ErrTransient means that the operation may succeed later. Retry with backoff.
	ErrTransient = errors.New("transient")
	// ErrPoison means that this event can never be applied here. Append it to the topic `rejected`
	// with its position and the reason, and continue.
	ErrPoison = errors.New("poison")
	// ErrFatal means that an invariant is broken, or that the content of storage is unknown. Stop
	// the process; a restart recovers.
	ErrFatal = errors.New("fatal")
)

type classified struct {
	class error
	err   error
}

func (c *classified) Error() string   { return c.err.Error() }
func (c *classified) Unwrap() []error { return []error{c.class, c.err} }

// Transientf returns an error of class ErrTransient. Like Poisonf and Fatalf, it formats as
// fmt.Errorf does; the class is not part of the message.
func Transientf(format string, args ...any) error {
	return &classified{ErrTransient, fmt.Errorf(format, args...)}
}

// Poisonf returns an error of class ErrPoison.
func Poisonf(format string, args ...any) error {
	return &classified{ErrPoison, fmt.Errorf(format, args...)}
}

// Fatalf returns an error of class ErrFatal.
func Fatalf(format string, args ...any) error {
	return &classified{ErrFatal, fmt.Errorf(format, args...)}
}
