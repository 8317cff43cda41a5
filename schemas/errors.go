package schemas

import (
	"errors"
	"fmt"
)

// The three classes of error. A caller asks errors.Is(err, ErrPoison) and knows
// what to do; an error of no class is treated as transient.
var (
	// ErrTransient: the world may be better in a second. Retry with backoff.
	ErrTransient = errors.New("transient")
	// ErrPoison: this event can never be applied here. Append it to the
	// `rejected` topic with its position and the reason, and go on.
	ErrPoison = errors.New("poison")
	// ErrFatal: an invariant is broken, or it is no longer known what storage
	// holds. Stop the process; starting again recovers.
	ErrFatal = errors.New("fatal")
)

type classified struct {
	class error
	err   error
}

func (c *classified) Error() string   { return c.err.Error() }
func (c *classified) Unwrap() []error { return []error{c.class, c.err} }

// Transientf, Poisonf and Fatalf are fmt.Errorf with a class. The class is not
// part of the message.
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
