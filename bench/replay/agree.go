package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// agreeing returns a terminal on which somebody types yes to every question, as who recorded a narrative
// would to its dangerous steps. close ends it.
func agreeing() (tty *os.File, close func(), err error) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	if _, err := ours.WriteString(strings.Repeat("y\n", 200)); err != nil {
		return nil, nil, err
	}
	return tty, func() { _, _ = tty.Close(), ours.Close() }, nil
}
